// Lays out the content of a package for one platform, beside a production build.
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../setup/project.mjs';
import { packagedPage } from './page.mjs';
import { placeRuntime } from './runtime.mjs';

/** Path of the list that decides which files are packaged. */
export const ignoreFile = path.join(root, '.vscodeignore');

/**
 * Copies the files that `.vscodeignore` admits beside `folder/dist`, and this platform's ONNX Runtime into it.
 *
 * @param {string} target
 * @param {string} folder absolute; its `dist` is a production build
 */
export async function stage(target, folder) {
  // Imported here because the package may just have been installed.
  const { PackageManager, listFiles } = await import('@vscode/vsce');
  const named = await listFiles({ cwd: root, packageManager: PackageManager.None, ignoreFile });
  for (const name of named.filter((name) => !name.startsWith('dist/')))
    cpSync(path.join(root, name), path.join(folder, name));
  placeRuntime(path.join(folder, 'dist'), target);
  // The editor's page about the extension, which is the README, does not open relative links to Markdown files.
  writePage('README.md', folder, (target) => !target.startsWith('docs/'));
  for (const name of named.filter((name) => /^docs\/[^/]+\.md$/.test(name)))
    writePage(name, folder, () => true);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/**
 * @param {string} name path of a Markdown page in the repository and in the package
 * @param {string} folder of the package, in which all other files are already
 * @param {(target: string) => boolean} mayLead whether a link to this relative path works where the page is shown
 */
function writePage(name, folder, mayLead) {
  const page = packagedPage(
    readFileSync(path.join(root, name), 'utf8'),
    (target) => mayLead(target) && existsSync(path.join(folder, path.dirname(name), target)),
  );
  writeFileSync(path.join(folder, name), page);
}

/** Fields of package.json that only development needs. */
const forDevelopment = new Set([
  'scripts',
  'dependencies',
  'optionalDependencies',
  'devDependencies',
  'overrides',
  'bin',
  'private',
]);

function manifest() {
  return Object.fromEntries(Object.entries(ownManifest()).filter(([field]) => !forDevelopment.has(field)));
}

/** Reads the repository's package.json. @returns {Record<string, unknown>} */
export function ownManifest() {
  /** @type {unknown} */
  const all = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return /** @type {Record<string, unknown>} */ (all);
}
