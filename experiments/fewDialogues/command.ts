import path from 'node:path';
import { Prompts } from '../../src/core/dialogue/prompts';
import { RulesSimulator } from '../../src/core/dialogue/simulator';
import { precisionOf } from '../../src/core/evaluation/loop/export';
import { openAgent } from '../../src/core/model/spec';
import { Runs } from '../../src/core/training/runs';
import { scoreTrajectories } from '../../src/core/training/convert';
import { claimIn } from '../../src/core/trajectory/claim';
import {
  minutes,
  wholeNumber,
  type CliContext,
  type CommandResult,
  type Install,
} from '../../src/cli/command';
import { modelOptions } from '../../src/cli/play';
import { openGrader, openShippedTrainer } from '../../src/cli/resources';
import { say } from '../../src/cli/terminal';
import type { Player } from '../scoreboard/cells';
import { drawing, Lines, startOf, training } from '../scoreboard/command';
import { methods, type Method } from '../scoreboard/methods';
import { Models } from '../scoreboard/models';
import { Pace } from '../scoreboard/pace';
import { missing, playCell } from '../scoreboard/play';
import { full } from '../scoreboard/plan';
import { Rows } from '../scoreboard/rows';
import type { Surroundings } from '../scoreboard/surroundings';
import { TimeLimit } from '../scoreboard/timeLimit';
import { candidates, CHOICE_SEED, planOf, SIZES, type Size, type SizedCell } from './plan';
import { gainsInWords, gainsOf } from './gains';

interface Options {
  readonly choice?: boolean;
  readonly methods?: string;
  readonly sizes?: readonly number[];
  readonly minutes?: number;
  readonly out: string;
  readonly rows?: string;
}

export const installFewDialogues: Install = (program, perform) => {
  program
    .command('few-dialogues')
    .description(
      'what each method gains from 20, 50, 100 and 200 dialogues, one of each task; the same command continues from the finished rows',
    )
    .option('--choice', 'play the settings of each method with the seed and the tasks of the choice instead')
    .option('--methods <names>', `of ${candidates.map(({ method }) => method.name).join(', ')}`)
    .option('--sizes <list>', `of ${SIZES.join(',')}`, (text) =>
      text.split(',').map((one) => wholeNumber('--sizes', 1)(one)),
    )
    .option('--minutes <n>', 'work for so long, then say what the finished rows say', minutes('--minutes'))
    .option('--out <folder>', 'runs and dialogues', path.join('.tandem', 'scoreboards', 'few-dialogues'))
    .option('--rows <file>', 'finished rows (default: docs/benchmarks/scoreboard/rows-few-dialogues.jsonl)')
    .action(perform(fewDialogues));
};

async function fewDialogues(options: Options, to: CliContext): Promise<CommandResult> {
  const out = path.resolve(options.out);
  const rows = await Rows.open(path.resolve(options.rows ?? rowsFile(to)));
  const time = new TimeLimit(options.minutes, to.signal);
  const { folder, graph, fingerprint } = startOf('starter', to);
  const trainer = await openShippedTrainer(to);
  // One, and one cell at a time, so that a study leaves room for other work.
  const grader = await openGrader({ assets: to.assets, workers: 1 });
  const claim = await claimIn(path.join(out, 'claims'), 'few-dialogues', `The study in ${out}`);
  const surroundings = {
    ...{ out, rows: out, grader, signal: time.signal, methods },
    prompts: await Prompts.load(path.join(to.assets, 'prompts')),
    start: { name: 'starter', folder, fingerprint },
    openAgent: (name: string) => openAgent(name, modelOptions(to)),
    tasks: drawing(full),
    precision: precisionOf(graph),
    simulator: new RulesSimulator(),
    train: training(trainer, new Runs(out), path.join(to.assets, 'prompts')),
    score: (what: Parameters<Surroundings['score']>[0]) => scoreTrajectories(trainer, what),
  };
  const part = options.choice === true ? 'choice' : 'counted';
  const of = (size: Size): Surroundings => ({ ...surroundings, plan: planOf(size, part) });
  try {
    await play(cellsOf(options), rows, of, time);
    const gains = gainsOf(cellsOf({}), rows, of);
    return { summary: { gains, isOutOfTime: time.hasLeftWork }, print: () => gainsInWords(gains) };
  } finally {
    await claim.release();
    await grader.close();
  }
}

const rowsFile = ({ assets }: CliContext): string =>
  path.join(assets, '..', 'docs', 'benchmarks', 'scoreboard', 'rows-few-dialogues.jsonl');

const start = methods.find(({ name }) => name === 'zero-shot')!;

/** Cells of the start first, then size by size of each method. */
function cellsOf({
  choice,
  methods: names,
  sizes,
}: Pick<Options, 'choice' | 'methods' | 'sizes'>): SizedCell[] {
  const wanted = candidates.filter(
    ({ method }) => names === undefined || names.split(',').includes(method.name),
  );
  const cell = (size: Size, player: Player): SizedCell => ({ size, player, split: 'development' });
  const seeds = choice === true ? [CHOICE_SEED] : [...new Set(wanted.flatMap(({ seeds }) => seeds))];
  const some = SIZES.filter((size) => sizes === undefined || sizes.includes(size));
  return [
    ...seeds.map((seed) => cell(SIZES[0], { ...startPlayer(start), seed })),
    ...wanted.flatMap(({ method, seeds: counted, chosen }) =>
      some.flatMap((size) =>
        choice === true
          ? method.settings.map((setting) => cell(size, { method, setting, seed: CHOICE_SEED }))
          : counted.map((seed) => cell(size, { method, setting: chosen(size), seed })),
      ),
    ),
  ];
}

function startPlayer(method: Method): Omit<Extract<Player, { uses: unknown }>, 'seed'> {
  if ('fields' in method) throw new Error('The start is not trained.');
  return { method, setting: method.settings[0]!, uses: [] };
}

async function play(
  cells: readonly SizedCell[],
  rows: Rows,
  of: (size: Size) => Surroundings,
  time: TimeLimit,
): Promise<void> {
  const todo = cells.filter((cell) => missing(cell, rows, of(cell.size)).length > 0);
  const pace = new Pace(todo.length, 1, new Lines().print);
  const models = new Map(SIZES.map((size) => [size, new Models(of(size))]));
  try {
    for (const cell of todo) {
      if (!time.mayBegin()) return;
      const began = performance.now();
      const name = cellName(cell);
      await playCell(cell, rows, models.get(cell.size)!, of(cell.size), (where) => pace.where(name, where));
      time.ended(began);
      pace.finished(name, 'done');
    }
  } catch (error) {
    if (!time.isOver) throw error;
    say('The time is up; the same command continues.');
  }
}

const cellName = ({ size, player: { method, setting, seed } }: SizedCell): string =>
  `${method.name} (${setting.name}) of ${size} dialogues, seed ${seed}`;
