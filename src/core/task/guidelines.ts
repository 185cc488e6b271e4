import { stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * The nearer file first: `<pack>.guidelines.md` beside `<pack>.jsonl`, then the `GUIDELINES.md` of its folder, which
 * holds for all packs there.
 */
export function guidelinePlaces(pack: string): readonly string[] {
  const { dir, name } = path.parse(pack);
  return [path.join(dir, `${name}.guidelines.md`), path.join(dir, 'GUIDELINES.md')];
}

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
