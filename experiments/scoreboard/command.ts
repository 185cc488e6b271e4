import path from 'node:path';
import { Option } from 'commander';
import type { PackTask } from '../../src/core/dialogue/collect';
import type { ProgramTask } from '../../src/core/task/task';
import { Prompts } from '../../src/core/dialogue/prompts';
import { RulesSimulator } from '../../src/core/dialogue/simulator';
import { precisionOf } from '../../src/core/evaluation/loop/export';
import { trained } from '../../src/core/evaluation/loop/trainingStage';
import { readLocalFolder, type LocalFolder } from '../../src/core/model/local/folder';
import { isShipped, SHIPPED_FOR } from '../../src/core/model/shippedModels';
import { openAgent } from '../../src/core/model/spec';
import { scoreboard, type Board, type BoardOptions } from './board';
import { summaryOf, writeBoard } from './files';
import { methods as allMethods, type Method } from './methods';
import { temperatureName } from './pictures';
import { full, quick, twentyQuestions, type Plan, type PlannedWorld } from './plan';
import type { BoardProgress, Surroundings as BoardSurroundings } from './surroundings';
import { tableOf, type Side, type Table, type TableRow } from './table';
import { trainingCosts } from './trainingCosts';
import { questionTasks } from '../../src/core/task/starter/questions/world';
import { starterTasks } from '../../src/core/task/starter/world';
import { Runs } from '../../src/core/training/runs';
import { scoreTrajectories } from '../../src/core/training/convert';
import type { Trainer } from '../../src/core/training/trainer';
import { percent, points } from '../../src/core/evaluation/words';
import {
  minutes,
  wholeNumber,
  wrongUse,
  type Install,
  type CommandResult,
  type CliContext,
} from '../../src/cli/command';
import { openGrader, openShippedTrainer } from '../../src/cli/resources';
import { jobsOption, modelOptions } from '../../src/cli/play';
import { duration, table as aligned, say } from '../../src/cli/terminal';

interface Options {
  readonly world: PlannedWorld;
  readonly quick?: boolean;
  readonly seeds?: readonly number[];
  readonly methods?: string;
  readonly minutes?: number;
  readonly credit?: boolean;
  readonly agent?: string;
  readonly out?: string;
  readonly rows?: string;
  readonly jobs?: number;
}

export const installScoreboard: Install = (program, perform) => {
  program
    .command('scoreboard')
    .description(
      'train every method from the same base model, and compare; the same command continues from the finished rows, also on another machine',
    )
    .addOption(
      new Option(
        '--world <kind>',
        'the kind of tasks; twenty-questions has its main methods, for orientation',
      )
        .choices(Object.keys(PLANS))
        .default('functions'),
    )
    .option('--quick', 'fewer tasks, seeds and settings: a preview in half an hour, not a result')
    .option(
      '--minutes <n>',
      'work for so long, then write the page of what is finished',
      minutes('--minutes'),
    )
    .option('--methods <names>', `methods to work on: ${allMethods.map(({ name }) => name).join(', ')}`)
    .option('--seeds <list>', 'training seeds to work on, such as 4,5', seedList)
    .option('--credit', 'also measure how well scores rank turns')
    .option(
      '--agent <model>',
      'the base model: a starter model or local:<folder> (default: the one that ships for the kind of tasks)',
    )
    .option(
      '--out <folder>',
      'runs, dialogues and the page (default: .tandem/scoreboards/full, quick or twenty-questions)',
    )
    .option(
      '--rows <file>',
      'finished rows (default: docs/benchmarks/scoreboard/rows.jsonl or rows-twenty-questions.jsonl; with --quick rows.jsonl in the folder)',
    )
    .addOption(jobsOption())
    .action(perform(makeScoreboard));
};

async function makeScoreboard(options: Options, to: CliContext): Promise<CommandResult> {
  const plan = planOf(options);
  const methods = methodsOf(plan);
  const start = options.agent ?? SHIPPED_FOR[plan.world];
  const out = path.resolve(options.out ?? path.join('.tandem', 'scoreboards', plan.name));
  const { folder, graph, fingerprint } = startOf(start, to);
  const prompts = await Prompts.load(path.join(to.assets, 'prompts'));
  const trainer = await openShippedTrainer(to);
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  try {
    const board = await scoreboard({
      ...{ out, plan, methods, prompts, grader, signal: to.signal },
      rows: path.resolve(options.rows ?? rowsFile(plan, out, to)),
      piece: pieceOf(options, plan, methods),
      withCredit: options.credit === true,
      start: { name: start, folder, fingerprint },
      openAgent: (name) => openAgent(name, modelOptions(to)),
      tasks: drawing(plan),
      precision: precisionOf(graph),
      simulator: new RulesSimulator(),
      train: training(trainer, new Runs(out), path.join(to.assets, 'prompts')),
      score: (what) => scoreTrajectories(trainer, what),
      onProgress: new Lines().print,
    });
    const table = tableOf(board, plan);
    const players = { start, simulator: 'rules' };
    const page = await writeBoard(out, board, table, { plan, methods, players });
    return {
      summary: { page, ...summaryOf(board, table, plan, methods) },
      print: () => inWords(board, table, page),
      failed: board.failures.length > 0,
    };
  } finally {
    await grader.close();
  }
}

const PLANS: Readonly<Record<PlannedWorld, Plan>> = { functions: full, 'twenty-questions': twentyQuestions };

function planOf({ world, quick: isQuick }: Options): Plan {
  if (isQuick !== true) return PLANS[world];
  if (world !== quick.world)
    throw wrongUse(
      `--quick has no plan for ${world}; leave out --quick, or --world for a look at functions.`,
    );
  return quick;
}

