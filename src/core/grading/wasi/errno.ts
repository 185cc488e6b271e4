/** Results of WASI functions. Source: wasi_snapshot_preview1, type errno. */
export const errno = {
  ok: 0,
  badFile: 8,
  exists: 20,
  invalid: 28,
  isFolder: 31,
  noEntry: 44,
  noSpace: 51,
  notImplemented: 52,
  noFolder: 54,
  notEmpty: 55,
  seekPipe: 70,
} as const;
