import { PERSONAS } from '../dialogue/specification/specificationSpec';
import * as z from 'zod';
import {
  collect as collectAll,
  collectionName,
  type CollectionResult,
  type PackTask,
  packTasks,
  rendererOf,
} from '../dialogue/collect';
import { evaluate as evaluateAll } from '../evaluation/evaluate';
import { isFinished } from '../evaluation/figures';
import { pageFigures } from '../evaluation/pages/pageFigures';
import { agentTables } from '../evaluation/report/agents';
import { linesOf } from '../evaluation/report/table';
import { pageScoreInWords, rate, comparedInWords } from '../evaluation/words';
import { figuresOf } from '../evaluation/statistics';
import { Fault } from '../fault';
import {
  defineTool,
  firstOf,
  type OpenPlay,
  type PlayRequest,
  type ToolCall,
  type Workplace,
  isWithin,
  MAX_LISTED,
} from './tool';
import path from 'node:path';
import { checkPack } from '../task/pack';
import { present } from '../text';

export const listPacks = defineTool({
  title: 'List packs',
  about: 'Lists the packs of tasks that can be played here.',
  description:
    'Lists the packs of tasks in this workspace that can be played: how many tasks and tests each has, how many the rule-based simulator can play (functions with facts, and all web pages), and which lines are no tasks. Tasks are Python functions and web pages to make together, in the form of ColBench; their references and tests stay hidden. Call it before tandem_collect and tandem_evaluate to learn the names of the packs.',
  effect: 'reads',
  asksModels: false,
  input: z.strictObject({}),
  run: async (_, at, { signal, report }) => {
    const files = await at.packs();
    const listed = files.slice(0, MAX_LISTED);
    const packs: Readonly<Record<string, unknown>>[] = [];
    const lines: string[] = [];
    for (const file of listed) {
      const name = nameOf(file, at);
      report(`Reading ${name}`, packs.length, listed.length);
      try {
        const { tasks, tests, pages, withFacts, bad } = await checkPack(file, { signal });
        // A link may lead anywhere, and reasons quote what stands there.
        const quotes = await isWithin(file, [at.folder]);
        const badLines = quotes ? firstOf(bad.map(({ line, reason }) => `line ${line}: ${reason}`)) : [];
        packs.push({ pack: name, tasks, tests, pages, withFacts, badLines });
        lines.push(
          `${name}: ${tasks} tasks, ${withFacts} of them with facts, ${pages === 0 ? '' : `${pages} web pages, `}${tests} tests, ${bad.length} bad lines.`,
        );
      } catch (error) {
        // One file that cannot be read must not hide the others.
        if (!(error instanceof Fault)) throw error;
        packs.push({ pack: name, refused: error.message });
        lines.push(`${name} cannot be played: ${error.message}`);
      }
    }
    if (files.length === 0) lines.push(`There is no pack of tasks in ${at.folder}.`);
    if (files.length > listed.length)
      lines.push(
        `${files.length - listed.length} more packs are not listed; they can be played by their paths.`,
      );
    return { lines, data: { packs, total: files.length } };
  },
});

export const packsInput = z
  .array(z.string().min(1))
  .describe('Packs to play, as tandem_list_packs names them.');

/**
 * @param names paths relative to the folder, or file names where only one pack has it
 * @throws {Fault} `tools/unknown-pack`
 */
export async function packsNamed(names: readonly string[], at: Workplace): Promise<string[]> {
  const files = await at.packs();
  return [...new Set(names.map((name) => packNamed(name, files, at)))];
}

