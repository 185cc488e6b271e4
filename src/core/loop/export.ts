import { constants } from 'node:fs';
import { cp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { readLocalFolder } from '../model/local/folder';
import type { Precision } from '../training/onnx';
import { ifThere, UNFINISHED } from '../trajectory/files';

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

/** Which graph a model plays from in this precision, relative to its folder. */
const graphOf = (precision: Precision): string =>
  join('onnx', precision === 'fp32' ? 'model.onnx' : `model_${precision}.onnx`);

/** Whether this model can be played in the precision. */
export const hasGraph = (folder: string, precision: Precision): Promise<boolean> =>
  isFile(join(folder, graphOf(precision)));

/** Beside a model that was put in place: which run it is of. */
const ORIGIN = 'trained-by.json';
const originSchema = z.object({ run: z.string() });

/** Copies the model of a run in place of an earlier one. It appears when it is complete, with the run's name in it. */
export async function putInPlace(
  { run, model }: { readonly run: string; readonly model: string },
  to: string,
): Promise<void> {
  const unfinished = `${to}${UNFINISHED}`;
  await rm(unfinished, { recursive: true, force: true });
  // Where the file system can, the copy takes no room.
  await cp(model, unfinished, { recursive: true, mode: constants.COPYFILE_FICLONE });
  await writeFile(join(unfinished, ORIGIN), `${JSON.stringify({ run })}\n`);
  await rm(to, { recursive: true, force: true });
  await rename(unfinished, to);
}

/** Whether the model that was put in place is this run's: a loop that was killed may have left that of another. */
export async function isOf(run: string, folder: string): Promise<boolean> {
  const text = await ifThere(() => readFile(join(folder, ORIGIN), 'utf8'));
  return text !== undefined && originSchema.parse(JSON.parse(text)).run === run;
}

/** Whether there is something in a folder. */
export async function isFilled(folder: string): Promise<boolean> {
  return ((await ifThere(() => readdir(folder))) ?? []).length > 0;
}

export async function isFile(file: string): Promise<boolean> {
  return (await ifThere(() => stat(file)))?.isFile() === true;
}
