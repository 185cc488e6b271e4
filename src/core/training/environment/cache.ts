import { homedir } from 'node:os';
import path from 'node:path';

/** For files that Tandem can make again. The editor and the command line share it, because it holds gigabytes. */
export function cacheFolder(): string {
  const { TANDEM_CACHE, XDG_CACHE_HOME } = process.env;
  return TANDEM_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tandem');
}
