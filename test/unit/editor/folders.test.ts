import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';

const editor = path.resolve('src/editor');

/** Returns the subfolder of the editor that holds a file; undefined for files in the editor's own folder. */
function folderOf(file: string): string | undefined {
  const [folder, ...inside] = path.relative(editor, file).split(path.sep);
  return folder === '..' || inside.length === 0 ? undefined : folder;
}

/** Returns the other folders that each folder of the editor imports from, including types. */
async function imports(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const name of await readdir(editor, { recursive: true })) {
    const file = path.join(editor, name);
    const from = folderOf(file);
    if (from === undefined || !name.endsWith('.ts')) continue;
    const text = await readFile(file, 'utf8');
    for (const [, imported] of text.matchAll(/(?:from |import |import\()'(\.[^']+)'/g)) {
      const to = folderOf(path.resolve(path.dirname(file), imported!));
      if (to !== undefined && to !== from) found.set(from, (found.get(from) ?? new Set()).add(to));
    }
  }
  return found;
}

it('the folders of the editor import each other in no circle', async () => {
  const all = await imports();
  expect(all.size).toBeGreaterThan(5);
  // Folders without imports are removed until nothing or a cycle is left.
  const left = new Map(all);
  for (;;) {
    const free = [...left].filter(([, to]) => [...to].every((folder) => !left.has(folder)));
    if (free.length === 0) break;
    for (const [folder] of free) left.delete(folder);
  }
  expect([...left.keys()]).toEqual([]);
});
