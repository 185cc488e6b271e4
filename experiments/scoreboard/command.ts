import path from 'node:path';
import type { PackTask } from '../../src/core/dialogue/collect';
import type { ProgramTask } from '../../src/core/task/task';
import { Prompts } from '../../src/core/dialogue/prompts';
import { RulesSimulator } from '../../src/core/dialogue/simulator';
import { trainerCode } from '../../src/core/evaluation/loop/trainerCode';
import { precisionOf } from '../../src/core/evaluation/loop/export';
import { trained } from '../../src/core/evaluation/loop/trainingStage';
import { readLocalFolder, type LocalFolder } from '../../src/core/model/local/folder';
import { openModel } from '../../src/core/model/spec';
import { scoreboard, type Board } from './board';
import { summaryOf, writeBoard } from './files';
import { full, methods as allMethods, quick, trying, type Method, type Plan } from './plan';
import type { BoardProgress, Surroundings as BoardSurroundings } from './surroundings';
import { tableOf, type Row, type Table } from './table';
import { starterTasks } from '../../src/core/task/starter/world';
import { Runs } from '../../src/core/training/runs';
import { scoreTrajectories } from '../../src/core/training/score';
import type { Trainer } from '../../src/core/training/trainer';
import { percent, points } from '../../src/core/evaluation/words';
import {
  wholeNumber,
  wrongUse,
  type Install,
  type CommandResult,
  type CliContext,
} from '../../src/cli/command';
import { openGrader, openShippedTrainer } from '../../src/cli/resources';
import { jobsOption, modelOptions } from '../../src/cli/play';
import { duration, table as aligned } from '../../src/cli/terminal';
import { say } from '../../src/cli/output';

interface Options {
  readonly quick?: boolean;
  readonly seeds?: number;
  readonly settings?: number;
  readonly methods?: string;
  readonly credit: boolean;
  readonly agent: string;
  readonly out?: string;
  readonly jobs?: number;
}

export const installScoreboard: Install = (program, perform) => {
  program
    .command('scoreboard')
    .description(
      'train every method from the same base model on the same dialogues, and compare; run the same command again to continue after a stop',
    )
    .option('--quick', 'fewer tasks, seeds and settings: a preview in half an hour, not a result')
    .option('--seeds <n>', 'training seeds of the table', wholeNumber('--seeds', 1))
    .option(
      '--settings <n>',
      'the number of settings to try for each method; with 1 there is no selection',
      wholeNumber('--settings', 1),
    )
    .option('--methods <names>', `methods to train: ${allMethods.map(({ name }) => name).join(', ')}`)
    .option('--no-credit', 'skip the last measurement, how well scores rank turns')
    .option('--agent <model>', 'the base model: starter or local:<folder>', 'starter')
    .option('--out <folder>', 'where everything is kept (default: .tandem/scoreboards/full or quick)')
    .addOption(jobsOption())
    .action((options: Options) => perform((to) => makeScoreboard(options, to)));
};

async function makeScoreboard(options: Options, to: CliContext): Promise<CommandResult> {
  const plan = planOf(options);
  const methods = methodsOf(options.methods);
  const out = path.resolve(options.out ?? path.join('.tandem', 'scoreboards', plan.name));
  const { folder: start, graph } = startOf(options.agent, to);
  const prompts = await Prompts.load(path.join(to.assets, 'prompts'));
  const players = { start: options.agent, simulator: 'rules' };
  const write = async (board: Board): Promise<{ table: Table; page: string }> => {
    const table = tableOf(board.final, plan.test.seed);
    return { table, page: await writeBoard(out, board, table, { plan, methods, players }) };
  };
  const trainer = await openShippedTrainer(to);
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  try {
    const board = await scoreboard({
      ...{ out, plan, methods, start, prompts, grader, signal: to.signal },
      openAgent: (folder) =>
        openModel(folder === start ? options.agent : `local:${folder}`, modelOptions(to)),
      tasks: drawing(plan),
      precision: precisionOf(graph),
      trainerCode: await trainerCode(path.join(to.assets, 'trainer')),
      simulator: new RulesSimulator(),
      train: training(trainer, new Runs(out), path.join(to.assets, 'prompts')),
      score: (what) => scoreTrajectories(trainer, what),
      withoutCredit: !options.credit,
      // The page is also written before the credit, so that it exists when the command is stopped during that.
      onTable: async (table) => {
        await write(table);
      },
      onProgress: new Lines().print,
    });
    const { table, page } = await write(board);
    return {
      summary: { page, ...summaryOf(board, table, plan, methods) },
      print: () => inWords(table, page),
      failed: table.rows.some(({ sampled, failures }) => sampled === undefined || failures.length > 0),
    };
  } finally {
    await grader.close();
  }
}

