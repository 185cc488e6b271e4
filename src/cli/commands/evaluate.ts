import type { CollectionResult } from '../../core/dialogue/collect';
import { evaluate, type Evaluation } from '../../core/evaluation/evaluate';
import {
  comparedInWords,
  draftRows,
  pageRows,
  progressInWords,
  estimate,
  rate,
} from '../../core/evaluation/words';
import { questionRows } from '../../core/evaluation/questionFigures';
import { isFinished, taskFigures } from '../../core/evaluation/figures';
import type { AgentFigures } from '../../core/evaluation/figureSchemas';
import { pageScores } from '../../core/evaluation/pages/pageFigures';
import { openRefined } from '../../core/dialogue/refinement/refinedModel';
import type { Model } from '../../core/model/model';
import { openAgent } from '../../core/model/spec';
import { isProgram } from '../../core/task/task';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { openClip, openGrader, openLog, openPages } from '../resources';
import { append, namedKeys } from '../keys';
import {
  addPageOptions,
  addPlayOptions,
  AGENT_WORDS,
  modelOptions,
  preparePlay,
  type PlayOptions,
  usageOf,
} from '../play';
import { startProgress, table } from '../terminal';

interface Options extends PlayOptions {
  readonly agent: readonly string[];
  readonly browser?: string;
  readonly clip?: string;
}

export const installEvaluate: Install = (program, perform) => {
  const command = program
    .command('evaluate')
    .description(
      'success of an agent on functions and its score on web pages, with confidence intervals; several agents are compared on the same tasks and seeds',
    )
    .requiredOption(
      '--agent <model...>',
      `${AGENT_WORDS}; --agent A --agent B, or --agent A B, compares B with A`,
      append,
    );
  addPageOptions(command);
  addPlayOptions(command, { temperature: 0 }).action((options: Options) =>
    perform((to) => evaluateAgents(options, to)),
  );
};

async function evaluateAgents(options: Options, to: CliContext): Promise<CommandResult> {
  if (new Set(options.agent).size < options.agent.length) {
    throw wrongUse('The same agent is named twice; an agent cannot be compared with itself.');
  }
  const keyOf = namedKeys(options.keyEnv, [...options.agent, options.simulator]);
  const play = await preparePlay(options, to, keyOf);
  const pages = play.tasks.every(({ task }) => isProgram(task)) ? undefined : openPages(to, options.browser);
  const clip = pages && options.mode === 'paper' ? openClip(to, options.clip) : undefined;
  const open = (spec: string): Model => openAgent(spec, modelOptions(to, keyOf));
  const agents = await Promise.all(options.agent.map((spec) => openRefined(spec, open, () => grader)));
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await openLog(options.data, to.signal);
  const { seed, rollouts, concurrency, mode } = options;
  const bars = new Map(agents.map(({ name }) => [name, startProgress(name, 'dialogues')]));
  try {
    const evaluation = await evaluate({
      ...play,
      log,
      agents,
      pages,
      clip,
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
    await pages?.close();
    await clip?.close();
  }
}

function rowsOf({ agents }: Evaluation, { mode }: Options): unknown[] {
  return agents.flatMap(({ figures: { agent }, trajectories }) =>
    [...taskFigures(trajectories, mode), ...pageScores(trajectories.filter(isFinished), mode)].map(
      (figures) => ({ agent, ...figures }),
    ),
  );
}

function inWords({ agents, comparisons }: Evaluation): string {
  const all = agents.map(({ figures }) => figures);
  const hasPages = all.some(({ pages }) => pages !== undefined);
  return [
    ...(hasPages && all.every(({ tasks }) => tasks === 0) ? [] : [functionsInWords(all)]),
    ...(hasPages ? [pagesInWords(all)] : []),
    ...(all.some(({ questions }) => questions !== undefined)
      ? [table(questionRows(all)), QUESTION_WORDS]
      : []),
    ...comparisons.flatMap(comparedInWords),
    ...agents.flatMap(({ figures, collection }) => troubleOf(figures.agent, collection)),
  ].join('\n');
}

/** What the table of twenty questions shows. */
const QUESTION_WORDS =
  'Questions needed by the best decision tree and asked; expected information of each; questions lost to the tree; figures left at the answer (means per dialogue).';

function functionsInWords(agents: readonly AgentFigures[]): string {
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
    table([head, ...agents.map(rowOf)]),
    'In brackets: 95 % intervals (Wilson over tasks). Per dialogue: turns, hidden decisions missed, useless questions, tokens, seconds.',
  ].join('\n');
}

function pagesInWords(agents: readonly AgentFigures[]): string {
  return [
    table(pageRows(agents)),
    table(draftRows(agents)),
    'Scores and gains with 95 % intervals of the mean over tasks, from six tasks on; each draft is scored.',
    ...agents.flatMap(({ agent, draftProgress }) =>
      draftProgress === undefined ? [] : progressInWords(agent, draftProgress),
    ),
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
