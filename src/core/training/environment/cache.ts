import { homedir } from 'node:os';
import path from 'node:path';

/** Where Tandem keeps what it can make again. The editor and the command line share it: it holds gigabytes. */
export function cacheFolder(): string {
  const { TANDEM_CACHE, XDG_CACHE_HOME } = process.env;
  return TANDEM_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tandem');
}
