import { join } from 'node:path';
import { evaluate, type Evaluated } from '../../src/core/evaluation/evaluate';
import { taskFigures } from '../../src/core/evaluation/figures';
import { Fault } from '../../src/core/fault';
import type { Model } from '../../src/core/model/model';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { cellName, evaluationSeed, playerKey, playerName, rowKey, splitTasks, type Cell } from './cells';
import type { Models } from './models';
import { rolloutsAt } from './plan';
import type { Costs, Row, Rows } from './rows';
import type { Surroundings } from './surroundings';

/** Rows of a cell that the file does not have yet, by temperature. */
export const missing = (cell: Cell, rows: Rows, to: Surroundings): number[] =>
  to.plan.temperatures.filter((temperature) => rows.get(rowKey(cell, temperature, to)) === undefined);

/**
 * Trains the cell's model unless it exists, and plays the split at each temperature whose row is missing. A row is
 * added when all its dialogues are played.
 */
export async function playCell(
  cell: Cell,
  rows: Rows,
  models: Models,
  to: Surroundings,
  onWhere: (where: string) => void,
): Promise<void> {
  const { player } = cell;
  const { name, costs } = await models.agentOf(player, onWhere);
  const folder = `${playerName(player).replaceAll(/[^\w.]+/g, '-')}-${playerKey(player, to)}`;
  const log = await TrajectoryLog.open(join(to.out, 'plays', folder, cell.split));
  const agent = to.openAgent(name);
  try {
    for (const temperature of missing(cell, rows, to)) {
      await rows.add(await playRow(cell, temperature, { agent, costs, log, to, onWhere }));
    }
  } finally {
    await agent.close?.();
    await log.close();
  }
}

interface PlayOptions {
  readonly agent: Model;
  readonly costs: Costs;
  readonly log: TrajectoryLog;
  readonly to: Surroundings;
  readonly onWhere: (where: string) => void;
}

async function playRow(
  cell: Cell,
  temperature: number,
  { agent, costs, log, to, onWhere }: PlayOptions,
): Promise<Row> {
  const { plan, simulator, prompts, grader, signal } = to;
  const { player, split } = cell;
  const rollouts = rolloutsAt(plan[split], temperature);
  const { agents } = await evaluate({
    ...{ log, simulator, prompts, grader, signal, mode: 'fixed', rollouts },
    ...{ protocol: plan.protocol, concurrency: plan.concurrency },
    seed: evaluationSeed(split, player.seed, to),
    agents: [agent],
    tasks: splitTasks(split, to),
    sampling: { temperature, maxTokens: plan.maxTokens },
    onProgress: (_, { done, total }) => onWhere(`plays at temperature ${temperature}, ${done}/${total}`),
  });
  const { method, setting, seed } = player;
  return {
    key: rowKey(cell, temperature, to),
    ...{ method: method.name, setting: setting.name, seed, split, temperature, rollouts },
    ...figuresOf(agents[0]!, cell, to),
    costs,
  };
}

type Figures = Omit<
  Row,
  'key' | 'method' | 'setting' | 'seed' | 'split' | 'temperature' | 'rollouts' | 'costs'
>;

/** @throws {Fault} `study/incomplete-play`, because the table would then compare different tasks */
function figuresOf({ figures, collection, trajectories }: Evaluated, cell: Cell, to: Surroundings): Figures {
  const { done, total, failures } = collection;
  if (done < total || figures.dialogues < total) {
    const why = failures[0]?.message ?? `${figures.notGradable} answers cannot be graded here.`;
    throw new Fault(
      'study/incomplete-play',
      `Of ${total} dialogues of ${cellName(cell)}, ${figures.dialogues} were played and graded: ${why}`,
    );
  }
  const tasks = new Map(taskFigures(trajectories, figures.mode).map((one) => [one.task, one]));
  const successes = splitTasks(cell.split, to).map(({ task }) => {
    const { success, rollouts } = tasks.get(task.id)!;
    return Math.round(success * rollouts);
  });
  return {
    success: successes.join(''),
    testsPassed: rounded(figures.testsPassed!.mean),
    turns: rounded(figures.meanTurns!),
    missed: figures.missedDecisions === null ? null : rounded(figures.missedDecisions),
    ...(figures.questions && { lost: rounded(figures.questions.regret) }),
    useless: rounded(figures.uselessQuestions!),
    exhausted: rounded(figures.turnLimitRate!),
    leaked: rounded(figures.leakRate!),
    tokens: figures.meanTokens === null ? null : rounded(figures.meanTokens),
    seconds: figures.meanSeconds === null ? null : rounded(figures.meanSeconds),
  };
}

const rounded = (value: number): number => Math.round(10_000 * value) / 10_000;
