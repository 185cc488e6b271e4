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
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { append } from '../keys';
import { addPageOptions, addPlayOptions, AGENT_WORDS, type PlayOptions, usageOf, openPlay } from '../play';
import { Progress, table } from '../terminal';
import { Opened, type PageOptions } from '../resources';

interface Options extends PlayOptions, PageOptions {
  readonly agent: readonly string[];
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
  addPlayOptions(command, { temperature: 0 }).action(perform(evaluateAgents));
};

async function evaluateAgents(options: Options, to: CliContext): Promise<CommandResult> {
  if (new Set(options.agent).size < options.agent.length) {
    throw wrongUse('The same agent is named twice; an agent cannot be compared with itself.');
  }
  await using opened = new Opened();
  const play = await openPlay(options, options.agent, to, opened);
  const bars = new Map(play.agents.map(({ name }) => [name, new Progress(name, 'dialogues')]));
  try {
    const evaluation = await evaluate({
      ...play,
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
      print: () => [inWords(evaluation), ...[...play.agents, play.simulator].flatMap(usageOf)].join('\n'),
      failed: evaluation.agents.some(({ collection }) => collection.done < collection.total),
    };
  } finally {
    for (const bar of bars.values()) bar.end();
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

const count = (mean: number | null): string => mean?.toFixed(1) ?? '–';

/** Columns of the table of agents on functions. */
const COLUMNS: readonly (readonly [head: string, cell: (figures: AgentFigures) => string])[] = [
  ['agent', ({ agent }) => agent],
  ['tasks', ({ tasks }) => String(tasks)],
  ['success', ({ success }) => estimate(success)],
  ['tests passed', ({ testsPassed }) => estimate(testsPassed)],
  ['turns', ({ meanTurns }) => count(meanTurns)],
  ['missed', ({ missedDecisions }) => count(missedDecisions)],
  ['useless', ({ uselessQuestions }) => count(uselessQuestions)],
  ['tokens', ({ meanTokens }) => meanTokens?.toFixed(0) ?? '–'],
  ['seconds', ({ meanSeconds }) => count(meanSeconds)],
  ['turn limit', ({ turnLimitRate }) => rate(turnLimitRate)],
  ['leak', ({ leakRate }) => rate(leakRate)],
  ['timed out', ({ timeOutRate }) => rate(timeOutRate)],
  ['left out', ({ notGradable, unfinished }) => String(notGradable + unfinished)],
];

function functionsInWords(agents: readonly AgentFigures[]): string {
  const rows = agents.map((figures) => COLUMNS.map(([, cell]) => cell(figures)));
  return [
    table([COLUMNS.map(([head]) => head), ...rows]),
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
