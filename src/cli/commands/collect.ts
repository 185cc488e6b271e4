import { collect, collectionName, type CollectionResult, rendererOf } from '../../core/dialogue/collect';
import type { Model } from '../../core/model/model';
import { openModel } from '../../core/model/spec';
import type { GradingMode, PageMeasure } from '../../core/grading/grade';
import { type ReadPack, readPrograms, readTasks } from '../../core/task/pack';
import { isProgram, type Task } from '../../core/task/task';
import type { Shard, TrajectoryLog } from '../../core/trajectory/log';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { openLog, openGrader, openPages } from '../resources';
import { namedKeys } from '../keys';
import { addPlayOptions, MODEL_WORDS, modelOptions, preparePlay, type PlayOptions, usageOf } from '../play';
import { startProgress } from '../terminal';

interface Options extends PlayOptions {
  readonly agent: string;
  readonly shard?: Shard;
  readonly browser?: string;
}

export const installCollect: Install = (program, perform) => {
  const command = program
    .command('collect')
    .description(
      'play tasks with an agent and a simulator, grade and log them; run the same command again to continue after a stop',
    )
    .requiredOption('--agent <model>', MODEL_WORDS)
    .option(
      '--shard <i/n>',
      'play only the i-th of n equal shards, while the same command plays the others elsewhere',
      shardOf,
    );
  command.option(
    '--browser <program>',
    'draws web pages (default: a Chrome, Edge, Chromium or Brave of this machine)',
  );
  addPlayOptions(command, { temperature: 1 }).action((options: Options) =>
    perform((to) => collectDialogues(options, to)),
  );
};

/** Such as `2/4`. */
function shardOf(text: string): Shard {
  const [, index = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (index < 1 || index > of)
    throw wrongUse(`--shard takes a shard and the number of shards, such as 1/4, not "${text}".`);
  return { index, of };
}

async function collectDialogues(options: Options, to: CliContext): Promise<CommandResult> {
  const keyOf = namedKeys(options.keyEnv, [options.agent, options.simulator]);
  // Only the rules read pages yet.
  const read: ReadPack<Task> = options.simulator === 'rules' ? readTasks : readPrograms;
  const play = await preparePlay(options, to, keyOf, read);
  const pages = play.tasks.every(({ task }) => isProgram(task)) ? undefined : openPages(to, options.browser);
  const agent = openModel(options.agent, modelOptions(to, keyOf));
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await openLog(options.data, to.signal);
  const progress = startProgress('collect', 'dialogues');
  const { seed, rollouts, concurrency, mode, shard } = options;
  try {
    const renderer = await rendererOf(play.tasks, pages);
    const collection = collectionName('collection', { ...play, seed, agent, renderer });
    const result = await collect({
      ...play,
      log,
      agent,
      pages,
      grader,
      seed,
      rollouts,
      shard,
      concurrency,
      mode,
      collection,
      signal: to.signal,
      onProgress: ({ done, total, failed, solved }) =>
        progress.update(done, total, `${solved} solved${failed === 0 ? '' : `, ${failed} failed`}`),
    });
    const scores = pages && (await pageScores(log, collection, mode));
    return {
      summary: {
        collection,
        data: options.data,
        ...result,
        ...(scores && {
          pages: scores.length,
          meanScores: Object.fromEntries(byMeasure(scores).map(([measure, all]) => [measure, average(all)])),
        }),
        agent: toldOf(agent),
        simulator: toldOf(play.simulator),
      },
      print: () =>
        [
          inWords(result, options),
          ...scoreInWords(scores),
          ...usageOf(agent),
          ...usageOf(play.simulator),
        ].join('\n'),
      failed: result.done < result.total,
    };
  } finally {
    progress.end();
    await log.close();
    await grader.close();
    await agent.close?.();
    await play.simulator.close?.();
    await pages?.close();
  }
}

/** By measure, of the collection's pages, those from earlier calls included. */
async function pageScores(log: TrajectoryLog, collection: string, mode: GradingMode): Promise<PageScore[]> {
  const episodes = [...log.collected(collection).values()].map(({ episode }) => episode);
  const scores: PageScore[] = [];
  for await (const { grades } of log.trajectories(episodes)) {
    const page = grades.findLast(({ grade }) => grade.mode === mode)?.grade.page;
    if (page !== undefined) scores.push(page);
  }
  return scores;
}

type PageScore = Pick<PageMeasure, 'measure' | 'score'>;

const average = (scores: readonly PageScore[]): number =>
  scores.reduce((sum, { score }) => sum + score, 0) / scores.length;

const byMeasure = (scores: readonly PageScore[]): readonly (readonly [string, readonly PageScore[]])[] => [
  ...Map.groupBy(scores, ({ measure }) => measure),
];

const MEASURES: Readonly<Record<string, string>> = {
  structure: 'Mean structural score',
  checks: 'Mean share of passed checks',
};

/** Scores of two measures are never averaged. */
const scoreInWords = (scores: readonly PageScore[] = []): string[] =>
  byMeasure(scores).map(
    ([measure, all]) =>
      `${MEASURES[measure] ?? `Mean ${measure}`} of ${all.length} web page${all.length === 1 ? '' : 's'}: ${average(all).toFixed(3)}.`,
  );

const toldOf = ({ counts, notes }: Pick<Model, 'counts' | 'notes'>): object => ({ usage: counts, notes });

function inWords(
  { done, total, already, failures }: CollectionResult,
  { data, shard }: Pick<Options, 'data' | 'shard'>,
): string {
  const whose = shard === undefined ? '' : ` of shard ${shard.index} of ${shard.of}`;
  return [
    `${done} of ${total} dialogues${whose} are in ${data}${already === 0 ? '' : `, ${already} of them from before`}.`,
    ...failures.map(({ message, count }) => `${count} failed: ${message}`),
    ...(failures.length === 0 ? [] : ['The same command tries them again.']),
  ].join('\n');
}
