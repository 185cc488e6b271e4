import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../fault';
import { copyFolder, readText } from '../../regularFile';
import { readLocalFolder } from '../../model/local/folder';
import { ORIGIN, originSchema } from '../../training/data/lineage';
import type { Precision } from '../../training/convert';
import { ifThere, UNFINISHED } from '../../trajectory/files';

/** Graphs of other names are as exact as ours with as many bits. */
const AS_OURS: Readonly<Record<string, Precision>> = {
  ...{ fp32: 'fp32', int8: 'int8', quantized: 'int8', int4: 'int4', q4: 'int4' },
};

/**
 * @param place a model folder, which plays from the best of its graphs, or a graph
 * @throws {Fault} `loop/other-precision` when graphs of its precision cannot be made here; as `readLocalFolder`
 */
export function precisionOf(place: string): Precision {
  const { graph, precision } = readLocalFolder(place);
  const ours = AS_OURS[precision];
  if (ours !== undefined) return ours;
  const message = `The agent plays from ${graph} in ${precision}, in which no graph of the trained model can be made, so that before and after would differ in it: name its folder, or a graph in fp32, int8 or int4.`;
  throw new Fault('loop/other-precision', message);
}

/** Relative to the model folder. */
const graphOf = (precision: Precision): string =>
  join('onnx', precision === 'fp32' ? 'model.onnx' : `model_${precision}.onnx`);

export const hasGraph = (folder: string, precision: Precision): Promise<boolean> =>
  isFile(join(folder, graphOf(precision)));

/** Replaces an earlier model. The copy appears only when it is complete, with the run's name in it. */
export async function putInPlace(
  { run, model }: { readonly run: string; readonly model: string },
  to: string,
): Promise<void> {
  const unfinished = `${to}${UNFINISHED}`;
  await rm(unfinished, { recursive: true, force: true });
  await copyFolder(model, unfinished);
  await writeFile(join(unfinished, ORIGIN), `${JSON.stringify({ run })}\n`);
  await rm(to, { recursive: true, force: true });
  await rename(unfinished, to);
}

/** A loop that was killed may have left the copy of another run. */
export async function isOf(run: string, folder: string): Promise<boolean> {
  const text = await ifThere(() => readText(join(folder, ORIGIN), 64 * 1024));
  return text !== undefined && originSchema().parse(JSON.parse(text)).run === run;
}

export async function isFilled(folder: string): Promise<boolean> {
  return ((await ifThere(() => readdir(folder))) ?? []).length > 0;
}

export async function isFile(file: string): Promise<boolean> {
  return (await ifThere(() => stat(file)))?.isFile() === true;
}
