import path from 'node:path';
import { Option } from 'commander';
import { runLoop } from '../../core/evaluation/loop/loop';
import type { LoopResult, LoopProgress } from '../../core/evaluation/loop/plan';
import { sizesFor, type LoopSettings } from '../../core/evaluation/loop/settings';
import { successInWords, verdictOf } from '../../core/evaluation/report/loop';
import { readLocalFolder, type LocalFolder } from '../../core/model/local/folder';
import type { Grader } from '../../core/grading/grader';
import { isShipped, SHIPPED_FOR } from '../../core/model/shippedModels';
import { openModel } from '../../core/model/spec';
import { WORLDS, type World } from '../../core/task/starter/splits';
import { trainerCode, type Trainer } from '../../core/training/trainer';
import { wholeNumber, wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { openGrader, openPages, openShippedTrainer } from '../resources';
import { keyEnvOption, namedKeys } from '../keys';
import { jobsOption, modelOptions, SIMULATOR_WORDS } from '../play';
import { duration, StatusLine } from '../terminal';

interface Options {
  readonly quick?: boolean;
  readonly tasks?: readonly string[];
  readonly world: World;
  readonly agent?: string;
  readonly simulator: string;
  readonly seed: number;
  readonly out?: string;
  readonly jobs?: number;
  readonly keyEnv?: readonly string[];
}

export const installLoop: Install = (program, perform) => {
  program
    .command('loop')
    .description('the whole loop: play, train, and evaluate the agent before and after on held-out tasks')
    .addOption(
      new Option(
        '--world <kind>',
        'the kind of tasks: small functions, web pages, or figures to find by yes-or-no questions',
      )
        .choices(WORLDS)
        .default('functions'),
    )
    .option('--quick', 'a quarter of an hour on two cores with the starter model')
    .option('--tasks <file...>', 'packs; a fifth of their tasks is held out (default: the starter world)')
    .option(
      '--agent <model>',
      'the model that plays and is trained: starter, starter-pages, starter-questions or local:<folder> (default: the one that ships for the kind of tasks)',
    )
    .option('--simulator <model>', `the simulator: ${SIMULATOR_WORDS}`, 'rules')
    .option('--seed <s>', 'seed of tasks, play and training', wholeNumber('--seed'), 0)
    .option('--out <folder>', 'output folder (default: a folder of its own in .tandem/loops)')
    .addOption(jobsOption())
    .addOption(keyEnvOption())
    .action(perform(loop));
};

async function loop(options: Options, to: CliContext): Promise<CommandResult> {
  const { world, seed, simulator, tasks = [], out = defaultFolder(options), jobs } = options;
  const agent = agentOf(options);
  const { folder: base, graph } = modelFolder(agent, to);
  const keyOf = namedKeys(options.keyEnv, [simulator]);
  const lines = new StageLines();
  const pages = world === 'pages' ? openPages(to) : undefined;
  let trainer: Promise<Trainer> | undefined;
  let grader: Promise<Grader> | undefined;
  to.onInterrupt('Stopping; the same command continues from here. Press Ctrl+C again to leave at once.');
  try {
    const folder = path.resolve(out);
    const result = await runLoop({
      folder,
      model: path.join(folder, 'model'),
      settings: settingsFor(base, options),
      packs: tasks.map((file) => path.resolve(file)),
      ...{ world, pages },
      agent: { name: agent, base, graph },
      ...{ seed, simulator, title: titleOf(tasks, world), runName: 'loop' },
      prompts: path.join(to.assets, 'prompts'),
      trainerCode: await trainerCode(path.join(to.assets, 'trainer')),
      openModel: (name) => openModel(name, modelOptions(to, keyOf)),
      openGrader: () => (grader ??= openGrader({ assets: to.assets, workers: jobs })),
      openTrainer: () => (trainer ??= openShippedTrainer(to)),
      signal: to.signal,
      onProgress: (progress) => lines.show(progress),
    });
    return { summary: result, print: () => inWords(result) };
  } finally {
    await (await grader)?.close();
    await pages?.close();
    lines.end();
  }
}

const WORLD_TITLES: Readonly<Record<World, string>> = {
  functions: 'starter world',
  pages: 'starter world of pages',
  'twenty-questions': 'starter world of twenty questions',
};

const agentOf = ({ agent, world }: Options): string => agent ?? SHIPPED_FOR[world];

const titleOf = (packs: readonly string[], world: World): string =>
  packs.length === 0 ? WORLD_TITLES[world] : packs.map((file) => path.parse(file).name).join(', ');

/** One for each kind of loop, so that the same command continues it and another one leaves it alone. */
function defaultFolder(options: Options): string {
  const { world, quick, tasks, seed } = options;
  const agent = agentOf(options);
  const from =
    tasks === undefined
      ? WORLD_TITLES[world].replaceAll(' ', '-')
      : tasks.map((file) => path.parse(file).name).join('-');
  const own = agent === SHIPPED_FOR[world] ? [] : [path.basename(agent)];
  const name = [from, ...own, quick === true ? 'quick' : 'full', ...(seed === 0 ? [] : [`seed-${seed}`])];
  return path.join('.tandem', 'loops', name.join('-'));
}

/** The folder is trained; its graph plays. */
function modelFolder(agent: string, to: CliContext): LocalFolder {
  if (isShipped(agent)) return readLocalFolder(path.join(to.assets, agent));
  if (agent.startsWith('local:') && agent.length > 'local:'.length) {
    return readLocalFolder(agent.slice('local:'.length));
  }
  throw wrongUse(
    `"${agent}" cannot be trained here: give starter, starter-pages, starter-questions, or local:<folder> for a model folder of your own. Dialogues of other models can be trained on with tandem collect and tandem train.`,
  );
}

const settingsFor = (base: string, { world, quick }: Options): LoopSettings =>
  sizesFor(world, readLocalFolder(base).parameters)[quick === true ? 'standard' : 'thorough'];

function inWords({ comparisons, report, model }: LoopResult): string {
  const shown = (file: string): string => path.relative(process.cwd(), file) || '.';
  return [
    `${verdictOf(comparisons)}.`,
    ...(['sampled', 'greedy'] as const).map((kind) => `  ${successInWords(kind, comparisons[kind])}`),
    `The report is ${shown(report)}.`,
    `The new model plays as local:${shown(model)}.`,
  ].join('\n');
}

type Working = Extract<LoopProgress, { state: 'working' }>;

const LINE_INTERVAL_MS = 10_000;
/** The longest name of a stage and a space. */
const NAME = 10;

/** Printed on stderr for each stage: its progress and the time left, then its result. */
export class StageLines {
  private readonly status = new StatusLine(LINE_INTERVAL_MS);
  /** `done` and the time (ms) when the piece of work was first seen. */
  private piece: { readonly what: string; readonly from: number; readonly since: number } | undefined;

  show(progress: LoopProgress): void {
    const name = progress.stage.padEnd(NAME);
    if (progress.state === 'working') {
      this.status.show(`${name}${this.working(progress)}`);
      return;
    }
    this.piece = undefined;
    if (progress.state === 'begun') {
      if (progress.because !== FIRST) this.status.say(`${name}again, because ${progress.because}`);
      else if (this.status.isTerminal) this.status.show(`${name}…`);
      return;
    }
    const { state, said, seconds } = progress;
    const how =
      state === 'skipped'
        ? 'skipped, nothing that it depends on has changed'
        : `done in ${duration(seconds)}`;
    this.status.say(`${name}${said} (${how})`);
  }

  end(): void {
    this.status.end();
  }

  private working({ what, unit, done, total, secondsLeft }: Working): string {
    if (done === undefined || total === undefined) return what;
    if (this.piece?.what !== what) this.piece = { what, from: done, since: performance.now() };
    const passed = (performance.now() - this.piece.since) / 1000;
    const rate = (done - this.piece.from) / Math.max(0.001, passed);
    const left = secondsLeft ?? (rate > 0 ? (total - done) / rate : undefined);
    const numbers = `${what} ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
    return `${numbers}${unit === undefined ? '' : ` ${unit}`}${left === undefined ? '' : `, ${duration(left)} left`}`;
  }
}

/** Not printed for the first run of a stage. */
const FIRST = 'it has not been done yet';
