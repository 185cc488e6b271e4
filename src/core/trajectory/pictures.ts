import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isUnfit, MB, readBytes } from '../regularFile';
import { ifThere, writeAtomically } from './files';
import { peek, readEvent } from './segment/line';
import { scanLines } from './segment/reader';

/*
 * Pictures that a simulator was shown lie beside the log, each once, under the SHA-256 of its bytes. The log names them.
 */

/** More than any page that is drawn needs. */
const MAX_PICTURE_BYTES = 64 * MB;

export const pictureId = (png: Buffer): string => createHash('sha256').update(png).digest('hex');

const folderOf = (logFolder: string): string => join(dirname(logFolder), 'pictures');

const pictureFileOf = (logFolder: string, id: string): string => join(folderOf(logFolder), `${id}.png`);

/** It is on the disk when this resolves. */
export async function keepPicture(logFolder: string, png: Buffer): Promise<void> {
  const file = pictureFileOf(logFolder, pictureId(png));
  const there = await ifThere(() => stat(file));
  if (there?.size !== png.length) await writeAtomically(file, png);
}

/** Episodes that name a picture in the given segments, by the picture. */
async function namedPictures(
  logFolder: string,
  segments: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const named = new Map<string, string>();
  for (const segment of segments) {
    await scanLines(join(logFolder, segment), 0, (line) => {
      if (!line.includes('"pictures"')) return;
      const read = readEvent(line);
      if ('reason' in read) return;
      // A newer Tandem may write another kind of event that names pictures.
      const ids = 'event' in read ? picturesOf(read.event) : (line.toString().match(/[0-9a-f]{64}/g) ?? []);
      for (const id of ids) named.set(id, peek(line)?.episode ?? '');
    });
  }
  return named;
}

export function picturesOf(event: object): readonly string[] {
  if (!('pictures' in event)) return [];
  const { draft, wanted } = event.pictures as { readonly draft: string; readonly wanted: string };
  return [draft, wanted];
}

/** A sentence for each picture that the log names and that is missing or another one. */
export async function pictureFaults(logFolder: string, segments: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [id, episode] of await namedPictures(logFolder, segments)) {
    const found = await readPicture(logFolder, id);
    if (Buffer.isBuffer(found)) continue;
    const file = pictureFileOf(logFolder, id);
    faults.push(
      `${file}, a picture that the simulator of the dialogue ${episode} was shown, ${found === 'missing' ? 'is missing' : 'has other content than was shown'}.`,
    );
  }
  return faults;
}

/** `other`: no regular file, too large, or with other content than its name says. */
async function readPicture(logFolder: string, id: string): Promise<Buffer | 'missing' | 'other'> {
  const file = pictureFileOf(logFolder, id);
  try {
    const png = await ifThere(() => readBytes(file, MAX_PICTURE_BYTES, { links: 'refused' }));
    if (png === undefined) return 'missing';
    return pictureId(png) === id ? png : 'other';
  } catch (error) {
    if (isUnfit(error)) return 'other';
    throw error;
  }
}

/**
 * Takes pictures over from another log, of which nothing is trusted.
 * @returns the number of those that are missing there, or another one
 */
export async function copyPictures(from: string, to: string, ids: ReadonlySet<string>): Promise<number> {
  let missing = 0;
  for (const id of ids) {
    const png = await readPicture(from, id);
    if (Buffer.isBuffer(png)) await keepPicture(to, png);
    else if (!Buffer.isBuffer(await readPicture(to, id))) missing += 1;
  }
  return missing;
}

/** Nothing else may write to the log meanwhile. */
export async function removeUnnamedPictures(logFolder: string, segments: readonly string[]): Promise<void> {
  const folder = folderOf(logFolder);
  const files = await ifThere(() => readdir(folder));
  if (files === undefined || files.length === 0) return;
  const named = await namedPictures(logFolder, segments);
  const kept = new Set([...named.keys()].map((id) => `${id}.png`));
  for (const file of files) if (!kept.has(file)) await rm(join(folder, file), { force: true });
}
