import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../trajectory/files';

/** In bytes. Files that vanish meanwhile count as 0; links are not followed. */
export async function diskUse(folder: string): Promise<number> {
  const entries = await ifThere(() => readdir(folder, { recursive: true, withFileTypes: true }));
  const files = (entries ?? []).filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(
      async ({ parentPath, name }) => (await ifThere(() => lstat(join(parentPath, name))))?.size ?? 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
