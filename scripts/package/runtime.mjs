// Packages ONNX Runtime, whose native files cannot be bundled; no other module is packaged unbundled.
import { cpSync, existsSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { root } from '../setup/project.mjs';

/**
 * Platforms of the packages, by VS Code's names, each with the folder of its native files below `bin/napi-v6` of
 * onnxruntime-node; null where there is none, so that local models do not run there.
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
 * Files that a package does not need: declarations, source maps, and the second copy of the library for macOS, because
 * the binding loads the one with only the major version in its name.
 */
const unused = /\.(d\.ts|map)$|libonnxruntime\.\d+\.\d+\.\d+\.dylib$/;

/**
 * Fills `node_modules` of a built folder for one platform. A file that is the same already is not replaced, because a
 * running model may have it open.
 *
 * @param {string} built absolute path
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
