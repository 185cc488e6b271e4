import { lstat, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ifThere, writeAtomically } from '../../trajectory/files';

/** The end of each picture of a report: by it the next report knows which files it may write over and remove. */
const MARK = '<!-- A picture of a report by Tandem, which writes over it. -->\n';

/**
 * The folder for the pictures of a report: `<report>-pictures` beside it, or, where a file of somebody else has the name
 * of a picture, the next of `<report>-pictures-2`, `-3` … in which none has.
 *
 * @param report the Markdown file
 * @param names of the pictures
 * @returns its name
 */
export async function folderFor(report: string, names: readonly string[]): Promise<string> {
  const first = `${path.basename(report, path.extname(report))}-pictures`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (await isFree(path.join(path.dirname(report), name), names)) return name;
  }
}

/** Writes pictures, each with its name, and removes those of an earlier report that this one does not have. */
export async function writePictures(
  folder: string,
  pictures: readonly (readonly [name: string, svg: string])[],
): Promise<void> {
  const names = new Set(pictures.map(([name]) => name));
  for (const name of (await ifThere(() => readdir(folder))) ?? []) {
    if (!names.has(name) && (await isOurs(path.join(folder, name)))) await rm(path.join(folder, name));
  }
  if (pictures.length > 0) await mkdir(folder, { recursive: true });
  for (const [name, svg] of pictures) {
    await writeAtomically(path.join(folder, name), (file) => file.writeFile(`${svg}\n${MARK}`));
  }
}

/** Nothing is there, or a folder in which each picture is new or stands for an earlier one. */
async function isFree(folder: string, names: readonly string[]): Promise<boolean> {
  const there = await ifThere(() => lstat(folder));
  if (there === undefined) return true;
  if (!there.isDirectory()) return false;
  const theirs = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      return (await ifThere(() => lstat(file))) !== undefined && !(await isOurs(file));
    }),
  );
  return !theirs.includes(true);
}

async function isOurs(file: string): Promise<boolean> {
  if (!file.endsWith('.svg') || !(await lstat(file)).isFile()) return false;
  return (await readFile(file, 'utf8')).endsWith(MARK);
}
