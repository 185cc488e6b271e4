import type { CollectionResult } from '../../core/dialogue/collect';
import { evaluate, type Evaluation } from '../../core/evaluation/evaluate';
import { comparedInWords, estimate, rate } from '../../core/evaluation/words';
import { taskFigures, type AgentFigures } from '../../core/evaluation/figures';
import { openModel } from '../../core/model/spec';
import { readPrograms } from '../../core/task/pack';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { openLog, openGrader } from '../resources';
import { append, namedKeys } from '../keys';
import { addPlayOptions, MODEL_WORDS, modelOptions, preparePlay, type PlayOptions, usageOf } from '../play';
import { startProgress, table } from '../terminal';

interface Options extends PlayOptions {
  readonly agent: readonly string[];
}

export const installEvaluate: Install = (program, perform) => {
  const command = program
    .command('evaluate')
    .description(
      'success of an agent with its confidence interval; several agents are compared on the same tasks and seeds',
    )
    .requiredOption(
      '--agent <model...>',
      `${MODEL_WORDS}; --agent A --agent B, or --agent A B, compares B with A`,
      append,
    );
  addPlayOptions(command, { temperature: 0 }).action((options: Options) =>
    perform((to) => evaluateAgents(options, to)),
  );
};

async function evaluateAgents(options: Options, to: CliContext): Promise<CommandResult> {
  if (new Set(options.agent).size < options.agent.length) {
    throw wrongUse('The same agent is named twice; an agent cannot be compared with itself.');
  }
  const keyOf = namedKeys(options.keyEnv, [...options.agent, options.simulator]);
  const play = await preparePlay(options, to, keyOf, readPrograms);
  const agents = options.agent.map((spec) => openModel(spec, modelOptions(to, keyOf)));
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await openLog(options.data, to.signal);
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
      summary: {
        agents: evaluation.agents.map(({ figures, collection }) => ({ ...figures, ...collection })),
        comparisons: evaluation.comparisons,
      },
      print: () => [inWords(evaluation), ...[...agents, play.simulator].flatMap(usageOf)].join('\n'),
      failed: evaluation.agents.some(({ collection }) => collection.done < collection.total),
    };
  } finally {
    for (const bar of bars.values()) bar.end();
    await log.close();
    await grader.close();
    for (const model of [...agents, play.simulator]) await model.close?.();
  }
}

function rowsOf({ agents }: Evaluation, { mode }: Options): unknown[] {
  return agents.flatMap(({ figures: { agent }, trajectories }) =>
    taskFigures(trajectories, mode).map((figures) => ({ agent, ...figures })),
  );
}

function inWords({ agents, comparisons }: Evaluation): string {
  const head = [
    'agent',
    'tasks',
    'success',
    'tests passed',
    'turns',
    'missed',
    'useless',
    'tokens',
    'seconds',
    'turn limit',
    'leak',
    'timed out',
    'left out',
  ];
  return [
    table([head, ...agents.map(({ figures }) => rowOf(figures))]),
    'In brackets: 95 % intervals (Wilson over tasks). Per dialogue: turns, hidden decisions missed, useless questions, tokens, seconds.',
    ...comparisons.map(comparedInWords),
    ...agents.flatMap(({ figures, collection }) => troubleOf(figures.agent, collection)),
  ].join('\n');
}

function troubleOf(agent: string, { already, total, failures }: CollectionResult): string[] {
  return [
    ...(already === 0 ? [] : [`${agent}: ${already} of ${total} dialogues are from an earlier run.`]),
    ...failures.map(({ message, count }) => `${agent}: ${count} dialogues failed: ${message}`),
  ];
}

const count = (mean: number | null): string => mean?.toFixed(1) ?? '–';

function rowOf(figures: AgentFigures): string[] {
  return [
    figures.agent,
    String(figures.tasks),
    estimate(figures.success),
    estimate(figures.testsPassed),
    count(figures.meanTurns),
    count(figures.missedDecisions),
    count(figures.uselessQuestions),
    figures.meanTokens?.toFixed(0) ?? '–',
    count(figures.meanSeconds),
    rate(figures.turnLimitRate),
    rate(figures.leakRate),
    rate(figures.timeOutRate),
    String(figures.notGradable + figures.unfinished),
  ];
}
