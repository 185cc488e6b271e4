import path from 'node:path';
import { Option, type Command } from 'commander';
import { type PackTask, packTasks } from '../core/dialogue/collect';
import { Prompts } from '../core/dialogue/prompts';
import { colBenchPageProtocol, colBenchProtocol, type Protocol } from '../core/dialogue/protocol';
import { openSimulator } from '../core/dialogue/openSimulator';
import type { Simulator } from '../core/dialogue/simulator';
import type { GradingMode } from '../core/grading/grade';
import { PERSONAS } from '../core/dialogue/specification/specificationSpec';
import { openRefined } from '../core/dialogue/refinement/refinedModel';
import type { Model, ModelCounts, SamplingSettings } from '../core/model/model';
import { openAgent, type OpenModelOptions } from '../core/model/spec';
import { eachSamplingNumber, samplingEntries, type SamplingName } from '../core/samplingSettings';
import { numberIn, wholeNumber, wrongUse, type CliContext } from './command';
import { isProgram } from '../core/task/task';
import { keyEnvOption, namedKeys, type KeyOf } from './keys';
import { openDrawing, openGrader, openLog, type Opened, type PageOptions } from './resources';
import { say } from './terminal';

export const MODEL_WORDS =
  'starter, starter-pages, starter-questions, local:<folder>, openai:<model>[@<base URL>[,<base URL>…]] or script:<file>';

const SPECIFICATION_WORDS = `specification:<model>[,persona=<${Object.keys(PERSONAS).join(' | ')}>] for a model that sees requirements and never the reference`;

/** Help on the values of `--simulator`. */
export const SIMULATOR_WORDS = `rules, ${MODEL_WORDS}; ${SPECIFICATION_WORDS}`;

const MIXTURE_WORDS =
  'mixture:<model>+<model>,critic=<folder>[,n=<n>][,lambda=<n>] for turns that a critic chooses';
const REFINE_WORDS =
  'refine:<model>[,verifier=<model>][,refiner=<model>][,drafts=<n>] for answers that are run against each other first';

/** Help on the values of `--agent` where an agent made of models may play. */
export const PLAYER_WORDS = `${MODEL_WORDS}; ${MIXTURE_WORDS}; ${REFINE_WORDS}`;

/** Help on the values of `--agent` where a teacher may play, too. */
export const AGENT_WORDS = `${PLAYER_WORDS}; guided:<starter or local:folder>[,eta=<n>] for a teacher, which chooses its questions by the hidden information`;

export const modelOptions = ({ assets }: Pick<CliContext, 'assets'>, keyOf?: KeyOf): OpenModelOptions => ({
  shipped: assets,
  inference: path.join(assets, 'inference.js'),
  scoring: path.join(assets, 'scoring.js'),
  ...(keyOf && { keyOf }),
});

export interface DialogueOptions {
  readonly simulator: string;
  readonly seed: number;
  readonly mode: GradingMode;
  readonly maxTurns: number;
  readonly replyLimit?: number;
  readonly prompts?: string;
  readonly jobs?: number;
  readonly keyEnv?: readonly string[];
}

export interface PackOptions {
  readonly tasks: readonly string[];
  readonly limit?: number;
}

export interface PlayRules extends DialogueOptions, Readonly<Partial<Record<SamplingName, number>>> {
  readonly concurrency: number;
  readonly data: string;
  readonly maxTokens: number;
}

export interface PlayOptions extends PlayRules, PackOptions {
  readonly rollouts: number;
  readonly temperature: number;
}

export const dataOption = (): Option =>
  new Option('--data <folder>', 'the data folder with the log').default('.tandem');

export const modeOption = (): Option =>
  new Option('--mode <mode>', 'how answers are scored').choices(['fixed', 'paper']).default('fixed');

export const jobsOption = (): Option =>
  new Option('--jobs <n>', 'graders that work at once (default: one per core)').argParser(
    wholeNumber('--jobs', 1),
  );

export const whole = (flags: string, about: string, least: number, value?: number): Option => {
  const option = new Option(flags, about).argParser(wholeNumber(flags.split(' ')[0]!, least));
  return value === undefined ? option : option.default(value);
};

export const limitOption = (): Option => whole('--limit <n>', 'play only the first n tasks', 1);

export function addPlayOptions(command: Command, defaults: { temperature: number }): Command {
  command
    .requiredOption('--tasks <file...>', 'packs to play')
    .requiredOption('--simulator <model>', `the simulator: ${SIMULATOR_WORDS}`)
    .addOption(whole('--rollouts <k>', 'dialogues per task', 1, 1))
    .addOption(limitOption());
  return addPlayRules(command, defaults);
}

/** For every command that plays dialogues with an agent, besides tasks and simulator. */
export function addPlayRules(command: Command, defaults: { temperature?: number }): Command {
  command.addOption(whole('--concurrency <n>', 'dialogues in flight at once', 1, 16)).addOption(dataOption());
  return addDialogueOptions(addSamplingOptions(command, defaults));
}

export function addSamplingOptions(command: Command, defaults: { temperature?: number }): Command {
  const values: Partial<Record<SamplingName, number>> = { maxTokens: 2048, ...defaults };
  for (const [name, { flag, help, ...range }] of samplingEntries)
    command.option(flag, help, numberIn(range)(flag.split(' ')[0]!), values[name]);
  return command;
}