const methodsOf = ({ methods: names }: Plan): readonly Method[] =>
  allMethods.filter(({ name }) => names === undefined || names.includes(name));

/** Rows of all plans but the quick one are part of the repository, in which the built files lie. */
function rowsFile({ name }: Plan, out: string, { assets }: CliContext): string {
  if (name === 'quick') return path.join(out, 'rows.jsonl');
  const file = name === 'full' ? 'rows.jsonl' : `rows-${name}.jsonl`;
  return path.join(assets, '..', 'docs', 'benchmarks', 'scoreboard', file);
}

function pieceOf(
  { methods: names, seeds, minutes: limit }: Options,
  plan: Plan,
  methods: readonly Method[],
): BoardOptions['piece'] {
  const unknown = seeds?.find((seed) => !plan.seeds.includes(seed));
  if (unknown !== undefined)
    throw wrongUse(`The plan has no seed ${unknown}; --seeds takes some of ${plan.seeds.join(', ')}.`);
  return { methods: named(methods, names), seeds: seeds ?? plan.seeds, minutes: limit };
}

export function seedList(text: string): number[] {
  return text.split(',').map((one) => wholeNumber('--seeds', 1)(one.trim()));
}

function named(methods: readonly Method[], names: string | undefined): string[] {
  const all = methods.map(({ name }) => name);
  if (names === undefined) return all;
  const wanted = names.split(',').map((name) => name.trim());
  const unknown = wanted.find((name) => !all.includes(name));
  if (unknown === undefined) return wanted;
  throw wrongUse(`There is no method "${unknown}"; there are ${all.join(', ')}.`);
}

const GENERATORS = { functions: starterTasks, 'twenty-questions': questionTasks } as const;

/** Returns a function that draws tasks of the plan's world, and keeps each draw, because every cell asks for it. */
export function drawing({ world, difficulty }: Plan): BoardSurroundings['tasks'] {
  const drawn = new Map<string, readonly PackTask<ProgramTask>[]>();
  return ({ split, count, seed }) => {
    const name = `${split} ${count} ${seed}`;
    const before = drawn.get(name);
    if (before !== undefined) return before;
    const tasks = GENERATORS[world]({ split, seed, difficulty });
    const made = Array.from({ length: count }, () => ({ task: tasks.next().value.task }));
    drawn.set(name, made);
    return made;
  };
}

/** Returns the model folder from which training starts, and the graph that plays. */
export function startOf(agent: string, to: CliContext): LocalFolder {
  if (isShipped(agent)) return readLocalFolder(path.join(to.assets, agent));
  if (agent.startsWith('local:')) return readLocalFolder(agent.slice('local:'.length));
  throw wrongUse(`"${agent}" cannot be trained here: --agent takes a starter model or local:<folder>.`);
}

export function training(trainer: Trainer, runs: Runs, prompts: string): BoardSurroundings['train'] {
  // One check of the machine is enough for all cells, and it takes long.
  let examined = false;
  return async (options) => {
    const { model, critic, run } = await trained({ ...options, runs, trainer, prompts, examined });
    examined = true;
    return { model, critic, costs: await trainingCosts(run) };
  };
}

const LINE_INTERVAL_MS = 10_000;

/** Prints a line for everything that ends, and one every `LINE_INTERVAL_MS` for work in progress. */
export class Lines {
  private last = new Map<string, number>();

  readonly print = ({ done, total, what, where, isEnd = false, secondsLeft }: BoardProgress): void => {
    const now = performance.now();
    if (!isEnd && now - (this.last.get(what) ?? -Infinity) < LINE_INTERVAL_MS) return;
    this.last.set(what, now);
    const left = secondsLeft === undefined ? '' : `; ${duration(secondsLeft)} left`;
    say(`${total === 0 ? '' : `[${done}/${total}] `}${what}: ${where}${left}`);
  };
}

function inWords({ cells, failures, isOutOfTime }: Board, { rows, targets }: Table, page: string): string {
  const played = rows.filter(({ sides }) => sides.length > 0);
  return [
    `${cells.done} of the ${cells.total} cells that are known by now are finished.${isOutOfTime ? ' The time is up; the same command continues.' : ''}`,
    ...failures.map(({ cell, message }) => `${cell} failed: ${message}`),
    ...(played.length === 0 ? [] : [tableInWords(played)]),
    ...targets.flatMap(({ better, worse, difference, met }) => {
      if (difference === undefined) return [];
      const { mean, interval } = difference.success;
      const range = interval === null ? '' : ` [${points(interval.low)}, ${points(interval.high)}]`;
      const verdict = met === undefined ? 'not all seeds yet' : met ? 'as wanted' : 'less than wanted';
      return `${better} − ${worse}: ${points(mean)} points${range}: ${verdict}.`;
    }),
    `Everything else is in ${page}.`,
  ].join('\n');
}

function tableInWords(rows: readonly TableRow[]): string {
  const temperatures = rows[0]!.sides.map(({ temperature }) => temperature);
  const success = (side: Side): string => {
    const { mean, interval } = side.success;
    const range = interval && ` [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
    return `${percent(mean)}${range ?? ''}`;
  };
  const body = rows.map(({ name, setting, seeds, sides, own }) => [
    ...[name, setting, String(seeds.length), ...sides.map(success), temperatureName(own)],
  ]);
  const head = ['method', 'setting', 'seeds', ...temperatures.map(temperatureName), 'own temperature'];
  return `${aligned([head, ...body])}\nIn brackets: 95 % intervals over training seeds and tasks.`;
}