function packNamed(name: string, files: readonly string[], at: Workplace): string {
  const exact = files.find((file) => file === path.resolve(at.folder, name));
  const alike = files.filter((file) => [path.basename(file), path.parse(file).name].includes(name));
  const found = exact ?? (alike.length === 1 ? alike[0] : undefined);
  if (found !== undefined) return found;
  const choices = (alike.length > 1 ? alike : files).map((file) => nameOf(file, at));
  const choice = choices.slice(0, MAX_LISTED).join(', ');
  throw new Fault(
    'tools/unknown-pack',
    alike.length > 1
      ? `"${name}" may be any of ${choice}; write its whole path.`
      : `There is no pack "${name}" here; ${choice === '' ? 'there is none at all' : `there are ${choice}`}.`,
  );
}

/** Relative to the folder, with slashes. */
const nameOf = (file: string, { folder }: Workplace): string =>
  path.relative(folder, file).replaceAll(path.sep, '/');

const MODELS =
  'starter (ships with Tandem, knows the starter world only), starter-pages (the same for web pages), starter-questions (the same for twenty questions), local:<folder> with ONNX graphs, openai:<model>@<base URL> or script:<file>';

const extent = {
  packs: packsInput,
  tasks: z.int().min(1).max(1_000_000).describe('How many tasks to play, from the first of the first pack.'),
  rollouts: z.int().min(1).max(1000).default(1).describe('Dialogues per task.'),
  simulator: z
    .string()
    .min(1)
    .optional()
    .describe(
      `The simulator: rules, a model as an agent is named, or specification:<model>,persona=<${Object.keys(PERSONAS).join(' | ')}> for one that sees requirements and never the reference. By default that of the settings.`,
    ),
};

export const collect = defineTool({
  title: 'Collect dialogues',
  about: 'Has agent and simulator play tasks; the dialogues are graded and logged.',
  description: `Has an agent and a simulator play tasks, grades the answers and logs the dialogues, on which tandem_start_run can train. It returns when all are played and reports progress meanwhile; begin with a few tasks. Cancelling loses nothing: the same call goes on from there, and more tasks or rollouts extend what was played. Training learns from dialogues of one task that end differently, so four rollouts or more help. Models: ${MODELS}.`,
  effect: 'adds',
  asksModels: true,
  input: z.strictObject({
    ...extent,
    agent: z
      .string()
      .min(1)
      .optional()
      .describe('The model that plays the agent. By default that of the settings.'),
  }),
  run: ({ agent: wanted, ...input }, at, call) =>
    playing(
      { ...input, purpose: 'collection', agents: wanted === undefined ? [] : [wanted] },
      at,
      call,
      async (play, tasks) => {
        const [agent] = play.agents;
        const renderer = await rendererOf({ ...play, tasks });
        const collection = collectionName('collection', { ...play, agent: agent!, renderer });
        const result = await collectAll({
          ...play,
          ...{ agent: agent!, tasks, collection, rollouts: input.rollouts, signal: call.signal },
          onProgress: ({ done, total }) => call.report(`${done} of ${total} dialogues`, done, total),
        });
        const { graded, success } = figuresOf(play.log.outlines({ collection }));
        const pages = renderer === undefined ? [] : await pageFiguresOf(play, collection);
        const { done, total, already } = result;
        const lines = present([
          `${done} of ${total} dialogues of ${agent!.name} with ${play.simulator.name} are in the log, ${already} of them from before.`,
          success &&
            `Success over the whole collection: ${rate(success.value)} of ${graded} graded dialogues.`,
          ...pages.map((one) => `Over the whole collection: ${pageScoreInWords(one)}.`),
          ...failuresOf(result),
        ]);
        const data = { collection, agent: agent!.name, simulator: play.simulator.name, ...result, success };
        return { lines, data: { ...data, ...(pages.length > 0 && { pages }) } };
      },
    ),
});

