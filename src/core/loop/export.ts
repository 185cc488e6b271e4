import { constants } from 'node:fs';
import { cp, readdir, rename, rm, stat } from 'node:fs/promises';
import { Fault } from '../fault';
import { readLocalFolder } from '../model/local/folder';
import { ifThere, UNFINISHED } from '../trajectory/files';

export type Precision = 'fp32' | 'int8' | 'int4';

/** Graphs that others made are as exact as ours with as many bits. */
const AS_OURS: Readonly<Record<string, Precision>> = {
  ...{ fp32: 'fp32', int8: 'int8', quantized: 'int8', int4: 'int4', q4: 'int4' },
};

/**
 * In which precision the agent is computed that is opened at this place.
 * @param place a model folder, which plays from the best of its graphs, or the graph that is named
 * @throws {Fault} `loop/other-precision` when no graph is made here in it; as `readLocalFolder`
 */
export function precisionOf(place: string): Precision {
  const { graph, precision } = readLocalFolder(place);
  const ours = AS_OURS[precision];
  if (ours !== undefined) return ours;
  const message = `The agent plays from ${graph} in ${precision}, in which no graph of the trained model can be made, so that before and after would differ in it: name its folder, or a graph in fp32, int8 or int4.`;
  throw new Fault('loop/other-precision', message);
}

/** Copies a model folder in place of an earlier copy; it appears when it is complete. */
export async function putInPlace(from: string, to: string): Promise<void> {
  const unfinished = `${to}${UNFINISHED}`;
  await rm(unfinished, { recursive: true, force: true });
  // Where the file system can, the copy takes no room.
  await cp(from, unfinished, { recursive: true, mode: constants.COPYFILE_FICLONE });
  await rm(to, { recursive: true, force: true });
  await rename(unfinished, to);
}

/** Whether there is something in a folder. */
export async function isFilled(folder: string): Promise<boolean> {
  return ((await ifThere(() => readdir(folder))) ?? []).length > 0;
}

export async function isFile(file: string): Promise<boolean> {
  return (await ifThere(() => stat(file)))?.isFile() === true;
}
