import type { CollectionResult } from '../../core/dialogue/collect';
import { evaluate, type Evaluation } from '../../core/evaluation/evaluate';
import { comparedInWords, progressInWords } from '../../core/evaluation/words';
import { agentTables } from '../../core/evaluation/report/agents';
import { isFinished, taskFigures } from '../../core/evaluation/figures';
import { pageScores } from '../../core/evaluation/pages/pageFigures';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { append } from '../keys';
import { addPageOptions, addPlayOptions, AGENT_WORDS, type PlayOptions, usageOf, openPlay } from '../play';
import { Progress, tableInWords } from '../terminal';
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
        simulator: play.simulator.name,
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

const inWords = ({ agents, comparisons }: Evaluation): string =>
  [
    ...agentTables(agents).map(tableInWords),
    ...agents.flatMap(({ figures: { agent, draftProgress } }) =>
      draftProgress === undefined ? [] : progressInWords(agent, draftProgress),
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