function planOf({ quick: isQuick, seeds: count, settings }: Options): Plan {
  const plan = isQuick === true ? quick : full;
  const seeds = count === undefined ? plan.seeds : Array.from({ length: count }, (_, i) => i + 1);
  return { ...plan, seeds, ...(settings !== undefined && trying(settings, seeds)) };
}

function methodsOf(names: string | undefined): readonly Method[] {
  if (names === undefined) return allMethods;
  const wanted = names.split(',').map((name) => name.trim());
  const unknown = wanted.find((name) => !allMethods.some((method) => method.name === name));
  if (unknown === undefined) return allMethods.filter(({ name }) => wanted.includes(name));
  throw wrongUse(
    `There is no method "${unknown}"; there are ${allMethods.map(({ name }) => name).join(', ')}.`,
  );
}

/** Returns a function that draws tasks of the starter world, and keeps each draw, because every cell asks for it. */
function drawing({ difficulty }: Plan): BoardSurroundings['tasks'] {
  const drawn = new Map<string, readonly PackTask<ProgramTask>[]>();
  return ({ split, count, seed }) => {
    const name = `${split} ${count} ${seed}`;
    const before = drawn.get(name);
    if (before !== undefined) return before;
    const tasks = starterTasks({ split, seed, difficulty });
    const made = Array.from({ length: count }, () => ({ task: tasks.next().value.task }));
    drawn.set(name, made);
    return made;
  };
}

/** Returns the model folder from which training starts, and the graph that plays. */
function startOf(agent: string, to: CliContext): LocalFolder {
  if (agent === 'starter') return readLocalFolder(path.join(to.assets, 'starter'));
  if (agent.startsWith('local:')) return readLocalFolder(agent.slice('local:'.length));
  throw wrongUse(`"${agent}" cannot be trained here: --agent takes starter or local:<folder>.`);
}

function training(trainer: Trainer, runs: Runs, prompts: string): BoardSurroundings['train'] {
  // One check of the machine is enough for all cells, and it takes long.
  let examined = false;
  return async (options) => {
    const result = await trained({ ...options, runs, trainer, prompts, examined });
    examined = true;
    return result;
  };
}

const LINE_INTERVAL_MS = 10_000;

/** Prints a line for everything that ends, and one every `LINE_INTERVAL_MS` for work in progress. */
class Lines {
  private last = new Map<string, number>();

  readonly print = ({ done, total, what, where, isEnd = false, secondsLeft }: BoardProgress): void => {
    const now = performance.now();
    if (!isEnd && now - (this.last.get(what) ?? -Infinity) < LINE_INTERVAL_MS) return;
    this.last.set(what, now);
    const left = secondsLeft === undefined ? '' : `; ${duration(secondsLeft)} left`;
    say(`${total === 0 ? '' : `[${done}/${total}] `}${what}: ${where}${left}`);
  };
}

function inWords({ rows, targets }: Table, page: string): string {
  return [
    aligned([['method', 'setting', 'success, T = 1', 'greedy', 'missed', 'useless'], ...rows.map(rowOf)]),
    'In brackets: 95 % intervals over training seeds and tasks.',
    ...targets.map(({ better, worse, difference, met }) => {
      if (difference === undefined) return `${better} − ${worse}: not measured.`;
      const { mean, interval } = difference.success;
      const range = interval === null ? '' : ` [${points(interval.low)}, ${points(interval.high)}]`;
      return `${better} − ${worse}: ${points(mean)} points${range}: ${met ? 'as wanted' : 'less than wanted'}.`;
    }),
    `Everything else is in ${page}.`,
  ].join('\n');
}

function rowOf({ method, setting, sampled, greedy }: Row): string[] {
  const success = (side: Row['sampled']): string => {
    if (side === undefined) return 'failed';
    const { mean, interval } = side.success;
    const range = interval && ` [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
    return `${percent(mean)}${range ?? ''}`;
  };
  return [
    ...[method, setting ?? '–', success(sampled), success(greedy)],
    ...[sampled?.missed?.toFixed(2) ?? '–', sampled?.useless?.toFixed(2) ?? '–'],
  ];
}
