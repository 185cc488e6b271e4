import path from 'node:path';
import * as vscode from 'vscode';
import type { LocalPlace } from '../../models/places';

/** What can be trained of the models of this window, the starter model first: folders with weights that PyTorch reads. */
export async function trainablePlaces(places: readonly LocalPlace[]): Promise<LocalPlace[]> {
  const found = await Promise.all(
    places.map(async (place) => ((await weightsIn(place.folder)) > 0 ? [place] : [])),
  );
  return found.flat();
}

/** Settings to begin with, and for which kind of model they were found. */
export interface Recommended {
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly isSmall: boolean;
}

/**
 * What has been found to work for a model of that size: small ones are trained whole with settings of their own, large
 * ones with the trainer's.
 * @param base a folder, or a name on the hub
 */
export const recommendedFor = async (base: string): Promise<Recommended> =>
  recommendedOf(base, path.isAbsolute(base) ? await weightsIn(base) : 0);

/** @param size of the weights, in bytes; 0 when nobody knows */
export async function recommendedOf(base: string, size: number): Promise<Recommended> {
  const { QUICK, LARGEST_TRAINED_WHOLE } = await import('../../../core/loop/settings');
  // Of two bytes at least each.
  const isSmall = size > 0 && size <= 2 * LARGEST_TRAINED_WHOLE;
  const { model, data, ...stages } = isSmall ? QUICK.training : { model: {}, data: {} };
  // With a graph it can play here.
  const result = { export: { onnx: ['int8'] } };
  return { isSmall, configuration: { model: { base, ...model }, data: { ...data }, ...stages, ...result } };
}

/** In bytes; 0 when the folder has none, or is gone, as the Models view says. */
async function weightsIn(folder: string): Promise<number> {
  const uri = vscode.Uri.file(folder);
  try {
    const names = await vscode.workspace.fs.readDirectory(uri);
    const weights = names.filter(([name]) => name.endsWith('.safetensors'));
    const sizes = await Promise.all(
      weights.map(async ([name]) => (await vscode.workspace.fs.stat(vscode.Uri.joinPath(uri, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}
