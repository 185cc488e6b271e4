// Whether dist/ is what the build would make now. Contents decide, not times, so that a checkout, a copied clone and a
// file that something else wrote into dist/ are seen.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Folders of which nothing is built, by their path from the root. Everything else counts, also a folder that is new. */
const notBuilt = new Set([
  ...['.git', '.sample', '.tandem', 'dist', 'docs', 'node_modules', 'packages', 'test-results'],
  ...['test/bench', 'test/process', 'test/unit', 'test/workbench'],
  ...['scripts/workbench/node_modules', 'trainer/bench', 'trainer/build', 'trainer/tests'],
]);

/** Folders that tools write beside what they read, anywhere. */
const caches = new Set(['__pycache__', '.pytest_cache', '.ruff_cache']);

/** Says which packages are installed; their thousands of files are not read. */
const packageList = 'node_modules/.package-lock.json';

/**
 * Calls `make` unless an earlier call made the same output from the same sources.
 *
 * @param {string} root the repository's
 * @param {string} record where the digests of the last build are kept
 * @param {() => Promise<void>} make
 * @returns {Promise<void>}
 */
export async function buildOnce(root, record, make) {
  // Before the build: a file that changes meanwhile makes the next call build again.
  const sources = sourcesDigest(root);
  const output = () => digest(root, 'dist', new Set());
  if (existsSync(record) && readFileSync(record, 'utf8') === sources + output()) return;
  await make();
  mkdirSync(path.dirname(record), { recursive: true });
  writeFileSync(record, sources + output());
}

/** @param {string} root @returns {string} also of what builds: Node, for this platform */
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
 * @param {string} folder from the root
 * @param {ReadonlySet<string>} without folders that do not count, by their path from the root
 * @returns {string} of the names and contents of all files below the folder
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
