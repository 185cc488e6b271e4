// Lays out what a package for one platform holds: the built extension, its media and samples, and native parts.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../setup/project.mjs';
import { packagedReadme } from './readme.mjs';
import { targets } from './targets.mjs';

/** What goes into every package as it stands in the repository. */
const asItStands = [
  'CHANGELOG.md',
  'LICENSE',
  'docs/pictures',
  'l10n',
  'media/icon.png',
  'media/session-dark.svg',
  'media/session-light.svg',
  'media/tandem.svg',
  'media/walkthrough',
  'package.nls.json',
  'samples/workspace',
];

/**
 * What goes where, for one target: `[from, to]`, files or folders relative to the repository and to the package.
 * ONNX Runtime lies in `dist/node_modules`, where `dist/*.js` find it; a folder `node_modules` beside `package.json`
 * would be taken for the whole development tree.
 *
 * @param {string} target
 * @param {string} built folder of a production build, relative to the repository
 * @returns {(readonly [string, string])[]}
 */
export function contents(target, built) {
  const native = targets.get(target);
  const runtime = 'onnxruntime-node';
  const common = 'onnxruntime-common';
  /** @param {string} part @returns {readonly [string, string]} */
  const module = (part) => [`node_modules/${part}`, `dist/node_modules/${part}`];
  return [
    ...asItStands.map((name) => /** @type {const} */ ([name, name])),
    [built, 'dist'],
    ...(native == null
      ? []
      : [
          ...['package.json', 'dist', `bin/napi-v6/${native}`].map((part) => module(`${runtime}/${part}`)),
          ...['package.json', 'dist/cjs'].map((part) => module(`${common}/${part}`)),
        ]),
  ];
}

/**
 * Fills `folder` anew with the package for one target.
 *
 * @param {string} target
 * @param {string} built folder of a production build, relative to the repository
 * @param {string} folder absolute
 */
export function stage(target, built, folder) {
  rmSync(folder, { recursive: true, force: true });
  for (const [from, to] of contents(target, built)) {
    mkdirSync(path.dirname(path.join(folder, to)), { recursive: true });
    cpSync(path.join(root, from), path.join(folder, to), { recursive: true });
  }
  const page = packagedReadme(readFileSync(path.join(root, 'README.md'), 'utf8'), (name) =>
    existsSync(path.join(folder, name)),
  );
  writeFileSync(path.join(folder, 'README.md'), page);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
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
  const kept = Object.entries(ownManifest()).filter(([field]) => !forDevelopment.has(field));
  // Everything that lies in the folder was put there.
  return { ...Object.fromEntries(kept), files: ['**'] };
}

/** The repository's package.json. @returns {Record<string, unknown>} */
export function ownManifest() {
  /** @type {unknown} */
  const all = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return /** @type {Record<string, unknown>} */ (all);
}
