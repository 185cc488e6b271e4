import { stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Returns the files that may hold the guidelines of a pack, the nearer first: `<pack>.guidelines.md` beside
 * `<pack>.jsonl`, then the `GUIDELINES.md` of its folder, which holds for all packs there.
 */
export function guidelinePlaces(pack: string): readonly string[] {
  const { dir, name } = path.parse(pack);
  return [path.join(dir, `${name}.guidelines.md`), path.join(dir, 'GUIDELINES.md')];
}

/** Returns the file with the guidelines of a pack; undefined when it has none. */
export async function guidelinesOf(pack: string): Promise<string | undefined> {
  for (const file of guidelinePlaces(pack)) {
    if (await isFile(file)) return file;
  }
  return undefined;
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
