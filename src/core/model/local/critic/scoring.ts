// The scoring process: one critic and its base model. `ScoringProcess` starts it and talks to it.

import { criticGraphs, readCriticFile, type CriticFile } from './criticFile';
import type { CriticDialogue, ReadDialogue, SpokenTurn, Unscorable } from './process';
import { CriticTemplate } from './template';
import { TurnText } from '../turnText';
import { Tensor, type InferenceSession } from '../runtime';
import { createSession } from '../graph';
import { answerRequests } from '../requestProcess';
import type { ChatMessage } from '../../model';
import { withoutEnd } from '../../../text';

interface Critic {
  readonly about: CriticFile;
  readonly template: CriticTemplate;
  readonly critic: InferenceSession;
  readonly reference: InferenceSession;
}

async function load(folder: string): Promise<Critic> {
  const about = readCriticFile(folder);
  const template = new CriticTemplate(folder, about);
  const graphs = criticGraphs(folder);
  const [critic, reference] = await Promise.all([
    createSession(graphs.critic),
    createSession(graphs.reference),
  ]);
  return { about, template, critic, reference };
}

async function read(dialogue: CriticDialogue, { about, template, ...by }: Critic): Promise<ReadDialogue> {
  const views = viewsOf(dialogue, template);
  template.forget();
  if ('why' in views) return views;
  const { plain, informed } = views;
  if (about.hidden_information && informed === undefined)
    return {
      why: 'without hidden information',
      reason: 'Nothing hidden is known of its task, which the critic reads.',
    };
  const critic = await logProbs(by.critic, about.hidden_information ? informed! : plain);
  const base = await logProbs(by.reference, plain);
  const knowing = informed && (await logProbs(by.reference, informed));
  return {
    turns: plain.map(({ response }, index) => ({
      ids: response,
      texts: textsOf(response, (ids) => template.decode(ids)),
      critic: critic[index]!,
      plain: base[index]!,
      ...(knowing && { informed: knowing[index]! }),
    })),
  };
}

/** None for a special token or the start of a character; the last token of a character adds all of it. */
function textsOf(ids: readonly number[], decode: (ids: readonly number[]) => string): string[] {
  const text = new TurnText(decode, []);
  const texts = ids.map((id) => text.push(id));
  const { rest } = text.end();
  if (rest !== '') texts.push((texts.pop() ?? '') + rest);
  return texts;
}

/** Runs a graph: input_ids (1, T), positions (N), targets (N) → log_probs (N). */
async function logProbs(session: InferenceSession, turns: readonly TokenTurn[]): Promise<number[][]> {
  const found: number[][] = turns.map(() => []);
  for (const { ids, turns: covered } of passesOf(turns)) {
    const asked = covered.map((number) => turns[number]!);
    // A token is predicted from the position before it.
    const positions = asked.flatMap(({ prompt, response }) =>
      response.map((_, index) => prompt.length + index - 1),
    );
    const targets = asked.flatMap(({ response }) => response);
    const { log_probs } = await session.run({
      input_ids: tensor(ids, [1, ids.length]),
      positions: tensor(positions, [positions.length]),
      targets: tensor(targets, [targets.length]),
    });
    const values = [...(log_probs!.data as Float32Array)];
    for (const number of covered) found[number] = values.splice(0, turns[number]!.response.length);
  }
  return found;
}

const tensor = (values: readonly number[], shape: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), shape);

/** One causal pass: the tokens to read, and the numbers of the turns to score in it. */
interface Pass {
  readonly ids: readonly number[];
  readonly turns: number[];
}

/**
 * Makes as few passes as possible. A turn that is part of the next one's history is read together with it; if the
 * template rewrites the history (Qwen 3 removes the thoughts of earlier turns), each distinct history needs its own
 * pass.
 */
