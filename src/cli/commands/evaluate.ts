import type { CollectionResult } from '../../core/dialogue/collect';
import { evaluate, type Evaluation } from '../../core/evaluation/evaluate';
import { comparedInWords, judgedInWords, progressInWords } from '../../core/evaluation/words';
import { agentTables } from '../../core/evaluation/report/agents';
import { isFinished, taskFigures } from '../../core/evaluation/figures';
import { pageScores } from '../../core/evaluation/pages/pageFigures';
import { openModel } from '../../core/model/spec';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { append } from '../keys';
import {
  addPageOptions,
  addPlayOptions,
  AGENT_WORDS,
  MODEL_WORDS,
  modelOptions,
  openPlay,
  type PlayOptions,
  usageOf,
} from '../play';
import { Progress, tableInWords } from '../terminal';
import { Opened, type PageOptions } from '../resources';

interface Options extends PlayOptions, PageOptions {
  readonly agent: readonly string[];
  readonly judge?: string;
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
  command.option(
    '--judge <model>',
    `says what questions are about where tasks have a specification and no facts, for Ask-F1: ${MODEL_WORDS}`,
  );
  addPageOptions(command);
  addPlayOptions(command, { temperature: 0 }).action(perform(evaluateAgents));
};

async function evaluateAgents(options: Options, to: CliContext): Promise<CommandResult> {
  if (new Set(options.agent).size < options.agent.length) {
    throw wrongUse('The same agent is named twice; an agent cannot be compared with itself.');
  }
  await using opened = new Opened();
  const { judge: judgeSpec, ...others } = options;
  const judges = judgeSpec === undefined ? [] : [judgeSpec];
  const play = await openPlay(others, options.agent, to, opened, undefined, judges);
  const judge =
    judgeSpec === undefined ? undefined : opened.add(openModel(judgeSpec, modelOptions(to, play.keyOf)));
  const bars = new Map<string, Progress>();
  const advance = (agent: string, unit: string, done: number, total: number): void => {
    const key = `${agent} ${unit}`;
    const bar = bars.get(key) ?? new Progress(agent, unit);
    bars.set(key, bar);
    bar.update(done, total);
    if (done === total) bar.end();
  };
  try {
    const evaluation = await evaluate({
      ...play,
      judge,
      onProgress: (agent, { done, total }) => advance(agent, 'dialogues', done, total),
      onJudged: (agent, done, total) => advance(agent, 'judged dialogues', done, total),
    });
    return {
      rows: rowsOf(evaluation, options),
      summary: {
        agents: evaluation.agents.map(({ figures, collection }) => ({ ...figures, ...collection })),
        comparisons: evaluation.comparisons,
        simulator: play.simulator.name,
      },
      print: () =>
        [
          inWords(evaluation),
          ...[...play.agents, play.simulator, ...(judge ? [judge] : [])].flatMap(usageOf),
        ].join('\n'),
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

const inWords = ({ agents, comparisons }: Evaluation): string =>
  [
    ...agentTables(agents).map(tableInWords),
    ...agents.flatMap(({ figures: { agent, draftProgress } }) =>
      draftProgress === undefined ? [] : progressInWords(agent, draftProgress),
    ),
    ...agents.flatMap(({ figures: { agent, judgedAsking } }) =>
      judgedAsking === undefined ? [] : judgedInWords(agent, judgedAsking),
    ),
    ...comparisons.flatMap(comparedInWords),
    ...agents.flatMap(({ figures, collection }) => troubleOf(figures.agent, collection)),
  ].join('\n');

function troubleOf(agent: string, { already, total, failures }: CollectionResult): string[] {
  return [
    ...(already === 0 ? [] : [`${agent}: ${already} of ${total} dialogues are from an earlier run.`]),
    ...failures.map(({ message, count }) => `${agent}: ${count} dialogues failed: ${message}`),
  ];
}
