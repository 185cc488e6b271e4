import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What decides what a training comes to, beside its settings: modules, and the critic's prompt among them. */
const DECIDES = /\.(py|md)$/;

/**
 * The digest of a trainer's sources: a model that other code would train is another model.
 * @param source the folder that the package `tandem_trainer` lies in
 */
export async function trainerCode(source: string): Promise<string> {
  const hash = createHash('sha256');
  const folder = join(source, 'tandem_trainer');
  const files = (await readdir(folder, { recursive: true })).filter((name) => DECIDES.test(name)).sort();
  for (const name of files) {
    hash.update(JSON.stringify([name.replaceAll('\\', '/'), await readFile(join(folder, name), 'utf8')]));
  }
  return hash.digest('hex').slice(0, 16);
}