function passesOf(turns: readonly TokenTurn[]): Pass[] {
  const passes: Pass[] = [];
  for (const [number, { prompt, response }] of [...turns.entries()].reverse()) {
    const ids = [...prompt, ...response];
    const longer = passes.find((pass) => startsWith(pass.ids, ids));
    if (longer === undefined) passes.push({ ids, turns: [number] });
    else longer.turns.push(number);
  }
  return passes;
}

interface TokenTurn {
  readonly prompt: readonly number[];
  readonly response: readonly number[];
}

interface Views {
  readonly plain: readonly TokenTurn[];
  readonly informed?: readonly TokenTurn[];
}

/**
 * The sampled tokens if they match the turn's text, or else its text, tokenised once; as the trainer's
 * tokenize_turns.py and template.py do.
 */
function viewsOf(dialogue: CriticDialogue, template: CriticTemplate): Views | Unscorable {
  const { messages, turns, hiddenInformation } = dialogue;
  const settled = turns.map((turn) => settle(turn, messages, template));
  if (settled.some(({ response }) => response.length === 0))
    return { why: 'turns without tokens', reason: 'A turn of the agent was cut before its first token.' };
  const seen = (view: readonly ChatMessage[], { position }: SpokenTurn): readonly number[] =>
    template.encode(template.render(view.slice(0, position)));
  const plain = settled.map(({ prompt, response }, index) => ({
    prompt: prompt ?? seen(messages, turns[index]!),
    response,
  }));
  if (hiddenInformation === undefined) return { plain };
  const told = template.told(messages, hiddenInformation);
  const informed = settled.map(({ response }, index) => ({ prompt: seen(told, turns[index]!), response }));
  return { plain, informed };
}

const areKnown = (ids: readonly number[], vocabulary: number): boolean => ids.every((id) => id < vocabulary);

/** Includes the prompt's tokens if the sampler reported them and they belong to this tokenizer. */
function settle(
  turn: SpokenTurn,
  messages: readonly ChatMessage[],
  template: CriticTemplate,
): { readonly prompt?: readonly number[]; readonly response: readonly number[] } {
  const { ids, promptIds, position, finishReason } = turn;
  const { content } = messages[position]!;
  if (
    ids !== undefined &&
    ids.length > 0 &&
    areKnown([...ids, ...(promptIds ?? [])], template.vocabulary) &&
    says(template.decode(withoutEndToken(ids, template)), content, turn)
  ) {
    const ended = finishReason === 'stop' && !template.ends.has(ids.at(-1)!);
    return {
      ...(promptIds !== undefined && promptIds.length > 0 && { prompt: promptIds }),
      response: ended ? [...ids, template.endOfTurn] : ids,
    };
  }
  const text = tokensOf(content, messages.slice(0, position), template);
  const ended = finishReason !== 'length' && !(text.length > 0 && template.ends.has(text.at(-1)!));
  return { response: ended ? [...text, template.endOfTurn] : text };
}

/** A truncated text may end in part of a character, and a server may have removed the thoughts from the text. */
function says(decoded: string, text: string, { reasoning = '' }: SpokenTurn): boolean {
  const bare = (from: string): string => withoutEnd(from, '\uFFFD').trim();
  const thoughts = reasoning.trim();
  if (bare(decoded) === bare(text)) return true;
  return thoughts !== '' && bare(decoded).endsWith(bare(text)) && bare(decoded).includes(thoughts);
}

/** The text is tokenised after its prompt, or on its own if they would merge. */
function tokensOf(text: string, before: readonly ChatMessage[], template: CriticTemplate): readonly number[] {
  const rendered = template.render(before);
  const prompt = template.encode(rendered);
  const whole = template.encode(rendered + text);
  return startsWith(whole, prompt) ? whole.slice(prompt.length) : template.encode(text);
}

const withoutEndToken = (ids: readonly number[], { ends }: CriticTemplate): readonly number[] =>
  ends.has(ids.at(-1)!) ? ids.slice(0, -1) : ids;

function startsWith(ids: readonly number[], beginning: readonly number[]): boolean {
  return beginning.length <= ids.length && beginning.every((id, index) => id === ids[index]);
}

answerRequests(load, read);
