// The platforms that a package is made for, by VS Code's names, and what each needs of ONNX Runtime.

/**
 * Folder below `bin/napi-v6` of onnxruntime-node; null where it has none, so that local models do not run there.
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
