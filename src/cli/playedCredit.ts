import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { inFlight } from '../core/concurrency';
import { isProgram } from '../core/task/task';
import { Prompts } from '../core/dialogue/prompts';
import { openSimulator } from '../core/dialogue/openSimulator';
import { Fault, type FaultCode } from '../core/fault';
import type { GradingMode } from '../core/grading/grade';
import { openModel } from '../core/model/spec';
import { present } from '../core/text';
import { eachSamplingNumber, type SamplingSettings } from '../core/samplingSettings';
import { AnswerNow, type Forcing } from '../core/training/credit/answerNow';
import { CreditCache } from '../core/training/credit/cache';
import type { Credit } from '../core/training/credit/credit';
import {
  digestOf,
  playedCredit,
  rewardOf,
  type HistoryValue,
  type PlayedDialogue,
} from '../core/training/credit/playedCredit';
import { playedDialogues } from '../core/training/credit/playedRows';
import { Rollouts } from '../core/training/credit/rollouts';
import { withRowsOfLogs } from '../core/training/data/prepare';
import { writeAtomically } from '../core/trajectory/files';
import type { CliContext, CommandResult } from './command';
import { keyEnvOption, namedKeys } from './keys';
import { say, Progress, table } from './terminal';
import { addSamplingOptions, jobsOption, modelOptions, modeOption, usageOf, whole } from './play';
import { openDrawing, openGrader, Opened, type PageOptions } from './resources';

export interface PlayedCreditOptions extends Omit<SamplingSettings, 'seed' | 'stop'>, PageOptions {
  readonly agent: string;
  /** Rollouts have one. */
  readonly simulator?: string;
  readonly samples: number;
  readonly data?: string;
  readonly concurrency: number;
  readonly seed: number;
  readonly mode: GradingMode;
  readonly prompts?: string;
  readonly jobs?: number;
  readonly keyEnv?: readonly string[];
  readonly out?: string;
}

/** For credit without a critic, besides the models. */
export function addPlayedCreditOptions(command: Command): Command {
  return addSamplingOptions(command, { temperature: 1 })
    .option(
      '--data <folder>',
      'whose index keeps the credit of finished dialogues, so that the same command continues (default: the first data folder given, else .tandem)',
    )
    .addOption(whole('--concurrency <n>', 'answers or dialogues at work at once', 1, 16))
    .addOption(whole('--seed <s>', 'seed of the sampling', 0, 0))
    .addOption(modeOption())
    .option('--prompts <folder>', 'your own prompts, as for collect; short: those for small models')
    .addOption(jobsOption())
    .addOption(keyEnvOption());
}

/** Prepares both kinds of value; closed with `opened`. */
async function openValue(
  kind: HistoryValue['kind'],
  options: PlayedCreditOptions,
  dialogues: readonly PlayedDialogue[],
  to: CliContext,
  opened: Opened,
) {
  const { samples, seed, mode, concurrency, temperature, maxTokens } = options;
  const keyOf = namedKeys(options.keyEnv, [options.agent, ...(options.simulator ? [options.simulator] : [])]);
  const prompts = await Prompts.load(path.join(to.assets, 'prompts'), options.prompts);
  const agent = opened.add(openModel(options.agent, modelOptions(to, keyOf)));
  const simulator = opened.add(openSimulator(options.simulator ?? 'rules', prompts, modelOptions(to, keyOf)));
  const grader = opened.add(await openGrader({ assets: to.assets, workers: options.jobs }));
  const drawn = kind === 'rollouts' && !dialogues.every(isAboutProgram);
  const plan = {
    ...openDrawing(drawn, options, to, opened),
    ...{ agent, simulator, prompts, grader, samples, seed, mode, concurrency, signal: to.signal },
    sampling: { ...eachSamplingNumber((name) => options[name]), temperature, maxTokens },
  };
  return {
    value: kind === 'rollouts' ? new Rollouts(plan) : new AnswerNow(plan),
    usage: () => [...usageOf(agent), ...usageOf(simulator)],
  };
}

/** Of one dialogue; others go on. */
const LEFT_OUT: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'training/cannot-score',
  'model/too-long',
  'dialogue/no-facts',
]);

/**
 * Credits the turns of dialogues by what an agent makes of their histories.
 * @param places files of rows, or data folders
 */
