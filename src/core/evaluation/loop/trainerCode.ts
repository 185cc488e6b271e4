import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that influence the result of a training, besides its settings: modules and prompts, such as the critic's. */
const DECIDES = /\.(py|md)$/;

const PACKAGES = ['tandem_trainer', 'tandem_env'];

/**
 * Digest of the trainer's sources: other code would train another model.
 * @param source the folder that contains the packages
 */
export async function trainerCode(source: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of PACKAGES.map((name) => join(source, name))) {
    const files = (await readdir(folder, { recursive: true })).filter((name) => DECIDES.test(name)).sort();
    for (const name of files) {
      hash.update(JSON.stringify([name.replaceAll('\\', '/'), await readFile(join(folder, name), 'utf8')]));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
