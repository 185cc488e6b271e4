// Decides whether dist/ is up to date. It compares contents instead of times, so that it notices a checkout, a copied
// clone and a file that another program wrote into dist/.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Folders that are not part of the build, by their path from the root. Everything else counts, including a new folder.
 */
const notBuilt = new Set([
  ...[
    '.git',
    '.sample',
    '.tandem',
    'dist',
    'docs',
    'experiments',
    'node_modules',
    'packages',
    'test-results',
  ],
  ...['test/bench', 'test/process', 'test/unit', 'test/workbench'],
  ...['scripts/workbench/node_modules', 'trainer/bench', 'trainer/build', 'trainer/tests'],
]);

/** Names of cache folders that tools write, anywhere. */
const caches = new Set(['__pycache__', '.pytest_cache', '.ruff_cache']);

/** npm's list of the installed packages; their thousands of files are not read. */
const packageList = 'node_modules/.package-lock.json';

/**
 * Calls `make` unless an earlier call made the same output from the same sources.
 *
 * @param {string} root the repository's root
 * @param {string} record the file with the digests of the last build
 * @param {() => Promise<void>} make
 * @returns {Promise<void>}
 */
export async function buildOnce(root, record, make) {
  // Computed before the build, so that a file that changes meanwhile makes the next call build again.
  const sources = sourcesDigest(root);
  const output = () => digest(root, 'dist', new Set());
  if (existsSync(record) && readFileSync(record, 'utf8') === sources + output()) return;
  await make();
  mkdirSync(path.dirname(record), { recursive: true });
  writeFileSync(record, sources + output());
}

/** @param {string} root @returns {string} a digest of sources, packages, Node's version and platform */
function sourcesDigest(root) {
  const packages = path.join(root, packageList);
  return sha256(
    JSON.stringify([
      ...[process.version, process.platform, process.arch],
      existsSync(packages) ? readFileSync(packages, 'utf8') : '',
      digest(root, '.', notBuilt),
    ]),
  );
}

/**
 * @param {string} root
 * @param {string} folder path from the root
 * @param {ReadonlySet<string>} without folders to leave out, by their path from the root
 * @returns {string} a digest of the names and contents of all files below the folder
 */
function digest(root, folder, without) {
  /** @type {string[]} */
  const files = [];
  /** @param {string} below */
  const read = (below) => {
    for (const entry of readdirSync(path.join(root, below), { withFileTypes: true })) {
      const name = path.posix.join(below, entry.name);
      if (entry.isDirectory()) {
        if (!without.has(name) && !caches.has(entry.name)) read(name);
      } else if (entry.isFile()) {
        files.push(`${sha256(readFileSync(path.join(root, name)))} ${name}`);
      }
    }
  };
  if (existsSync(path.join(root, folder))) read(folder);
  return sha256(files.sort().join('\n'));
}

/** @param {string | Buffer} content */
const sha256 = (content) => createHash('sha256').update(content).digest('hex');
