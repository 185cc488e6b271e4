import { Option } from 'commander';
import { collect, collectionName, type CollectionResult, rendererOf } from '../../core/dialogue/collect';
import type { Model } from '../../core/model/model';
import { refineSpec } from '../../core/dialogue/refinement/refineSpec';
import type { GradingMode } from '../../core/grading/grade';
import type { Shard, TrajectoryLog } from '../../core/trajectory/log';
import { present } from '../../core/text';
import { endingsOf, MAX_BRANCHES, treePurpose } from '../../core/trajectory/searchTree';
import { numberIn, wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { addPageOptions, addPlayOptions, AGENT_WORDS, type PlayOptions, usageOf, openPlay } from '../play';
import { Progress } from '../terminal';
import { Opened, type PageOptions } from '../resources';

interface Options extends PlayOptions, PageOptions {
  readonly agent: string;
  readonly shard?: Shard;
  readonly tree?: number;
}

export const installCollect: Install = (program, perform) => {
  const command = program
    .command('collect')
    .description(
      'play tasks with an agent and a simulator, grade and log them; run the same command again to continue after a stop',
    )
    .requiredOption('--agent <model>', AGENT_WORDS)
    .option(
      '--shard <i/n>',
      'play only the i-th of n equal shards, while the same command plays the others elsewhere',
      shardOf,
    )
    .addOption(
      new Option(
        '--tree <b>',
        'play each task as a search tree in which generator, verifier and refiner of the agent branch b times',
      )
        .argParser(numberIn({ type: 'integer', minimum: 2, maximum: MAX_BRANCHES })('--tree'))
        .conflicts('rollouts'),
    );
  addPageOptions(command);
  addPlayOptions(command, { temperature: 1 }).action(perform(collectDialogues));
};

/** Such as `2/4`. */
function shardOf(text: string): Shard {
  const [, index = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (index < 1 || index > of)
    throw wrongUse(`--shard takes a shard and the number of shards, such as 1/4, not "${text}".`);
  return { index, of };
}

/** @throws {Fault} `usage` where branches would be missing or equal */
function refuseTree({ agent, temperature }: Options): void {
  const { verifier, refiner } = refineSpec(agent) ?? {};
  if (verifier === undefined || refiner === undefined)
    throw wrongUse(
      `--tree needs an agent with three roles, such as refine:starter,verifier=starter,refiner=starter, not "${agent}".`,
    );
  if (temperature === 0)
    throw wrongUse('--tree needs a --temperature above 0: at 0 all branches of a role are equal.');
}

async function collectDialogues(options: Options, to: CliContext): Promise<CommandResult> {
  const { tree: branches, shard } = options;
  if (branches !== undefined) refuseTree(options);
  await using opened = new Opened();
  const verifierTemperature = branches === undefined ? undefined : options.temperature;
  const play = await openPlay(options, [options.agent], to, opened, verifierTemperature);
  const agent = play.agents[0]!;
  using progress = new Progress('collect', 'dialogues');
  const rollouts = branches === undefined ? options.rollouts : endingsOf(branches);
  const purpose = branches === undefined ? 'collection' : treePurpose(branches);
  const collection = collectionName(purpose, { ...play, agent, renderer: await rendererOf(play) });
  const result = await collect({
    ...play,
    ...{ agent, rollouts, branches, shard, collection },
    onProgress: ({ done, total, failed, solved }) =>
      progress.update(done, total, `${solved} solved${failed === 0 ? '' : `, ${failed} failed`}`),
  });
  const scores = play.pages && (await pageScores(play.log, collection, play.mode));
  return {
    summary: {
      collection,
      data: options.data,
      ...result,
      ...(scores && scoreSummary(scores)),
      agent: toldOf(agent),
      simulator: toldOf(play.simulator),
    },
    print: () =>
      [
        inWords(result, options),
        ...(scores ?? []).map(scoreInWords),
        ...usageOf(agent),
        ...usageOf(play.simulator),
      ].join('\n'),
    failed: result.done < result.total,
  };
}

interface MeasuredPages {
  readonly measure: string;
  readonly pages: number;
  readonly meanScore: number;
}

/** Of the collection's pages, those from earlier calls included; scores of two measures are never mixed. */
async function pageScores(
  log: TrajectoryLog,
  collection: string,
  mode: GradingMode,
): Promise<MeasuredPages[]> {
  const episodes = [...log.collected(collection).values()].map(({ episode }) => episode);
  const scores = new Map<string, number[]>();
  for await (const { grades } of log.trajectories(episodes)) {
    const page = grades.findLast(({ grade }) => grade.mode === mode)?.grade.page;
    if (page !== undefined) scores.set(page.measure, [...(scores.get(page.measure) ?? []), page.score]);
  }
  return [...scores].map(([measure, all]) => ({
    ...{ measure, pages: all.length },
    meanScore: all.reduce((sum, score) => sum + score, 0) / all.length,
  }));
}

/** The mean is that of all pages only where one measure scored them. */
const scoreSummary = (measures: readonly MeasuredPages[]): object => ({
  pages: measures.reduce((sum, { pages }) => sum + pages, 0),
  meanScore: measures.length === 1 ? measures[0]!.meanScore : null,
  measures,
});

const scoreInWords = ({ measure, pages, meanScore }: MeasuredPages): string =>
  `Mean score of ${pages} web page${pages === 1 ? '' : 's'} (${measure}): ${meanScore.toFixed(3)}.`;

const toldOf = ({ counts, notes }: Pick<Model, 'counts' | 'notes'>): object => ({ usage: counts, notes });

function inWords(
  { done, total, already, failures }: CollectionResult,
  { data, shard }: Pick<Options, 'data' | 'shard'>,
): string {
  const whose = shard === undefined ? '' : ` of shard ${shard.index} of ${shard.of}`;
  return present([
    `${done} of ${total} dialogues${whose} are in ${data}${already === 0 ? '' : `, ${already} of them from before`}.`,
    ...failures.map(({ message, count }) => `${count} failed: ${message}`),
    failures.length > 0 && 'The same command tries them again.',
  ]).join('\n');
}
