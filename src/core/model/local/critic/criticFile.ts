import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { Fault } from '../../../fault';
import { readJson } from '../files';
import { otherWeights } from '../folder';
import { isOfOtherWeights } from '../weights';

const form = z.looseObject({
  version: z.literal(1),
  score: z.enum(['log-ratio', 'value-head', 'untrained']),
  hidden_information: z.boolean(),
  length_normalisation: z.boolean(),
  convention: z.enum(['paper', 'reference-code']),
  /** Text in front of the first user message, with `{{hiddenInformation}}` for c. */
  prompt: z.string(),
  template_options: z.record(z.string(), z.unknown()),
});

/** `critic.json` of an exported critic; it must score as it was trained. */
export type CriticFile = z.infer<typeof form>;

export const CRITIC_FILE = 'critic.json';

/** Also the graphs of its base model. */
export const criticGraphs = (folder: string): { readonly critic: string; readonly reference: string } => ({
  critic: path.join(folder, 'onnx', 'critic.onnx'),
  reference: path.join(folder, 'onnx', 'reference.onnx'),
});

export function hasCriticGraphs(folder: string): boolean {
  const { critic, reference } = criticGraphs(folder);
  return [path.join(folder, CRITIC_FILE), critic, reference].every((file) => existsSync(file));
}

/** @throws {Fault} as `aboutCritic`, and `model/not-exported` if there are no graphs */
export function readCriticFile(folder: string): CriticFile {
  requireFile(folder);
  if (!hasCriticGraphs(folder)) {
    throw new Fault(
      'model/not-exported',
      `The critic in ${folder} has no graphs. Make them with: tandem onnx ${folder}`,
    );
  }
  const { critic } = criticGraphs(folder);
  if (isOfOtherWeights(folder, critic)) throw otherWeights(folder, critic);
  return aboutCritic(folder);
}

/**
 * Reads any critic, with graphs or without.
 * @throws {Fault} `model/foreign-folder` if it is not a critic; `model/damaged-folder`
 */
export function aboutCritic(folder: string): CriticFile {
  requireFile(folder);
  const read = form.safeParse(readJson(folder, CRITIC_FILE));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Fault(
    'model/foreign-folder',
    `${path.join(folder, CRITIC_FILE)} is not one that this Tandem knows (${issue!.path.join('.')}: ${issue!.message}). Score with the trainer that wrote it.`,
  );
}

function requireFile(folder: string): void {
  if (existsSync(path.join(folder, CRITIC_FILE))) return;
  throw new Fault(
    'model/foreign-folder',
    `${folder} has no ${CRITIC_FILE}, so it is not an exported critic. Give the folder critic of a SWEET-RL run.`,
  );
}
