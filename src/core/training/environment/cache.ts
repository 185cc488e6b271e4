import { homedir } from 'node:os';
import path from 'node:path';

/** For files that Tandem can make again. The editor and the command line share it, because it holds gigabytes. */
export function cacheFolder(): string {
  const { TANDEM_CACHE, XDG_CACHE_HOME } = process.env;
  return TANDEM_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tandem');
}

interface EnvironmentSize {
  readonly download: number;
  readonly disk: number;
}

/** Sizes of the locked packages, as measured. On Linux PyTorch includes CUDA. */
export const environmentSize = (): EnvironmentSize =>
  process.platform === 'linux' ? { download: 3.1e9, disk: 5.7e9 } : { download: 0.22e9, disk: 1e9 };
