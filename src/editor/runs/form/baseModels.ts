import path from 'node:path';
import * as vscode from 'vscode';
import type { LoopSettings } from '../../../core/evaluation/loop/settings';
import type { LocalPlace } from '../../localModels';

/** Folders with weights for PyTorch, the starter model first. */
export async function trainablePlaces(places: readonly LocalPlace[]): Promise<LocalPlace[]> {
  const found = await Promise.all(
    places.map(async (place) => ((await weightsIn(place.folder)) > 0 ? [place] : [])),
  );
  return found.flat();
}

export interface Recommended {
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly isSmall: boolean;
}

/**
 * Small models are trained whole with settings of their own, large ones with the trainer's defaults.
 * @param base a folder, or a name on the hub
 */
export const recommendedFor = async (base: string): Promise<Recommended> =>
  recommendedOf(base, path.isAbsolute(base) ? await weightsIn(base) : 0);

/** @param size of the weights, in bytes; 0 when unknown */
export async function recommendedOf(base: string, size: number): Promise<Recommended> {
  const { QUICK, MAX_WHOLE_TRAINING_PARAMETERS, SMALL_DISTILLED } =
    await import('../../../core/evaluation/loop/settings');
  // A weight takes at least two bytes.
  const isSmall = size > 0 && size <= 2 * MAX_WHOLE_TRAINING_PARAMETERS;
  const { model, data, ...stages } = isSmall
    ? { ...QUICK.training, grpo: smallOnline(QUICK), distill: SMALL_DISTILLED }
    : { model: {}, data: {} };
  // With an ONNX graph, the model can play here.
  const result = { export: { onnx: ['int8'] } };
  return { isSmall, configuration: { model: { base, ...model }, data: { ...data }, ...stages, ...result } };
}

/** Plays as the loop does, and trains at the learning rate of its policy. */
const smallOnline = ({ protocol, maxTokens }: LoopSettings): Readonly<Record<string, number>> => ({
  learning_rate: 1e-3,
  max_turns: protocol.maxTurns,
  max_new_tokens: maxTokens,
});

/** Bytes of a folder's weights; 0 when it is gone, which the Models view reports. */
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
