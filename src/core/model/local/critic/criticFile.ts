import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { Fault } from '../../../fault';
import type { ChatMessage } from '../../model';
import { MB, readBytesSync } from '../../../regularFile';
import { readJson } from '../files';
import { otherWeights } from '../folder';
import { digest, isOfOtherWeights } from '../weights';

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
  const about = aboutCritic(folder);
  if (!hasCriticGraphs(folder))
    throw new Fault(
      'model/not-exported',
      `The critic in ${folder} has no graphs. Make them with: tandem onnx ${folder}`,
    );
  const { critic } = criticGraphs(folder);
  if (isOfOtherWeights(folder, critic)) throw otherWeights(folder, critic);
  return about;
}

/**
 * Reads any critic, with graphs or without.
 * @throws {Fault} `model/foreign-folder` if it is not a critic; `model/damaged-folder`
 */
export function aboutCritic(folder: string): CriticFile {
  if (!existsSync(path.join(folder, CRITIC_FILE)))
    throw new Fault(
      'model/foreign-folder',
      `${folder} has no ${CRITIC_FILE}, so it is not an exported critic. Give the folder critic of a SWEET-RL run.`,
    );
  const read = form.safeParse(readJson(folder, CRITIC_FILE));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Fault(
    'model/foreign-folder',
    `${path.join(folder, CRITIC_FILE)} is not one that this Tandem knows (${issue!.path.join('.')}: ${issue!.message}). Score with the trainer that wrote it.`,
  );
}

/** `critic.json` and the weights, or the graphs when the folder has no weights: equal for copies. */
export function identityOf(folder: string): string {
  const weights = readdirSync(folder)
    .sort()
    .filter((name) => name.endsWith('.safetensors'));
  const graphs = Object.values(criticGraphs('')).flatMap((name) => [name, `${name}_data`]);
  const files = weights.length > 0 ? weights : graphs.filter((name) => existsSync(path.join(folder, name)));
  const hash = createHash('sha256').update(readBytesSync(path.join(folder, CRITIC_FILE), 16 * MB));
  for (const name of files) hash.update(`\n${name} ${digestOnce(path.join(folder, name))}`);
  return hash.digest('hex').slice(0, 16);
}

/** Digests by file: reading the weights whenever a replay is drawn would take too long. */
const known = new Map<string, { readonly mark: string; readonly digest: string }>();

function digestOnce(file: string): string {
  const { size, mtimeMs } = statSync(file);
  const mark = `${size} ${mtimeMs}`;
  const before = known.get(file);
  if (before?.mark === mark) return before.digest;
  const found = { mark, digest: digest(file) };
  known.set(file, found);
  return found.digest;
}

const LEADING_COMMENT = /^\s*<!--[\s\S]*?-->\s*/;
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * The conversation with the hidden information in front of its first request, as `Template.view` of the trainer has it.
 * @param prompt text with `{{hiddenInformation}}`, such as critic.md
 */
export function withHiddenInformation(
  messages: readonly ChatMessage[],
  hiddenInformation: string,
  prompt: string,
): readonly ChatMessage[] {
  const values: Readonly<Record<string, string>> = { hiddenInformation };
  const told = prompt
    .replace(/^\uFEFF/, '')
    .replace(LEADING_COMMENT, '')
    .replace(PLACEHOLDER, (_, name: string) => values[name.trim()]!)
    .trim();
  const first = messages.findIndex(({ role }) => role === 'user');
  return messages.map((message, index) =>
    index === first ? { role: 'user', content: `${told}\n\n${message.content}` } : message,
  );
}
