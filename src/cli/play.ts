import path from 'node:path';
import { Option, type Command } from 'commander';
import type { PackTask } from '../core/dialogue/collect';
import { Prompts } from '../core/dialogue/prompts';
import { colBenchProtocol, type Protocol } from '../core/dialogue/protocol';
import { openSimulator, type Simulator } from '../core/dialogue/simulator';
import type { GradingMode } from '../core/grading/grade';
import type { SamplingSettings } from '../core/model/model';
import type { OpenModelOptions } from '../core/model/spec';
import { readTasks } from '../core/task/pack';
import { nonNegative, share, wholeNumber, wrongUse, type Surroundings } from './command';
import { keyEnvOption, type KeyOf } from './keys';
import { say } from './output';

/** A model as `--agent` and `--simulator` take it. */
export const MODEL_WORDS = 'starter, local:<folder>, openai:<model>[@<base URL>] or script:<file>';

/**
 * `openModel` needs to know these things of a build.
 * @param apiKey the key that is named for the model's server
 */
export const modelOptions = (
  { assets }: Pick<Surroundings, 'assets'>,
  apiKey?: string,
): OpenModelOptions => ({
  starter: path.join(assets, 'starter'),
  inference: path.join(assets, 'inference.js'),
  apiKey,
});

/** The options that `collect` and `evaluate` share. */
export interface PlayOptions {
  readonly tasks: readonly string[];
  readonly simulator: string;
  readonly rollouts: number;
  readonly concurrency: number;
  readonly seed: number;
  readonly data: string;
  readonly mode: GradingMode;
  readonly temperature: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxTokens: number;
  readonly maxTurns: number;
  readonly replyLimit: number;
  readonly prompts?: string;
  readonly limit?: number;
  readonly jobs?: number;
  readonly keyEnv?: readonly string[];
}

export const dataOption = (): Option =>
  new Option('--data <folder>', 'the data folder with the log').default('.tandem');

export const modeOption = (): Option =>
  new Option('--mode <mode>', 'how answers are scored').choices(['fixed', 'paper']).default('fixed');

export const jobsOption = (): Option =>
  new Option('--jobs <n>', 'graders that work at once (default: one per core)').argParser(
    wholeNumber('--jobs', 1),
  );

export function addPlayOptions(command: Command, defaults: { temperature: number }): Command {
  const whole = (flags: string, about: string, least: number, value?: number): Option => {
    const option = new Option(flags, about).argParser(wholeNumber(flags.split(' ')[0]!, least));
    return value === undefined ? option : option.default(value);
  };
  return command
    .requiredOption('--tasks <file...>', 'packs to play')
    .requiredOption(
      '--simulator <model>',
      'who plays the collaborator: rules, or a model as --agent takes it',
    )
    .addOption(whole('--rollouts <k>', 'dialogues per task', 1, 1))
    .addOption(whole('--concurrency <n>', 'dialogues in flight at once', 1, 16))
    .addOption(whole('--seed <s>', 'seed of the sampling and of the simulator', 0, 0))
    .addOption(dataOption())
    .addOption(modeOption())
    .addOption(
      new Option('--temperature <t>', 'of the agent; 0 is greedy')
        .argParser(nonNegative('--temperature'))
        .default(defaults.temperature),
    )
    .addOption(
      new Option(
        '--top-p <p>',
        'sample from the most likely tokens that together have this probability',
      ).argParser(share('--top-p')),
    )
    .addOption(whole('--top-k <k>', 'sample from this many of the most likely tokens', 1))
    .addOption(whole('--max-tokens <n>', 'most tokens of an agent turn', 1, 2048))
    .addOption(
      whole('--max-turns <n>', 'most agent turns; the last is the answer', 1, colBenchProtocol.maxTurns),
    )
    .addOption(whole('--reply-limit <n>', 'most characters of a reply', 1, colBenchProtocol.replyLimit))
    .option(
      '--prompts <folder>',
      'your own agent.md or simulator.md; short: the shipped one for small models',
    )
    .addOption(whole('--limit <n>', 'play only the first n tasks', 1))
    .addOption(jobsOption())
    .addOption(keyEnvOption());
}

/** What the options name, loaded: the tasks, the collaborator and the rules of play. */
export interface Play {
  readonly tasks: readonly PackTask[];
  readonly simulator: Simulator;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
  readonly protocol: Protocol;
}

export async function preparePlay(
  options: PlayOptions,
  { assets, signal }: Surroundings,
  keyOf: KeyOf,
): Promise<Play> {
  const prompts = await Prompts.load(path.join(assets, 'prompts'), options.prompts);
  const tasks = await tasksOf(options.tasks, options.limit ?? Infinity, signal);
  if (tasks.length === 0) throw wrongUse(`There is no task to play in ${options.tasks.join(', ')}.`);
  return {
    tasks,
    simulator: openSimulator(options.simulator, prompts, modelOptions({ assets }, keyOf(options.simulator))),
    prompts,
    sampling: samplingOf(options),
    protocol: { maxTurns: options.maxTurns, replyLimit: options.replyLimit },
  };
}

const samplingOf = ({ temperature, topP, topK, maxTokens }: PlayOptions): SamplingSettings => ({
  temperature,
  topP,
  topK,
  maxTokens,
});

/** The first tasks of the packs; bad lines, and ids that a pack before has too, are named and left out. */
async function tasksOf(files: readonly string[], limit: number, signal: AbortSignal): Promise<PackTask[]> {
  const tasks = new Map<string, PackTask>();
  for (const file of files) {
    for await (const read of readTasks(file, { signal })) {
      if (tasks.size >= limit) return [...tasks.values()];
      if ('bad' in read) {
        say(`${file}:${read.bad.line}: left out: ${read.bad.reason}`);
      } else if (tasks.has(read.task.id)) {
        say(`${file}: left out: the task ${read.task.id} is in an earlier pack too.`);
      } else {
        tasks.set(read.task.id, { task: read.task, pack: path.basename(file) });
      }
    }
  }
  return [...tasks.values()];
}
