import { evaluate, type Comparison, type Evaluation } from '../../core/evaluation/evaluate';
import { taskFigures, type AgentFigures, type Estimate } from '../../core/evaluation/figures';
import { openModel } from '../../core/model/spec';
import { TrajectoryLog } from '../../core/trajectory/log';
import { wrongUse, type Install, type Outcome, type Surroundings } from '../command';
import { openGrader } from '../grader';
import { usageOf } from './collect';
import { addPlayOptions, preparePlay, type PlayOptions } from '../play';
import { percent, points, startProgress, table } from '../terminal';

interface Options extends PlayOptions {
  readonly agent: readonly string[];
}

export const installEvaluate: Install = (program, perform) => {
  const command = program
    .command('evaluate')
    .description('success of one agent with its interval; of several, paired on the same tasks and seeds')
    .requiredOption('--agent <model>', 'may be given several times; the first is the baseline', append);
  addPlayOptions(command, { temperature: 0 }).action((options: Options) =>
    perform((to) => evaluateAgents(options, to)),
  );
};

const append = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
];

async function evaluateAgents(options: Options, to: Surroundings): Promise<Outcome> {
  if (new Set(options.agent).size < options.agent.length) {
    throw wrongUse('The same agent is named twice; an agent cannot be compared with itself.');
  }
  const play = await preparePlay(options, to);
  const agents = options.agent.map((spec) => openModel(spec));
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await TrajectoryLog.open(options.data);
  const { seed, rollouts, concurrency, mode } = options;
  const bars = new Map(agents.map(({ name }) => [name, startProgress(name, 'dialogues')]));
  try {
    const evaluation = await evaluate({
      ...play,
      log,
      agents,
      grader,
      seed,
      rollouts,
      concurrency,
      mode,
      signal: to.signal,
      onProgress: (agent, { done, total }) => {
        bars.get(agent)!.update(done, total);
        if (done === total) bars.get(agent)!.end();
      },
    });
    return {
      rows: rowsOf(evaluation, options),
      summary: { agents: evaluation.agents, comparisons: evaluation.comparisons },
      print: () => [inWords(evaluation), ...agents.flatMap(usageOf)].join('\n'),
    };
  } finally {
    for (const bar of bars.values()) bar.end();
    await log.close();
    await grader.close();
  }
}

function rowsOf({ trajectories }: Evaluation, { mode }: Options): unknown[] {
  return [...trajectories].flatMap(([agent, played]) =>
    taskFigures(played, mode).map((figures) => ({ agent, ...figures })),
  );
}

function inWords({ agents, comparisons }: Evaluation): string {
  const head = [
    'agent',
    'tasks',
    'success',
    'tests passed',
    'turns',
    'turn limit',
    'leak',
    'timed out',
    'left out',
  ];
  return [
    table([head, ...agents.map(rowOf)]),
    'In brackets: 95 % intervals (Wilson over tasks).',
    ...comparisons.map(compared),
  ].join('\n');
}

const estimate = ({ mean, interval }: Estimate): string =>
  `${percent(mean)} [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;

function rowOf(figures: AgentFigures): string[] {
  return [
    figures.agent,
    String(figures.tasks),
    estimate(figures.success),
    estimate(figures.testsPassed),
    figures.meanTurns.toFixed(1),
    percent(figures.turnLimitRate),
    percent(figures.leakRate),
    percent(figures.timeOutRate),
    String(figures.notGradable + figures.unfinished),
  ];
}

function compared({ baseline, agent, success, testsPassed }: Comparison): string {
  const { difference, interval, p, tasks } = success;
  return (
    `${agent} against ${baseline}: success ${points(difference)} points ` +
    `[${points(interval.low)}, ${points(interval.high)}], p ${p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`}; ` +
    `tests passed ${points(testsPassed.difference)} points (paired bootstrap over ${tasks} tasks)`
  );
}