/** For every command that plays dialogues, besides tasks, simulator and agent. */
export function addDialogueOptions(command: Command): Command {
  return command
    .addOption(whole('--seed <s>', 'seed of the sampling and of the simulator', 0, 0))
    .addOption(modeOption())
    .addOption(
      whole(
        '--max-turns <n>',
        'maximum number of agent turns; the last is the answer',
        1,
        colBenchProtocol.maxTurns,
      ),
    )
    .addOption(
      whole(
        '--reply-limit <n>',
        `maximum number of characters in a reply (default: ${colBenchProtocol.replyLimit}, for web pages ${colBenchPageProtocol.replyLimit})`,
        1,
      ),
    )
    .option(
      '--prompts <folder>',
      'your own agent.md, agent-page.md, simulator.md, simulator-specification.md, simulator-page.md or simulator-outline.md; short: the shipped one for small models',
    )
    .addOption(jobsOption())
    .addOption(keyEnvOption());
}

/** For every command that draws or scores web pages. */
export function addPageOptions(command: Command): Command {
  return command
    .option(
      '--browser <program>',
      'draws web pages (default: a Chrome, Edge, Chromium or Brave of this machine)',
    )
    .option(
      '--clip <folder>',
      'with CLIP, by which --mode paper scores web pages (default: where tandem download clip puts it)',
    );
}

export interface DialogueSetup {
  readonly simulator: Simulator;
  readonly prompts: Prompts;
  readonly protocol: Protocol;
  readonly pageProtocol: Protocol;
}

/**
 * Everything with which agents play the tasks of packs; closed with `opened`.
 * @param others models of the command that play no part in a dialogue, for their keys
 */
export async function openPlay(
  options: PlayOptions & PageOptions,
  agents: readonly string[],
  to: CliContext,
  opened: Opened,
  verifierTemperature?: number,
  others: readonly string[] = [],
) {
  const keyOf = namedKeys(options.keyEnv, [...agents, options.simulator, ...others]);
  const tasks = await tasksOf(options, to);
  const how = { open: openAgent, keyOf, verifierTemperature };
  const hasPages = !tasks.every(({ task }) => isProgram(task));
  return {
    ...(await openPlayers(options, agents, how, to, opened)),
    ...openDrawing(hasPages, options, to, opened),
    ...{ tasks, rollouts: options.rollouts, signal: to.signal, keyOf },
  };
}

/** @param how opens one model; a verifier of drafts has another temperature than 0 in a search tree */
export async function openPlayers(
  options: PlayRules & Pick<SamplingSettings, 'temperature'>,
  specs: readonly string[],
  how: {
    readonly open: typeof openAgent;
    readonly keyOf: KeyOf;
    readonly verifierTemperature?: number;
  },
  to: CliContext,
  opened: Opened,
) {
  const { temperature, maxTokens, seed, concurrency, mode } = options;
  const setup = await prepareDialogues(options, to, how.keyOf);
  opened.add(setup.simulator);
  const open = (spec: string): Model => how.open(spec, modelOptions(to, how.keyOf));
  const agents = await Promise.all(
    specs.map((spec) => openRefined(spec, open, () => grader, how.verifierTemperature)),
  );
  for (const agent of agents) opened.add(agent);
  const grader = opened.add(await openGrader({ assets: to.assets, workers: options.jobs }));
  const log = opened.add(await openLog(options.data, to.signal));
  const sampling = { ...eachSamplingNumber((name) => options[name]), temperature, maxTokens };
  return { ...setup, ...{ sampling, agents, grader, log, seed, concurrency, mode } };
}

export async function prepareDialogues(
  { prompts: folder, simulator, maxTurns, replyLimit }: DialogueOptions,
  { assets }: Pick<CliContext, 'assets'>,
  keyOf: KeyOf,
): Promise<DialogueSetup> {
  const prompts = await Prompts.load(path.join(assets, 'prompts'), folder);
  return {
    simulator: openSimulator(simulator, prompts, modelOptions({ assets }, keyOf)),
    prompts,
    protocol: { maxTurns, replyLimit: replyLimit ?? colBenchProtocol.replyLimit },
    pageProtocol: { maxTurns, replyLimit: replyLimit ?? colBenchPageProtocol.replyLimit },
  };
}

/** @throws {Fault} `usage` when the packs hold no task */
export async function tasksOf(
  { tasks: packs, limit }: PackOptions,
  { signal }: Pick<CliContext, 'signal'>,
): Promise<readonly PackTask[]> {
  const tasks = await packTasks(packs, { limit, signal, onLeftOut: say });
  if (tasks.length === 0) throw wrongUse(`There is no task to play in ${packs.join(', ')}.`);
  return tasks;
}

interface Used {
  readonly name: string;
  readonly counts?: ModelCounts;
  readonly notes?: readonly string[];
}

export function usageOf({ name, counts, notes = [] }: Used): string[] {
  if (counts === undefined || counts.requests === 0) return [...notes];
  const { requests, retries, promptTokens, completionTokens, answersWithoutUsage } = counts;
  const uncounted =
    answersWithoutUsage === 0
      ? ''
      : `; for ${answersWithoutUsage} of the answers the server gave no token counts, so these are too low`;
  return [
    `${name}: ${requests} requests, ${retries} repeated, ${promptTokens} tokens read, ${completionTokens} written${uncounted}.`,
    ...notes,
  ];
}
