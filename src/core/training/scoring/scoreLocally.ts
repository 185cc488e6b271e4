import { resolve } from 'node:path';
import { Prompts } from '../../dialogue/prompts';
import { Fault } from '../../fault';
import { readCriticFile, type CriticFile } from '../../model/local/critic/criticFile';
import { ScoringProcess } from '../../model/local/critic/process';
import { writeAtomically } from '../../trajectory/files';
import type { Scored, ScoreOptions } from '../convert';
import { gainsOf, dialogueOf, readRows, type RowDialogue } from './dialogues';
import { advantageOf } from '../../model/local/critic/turnScorer';

interface ScoreHereOptions extends Omit<ScoreOptions, 'base' | 'withTokens'> {
  readonly scoring: string;
  readonly prompts: string;
}

const AHEAD = 8;
const SHOWN = 10;
const SECONDS_BETWEEN_WORDS = 2;

/**
 * Scores as `scoreTrajectories`, with ONNX Runtime in place of the trainer: each trajectory takes one pass of the
 * critic and two of its base.
 * @throws {Fault} `training/cannot-score` for an unusable critic, or when no trajectory can be scored; `model/*` for
 * the critic's folder
 */
export async function scoreHere(options: ScoreHereOptions): Promise<Scored[]> {
  const { out, signal, onLine = () => undefined } = options;
  const folder = resolve(options.critic);
  const about = readCriticFile(folder);
  if (about.score !== 'log-ratio') {
    throw cannot(`The critic in ${folder} does not score by log-ratios; only the trainer can score with it.`);
  }
  const words = new Words(onLine);
  const dialogues = await readAll(options, words);
  return ScoringProcess.during({ script: options.scoring, folder, signal }, async (process) => {
    const rows = await scoreAll(dialogues, about, process, words);
    words.tell();
    if (rows.length === 0) throw cannot(`No trajectory can be scored by this critic${words.why()}.`);
    if (out !== undefined) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      await writeAtomically(resolve(out), text);
    }
    return rows;
  });
}

async function scoreAll(
  dialogues: readonly RowDialogue[],
  about: CriticFile,
  process: ScoringProcess,
  words: Words,
): Promise<Scored[]> {
  const rows: (Scored | undefined)[] = new Array<undefined>(dialogues.length);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < dialogues.length; at = next++) {
      rows[at] = await score(dialogues[at]!, about, process, words);
      words.progress(at + 1, dialogues.length);
    }
  };
  await Promise.all(Array.from({ length: AHEAD }, work));
  return rows.filter((row) => row !== undefined);
}

async function score(
  dialogue: RowDialogue,
  about: CriticFile,
  process: ScoringProcess,
  words: Words,
): Promise<Scored | undefined> {
  const { id, task, reward, messages, turns, hiddenInformation } = dialogue;
  const read = await process.ask({ messages, turns, ...(hiddenInformation && { hiddenInformation }) });
  if ('why' in read) {
    words.leaveOut(read.why);
    return undefined;
  }
  const gains = dialogue.drafts && gainsOf(dialogue.drafts, turns.length);
  const scored = read.turns.map((turn, number) => ({
    turn: number,
    tokens: turn.ids.length,
    ...advantageOf(turn, about),
    ...(gains && { gain: gains.get(number + 1) }),
  }));
  return { id, task, reward, turns: scored };
}

async function readAll(options: ScoreHereOptions, words: Words): Promise<RowDialogue[]> {
  const prompts = await Prompts.load(options.prompts);
  const found = new Map<string, RowDialogue>();
  const read = (value: unknown, where: string): RowDialogue => dialogueOf(value, where, prompts);
  const onBad = (where: string, reason: string): void => words.bad(where, reason);
  for await (const { row } of readRows(options.trajectories, read, onBad, options.signal)) {
    if (found.has(row.id)) words.leaveOut('read twice');
    else found.set(row.id, row);
  }
  return [...found.values()];
}

class Words {
  readonly #leftOut = new Map<string, number>();
  #bad = 0;
  #first: string | undefined;
  #said = Date.now();

  constructor(private readonly say: (line: string) => void) {}

  bad(where: string, reason: string): void {
    this.#bad += 1;
    this.#first ??= `${where}: ${reason}`;
    if (this.#bad <= SHOWN) this.say(`${where}: ${reason}`);
  }

  leaveOut(why: string): void {
    this.#leftOut.set(why, (this.#leftOut.get(why) ?? 0) + 1);
  }

  progress(done: number, all: number): void {
    if (Date.now() - this.#said < SECONDS_BETWEEN_WORDS * 1000) return;
    this.#said = Date.now();
    this.say(`${done} of ${all} trajectories`);
  }

  tell(): void {
    if (this.#leftOut.size > 0) this.say(`Left out: ${this.#listed()}.`);
  }

  /** Reasons in parentheses, to end a sentence. */
  why(): string {
    const lines =
      this.#first === undefined
        ? []
        : [
            `${this.#bad} bad ${this.#bad === 1 ? 'line' : 'lines'}, the first: ${this.#first.replace(/\.$/, '')}`,
          ];
    const reasons = [...lines, ...(this.#leftOut.size > 0 ? [this.#listed()] : [])];
    return reasons.length > 0 ? ` (${reasons.join('; ')})` : ' (there are none)';
  }

  #listed(): string {
    return [...this.#leftOut].map(([why, count]) => `${count} ${why}`).join(', ');
  }
}

const cannot = (sentence: string): Fault => new Fault('training/cannot-score', sentence);
