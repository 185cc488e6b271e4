// ONNX Runtime, the only modules that are packaged as they stand: its native parts cannot be bundled.
import { cpSync, existsSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { root } from '../setup/project.mjs';

/**
 * The platforms that a package is made for, by VS Code's names, each with the folder of its native parts below
 * `bin/napi-v6` of onnxruntime-node; null where it has none, so that local models do not run there.
 *
 * @type {ReadonlyMap<string, string | null>}
 */
export const targets = new Map([
  ['linux-x64', 'linux/x64'],
  ['linux-arm64', 'linux/arm64'],
  ['win32-x64', 'win32/x64'],
  ['win32-arm64', 'win32/arm64'],
  ['darwin-arm64', 'darwin/arm64'],
  ['darwin-x64', null],
]);

/** This machine's target. */
export const ownTarget = `${process.platform}-${process.arch}`;

/**
 * A package needs no declarations, no source maps, and no second copy of the library for macOS: the binding loads the one
 * with only the major version in its name.
 */
const unused = /\.(d\.ts|map)$|libonnxruntime\.\d+\.\d+\.\d+\.dylib$/;

/**
 * Makes `node_modules` of a built folder what its code needs on one platform. A file that is there already stays as it
 * is: a running model may have it open.
 *
 * @param {string} built absolute
 * @param {string} target
 */
export function placeRuntime(built, target) {
  const native = targets.get(target) ?? null;
  const folder = path.join(built, 'node_modules');
  for (const [name, other] of targets) {
    if (name !== target && other !== null)
      rmSync(path.join(folder, 'onnxruntime-node/bin/napi-v6', other), { recursive: true, force: true });
  }
  if (native === null) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  for (const part of [
    ...['package.json', 'dist', `bin/napi-v6/${native}`].map((part) => `onnxruntime-node/${part}`),
    ...['package.json', 'dist/cjs'].map((part) => `onnxruntime-common/${part}`),
  ]) {
    cpSync(path.join(root, 'node_modules', part), path.join(folder, part), {
      recursive: true,
      preserveTimestamps: true,
      filter: (from, to) => !unused.test(from) && !isSame(from, to),
    });
  }
}

/** @param {string} file @param {string} other @returns {boolean} */
function isSame(file, other) {
  if (!existsSync(other)) return false;
  const [one, two] = [statSync(file), statSync(other)];
  return one.isFile() && one.size === two.size && Math.abs(one.mtimeMs - two.mtimeMs) < 1;
}