export const evaluate = defineTool({
  title: 'Evaluate agents',
  about: 'Measures agents on tasks and compares them with the first.',
  description: `Plays tasks with each agent under the same seeds, grades the answers, and gives the success rate and the fraction of tests passed, and of web pages the mean score by each measure, with 95 % intervals; each further agent is compared with the first, paired over the tasks. It returns when all are played and reports progress meanwhile; the same call goes on where a cancelled one stopped. Name a run's model from tandem_list_runs and the base it began with to see what training changed; use tasks that it did not learn from, and 200 or more to see small differences. Models: ${MODELS}.`,
  effect: 'adds',
  asksModels: true,
  input: z.strictObject({
    ...extent,
    agents: z
      .array(z.string().min(1))
      .default([])
      .describe('The models to measure; the first is the baseline. By default the agent of the settings.'),
  }),
  run: (input, at, call) => {
    if (new Set(input.agents).size < input.agents.length)
      throw new Fault(
        'tools/bad-input',
        'input.agents names the same agent twice; an agent cannot be compared with itself.',
      );
    return playing({ ...input, purpose: 'evaluation' }, at, call, async (play, tasks) => {
      // The agents play one after the other.
      const finished = new Map<string, number>();
      const dialogues = tasks.length * input.rollouts;
      const { agents, comparisons } = await evaluateAll({
        ...play,
        ...{ tasks, rollouts: input.rollouts, signal: call.signal },
        onProgress: (agent, { done }) => {
          finished.set(agent, done);
          const all = [...finished.values()].reduce((sum, each) => sum + each, 0);
          call.report(`${agent}: ${done} of ${dialogues} dialogues`, all, dialogues * play.agents.length);
        },
      });
      const lines = [
        ...agentTables(agents)
          .flatMap(linesOf)
          .map((cells) => cells.join(' | ')),
        ...comparisons.flatMap(comparedInWords).map((sentence) => `${sentence}.`),
        ...agents.flatMap(({ collection }) => failuresOf(collection)),
      ];
      const rows = agents.map(({ figures, collection }) => ({ ...figures, ...collection }));
      return { lines, data: { simulator: play.simulator.name, agents: rows, comparisons } };
    });
  },
});

/** Input before defaults. */
export interface PlayInput {
  readonly packs: readonly string[];
  readonly tasks: number;
  readonly rollouts?: number;
  readonly simulator?: string;
  readonly agent?: string;
  readonly agents?: readonly string[];
}

interface Played {
  readonly lines: readonly string[];
  readonly data: Record<string, unknown>;
}

/** Closes everything afterwards. Left-out lines of the packs are remarks of the result. */
async function playing(
  { packs: names, tasks: limit, simulator, purpose, agents = [] }: PlayInput & Pick<PlayRequest, 'purpose'>,
  at: Workplace,
  call: ToolCall,
  play: (play: OpenPlay, tasks: readonly PackTask[]) => Promise<Played>,
): Promise<Played> {
  const packs = await packsNamed(names, at);
  const leftOut: string[] = [];
  const { signal } = call;
  const tasks = await packTasks(packs, {
    limit,
    signal,
    onLeftOut: (sentence) => leftOut.push(sentence),
  });
  if (tasks.length === 0)
    throw new Fault(
      'tools/no-tasks',
      `There is no task to play in ${names.join(', ') || 'no pack'}: name packs that tandem_list_packs counts tasks of.`,
    );
  const open = await at.openPlay({ packs, purpose, agents, simulator });
  try {
    const { lines, data } = await play(open, tasks);
    const remarks = firstOf(leftOut);
    return { lines: [...lines, ...remarks], data: { ...data, leftOut: remarks } };
  } finally {
    await open.close();
  }
}

const failuresOf = ({ failures }: CollectionResult): string[] =>
  failures.map(
    ({ message, count }) => `${count} dialogues failed: ${message} The same call tries them again.`,
  );

/** Of the web pages in a collection; one entry for each scale. */
async function pageFiguresOf({ log, mode }: OpenPlay, collection: string) {
  const episodes = [...log.collected(collection).values()].map(({ episode }) => episode);
  const played = await Array.fromAsync(log.trajectories(episodes));
  return pageFigures(played.filter(isFinished), mode);
}
