import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MB, readBytesSync } from '../../../regularFile';
import { digest } from '../weights';
import { CRITIC_FILE, criticGraphs } from './criticFile';

/** `critic.json` and the weights, or the graphs when the folder has no weights: equal for copies. */
export function identityOf(folder: string): string {
  const weights = filesIn(folder).filter((name) => name.endsWith('.safetensors'));
  const graphs = Object.values(criticGraphs('')).flatMap((name) => [name, `${name}_data`]);
  const files = weights.length > 0 ? weights : graphs.filter((name) => existsSync(join(folder, name)));
  const hash = createHash('sha256').update(readBytesSync(join(folder, CRITIC_FILE), 16 * MB));
  for (const name of files) hash.update(`\n${name} ${digestOnce(join(folder, name))}`);
  return hash.digest('hex').slice(0, 16);
}

const filesIn = (folder: string): string[] => readdirSync(folder).sort();

/** Digests by file: reading the weights whenever a replay is drawn would take too long. */
const known = new Map<string, { readonly mark: string; readonly digest: string }>();

function digestOnce(file: string): string {
  const { size, mtimeMs } = statSync(file);
  const mark = `${size} ${mtimeMs}`;
  const before = known.get(file);
  if (before?.mark === mark) return before.digest;
  const found = { mark, digest: digest(file) };
  known.set(file, found);
  return found.digest;
}