export async function creditPlayed(
  kind: HistoryValue['kind'],
  places: readonly string[],
  options: PlayedCreditOptions,
  to: CliContext,
): Promise<CommandResult> {
  const found = { prompts: path.join(to.assets, 'prompts'), signal: to.signal, onLine: say };
  const dialogues = await withRowsOfLogs(places, found, (files) => playedDialogues(files, say, to.signal));
  const stop = new AbortController();
  const signal = AbortSignal.any([to.signal, stop.signal]);
  await using opened = new Opened();
  const { value, usage } = await openValue(kind, options, dialogues, { ...to, signal }, opened);
  const progress = new Progress(kind, 'dialogues');
  try {
    const data = options.data ?? places.find((place) => existsSync(path.join(place, 'log'))) ?? '.tandem';
    const cache = new CreditCache(data, say);
    const credits = await keptCredits(dialogues, value, cache);
    const missing = dialogues.filter(({ id }) => !credits.has(id));
    const sampled = kind === 'rollouts' ? missing : missing.filter(isAboutProgram);
    if (sampled.length > 0) say(costInWords(kind, sampled, options.samples));
    const leftOut: string[] = [];
    let done = credits.size;
    progress.update(done, dialogues.length);
    await inFlight(missing, options.concurrency, async (dialogue) => {
      to.signal.throwIfAborted();
      try {
        const credit = await playedCredit(dialogue, value);
        await cache.write(credit);
        credits.set(dialogue.id, credit);
      } catch (error) {
        if (!(error instanceof Fault) || !LEFT_OUT.has(error.code)) throw error;
        leftOut.push(`${dialogue.id}: ${error.message}`);
      }
      progress.update(++done, dialogues.length);
    });
    for (const sentence of leftOut) say(`Left out: ${sentence}`);
    if (credits.size === 0)
      throw new Fault(
        'training/cannot-score',
        `No dialogue of ${places.join(', ')} can be credited${leftOut[0] === undefined ? ': there is none.' : `, the first for this: ${leftOut[0]}`}`,
      );
    const rows = dialogues.flatMap((dialogue) => rowOf(dialogue, credits.get(dialogue.id)) ?? []);
    if (options.out !== undefined) await writeRows(options.out, rows);
    const answers = value instanceof AnswerNow ? value : undefined;
    const forcing = dialogues.some(isAboutProgram) ? await answers?.forcing() : undefined;
    return {
      rows,
      summary: {
        ...{ by: value.kind, id: value.id, agent: options.agent, simulator: options.simulator },
        ...{ samples: options.samples, seed: options.seed, mode: options.mode, forcing },
        ...{ trajectories: rows.length, leftOut: leftOut.length, file: options.out },
        turns: rows.reduce((sum, { turns }) => sum + turns.length, 0),
      },
      print: () =>
        present([
          options.out === undefined
            ? inWords(rows)
            : `${rows.length} trajectories are in ${path.resolve(options.out)}.`,
          forcing && forcingWords(forcing),
          answers !== undefined && !dialogues.every(isAboutProgram) && PAGES_WORDS,
          ...usage(),
        ]).join('\n'),
    };
  } finally {
    // After a failure other samples would go on.
    stop.abort();
    progress.end();
  }
}

async function keptCredits(
  dialogues: readonly PlayedDialogue[],
  { id: value }: HistoryValue,
  cache: CreditCache,
): Promise<Map<string, Credit>> {
  const kept = new Map<string, Credit>();
  for (const dialogue of dialogues) {
    const credit = await cache.read(value, { episode: dialogue.id, of: digestOf(dialogue) });
    if (credit !== undefined) kept.set(dialogue.id, credit);
  }
  return kept;
}

/** Values of equal histories are computed once, so it may be less. */
function costInWords(
  kind: HistoryValue['kind'],
  missing: readonly PlayedDialogue[],
  samples: number,
): string {
  const histories = missing.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  const what = kind === 'rollouts' ? 'dialogues to their end' : 'answers';
  const count = (samples * histories).toLocaleString('en');
  return `At most ${count} ${what}: ${samples} for each of ${histories.toLocaleString('en')} histories of ${missing.length} dialogues.`;
}

interface CreditedRow {
  readonly id: string;
  readonly task: string;
  readonly reward: number | null;
  /** Turns count from 0, as in every row. */
  readonly turns: readonly {
    readonly turn: number;
    readonly value: number | null;
    readonly advantage: number | null;
    readonly untrained: null;
  }[];
}

function rowOf({ id, task }: PlayedDialogue, credit: Credit | undefined): CreditedRow | undefined {
  if (credit === undefined) return undefined;
  const turns = credit.turns.map(({ turn, value = null, advantage }) => ({
    ...{ turn: turn - 1, value, advantage, untrained: null },
  }));
  return { id, task: task.id, reward: rewardOf(credit), turns };
}

const writeRows = (out: string, rows: readonly CreditedRow[]): Promise<void> =>
  writeAtomically(path.resolve(out), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

function inWords(rows: readonly CreditedRow[]): string {
  const lines = rows.flatMap(({ id, task, reward, turns }) =>
    turns.map(({ turn, value, advantage }) => [
      ...[id, task, reward?.toFixed(2) ?? '–', String(turn + 1), value?.toFixed(3) ?? '–'],
      advantage === null ? '–' : `${advantage < -0.0005 ? '−' : '+'}${Math.abs(advantage).toFixed(3)}`,
    ]),
  );
  return table([['trajectory', 'task', 'reward', 'turn', 'value before', 'credit'], ...lines]);
}

const isAboutProgram = ({ task }: PlayedDialogue): boolean => isProgram(task);

const PAGES_WORDS =
  'The credit of a web page’s turns is the gain of their drafts, which its grade has; no model was asked.';

function forcingWords(forcing: Forcing): string {
  return forcing === 'opening'
    ? 'Answers were forced: the agent’s message could only begin with I WANT TO ANSWER:.'
    : 'Answers were forced by telling the agent that the message is its last; one that still asks passes no test.';
}
