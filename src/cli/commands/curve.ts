import path from 'node:path';
import { packTasks } from '../../core/dialogue/collect';
import { learningCurve } from '../../core/evaluation/curve';
import { trainingWork } from '../../core/evaluation/loop/trainingStage';
import { curveFindings, curveTable } from '../../core/evaluation/report/curve';
import { inEnglish } from '../../core/evaluation/report/table';
import { saveCurve, type Curve } from '../../core/evaluation/savedCurves';
import { openAgent } from '../../core/model/spec';
import { listIn } from '../../core/text';
import { readConfiguration } from '../../core/training/configuration';
import { methodIn } from '../../core/training/methods';
import { Runs } from '../../core/training/runs';
import { trainerCode } from '../../core/training/trainer';
import { wrongUse, type CliContext, type CommandResult, type Install } from '../command';
import { namedKeys } from '../keys';
import { addPlayRules, SIMULATOR_WORDS, modelOptions, openPlayers, whole, type PlayRules } from '../play';
import { Opened, openShippedTrainer } from '../resources';
import { say, StatusLine, tableInWords } from '../terminal';

interface CurveOptions extends PlayRules {
  readonly temperature: number;
  readonly tasks: readonly string[];
  readonly rollouts: number;
  readonly seeds: number;
  readonly shares: string;
}

export const installCurve: Install = (program, perform) => {
  const command = program
    .command('curve')
    .description(
      'train on 25, 50 and 100 % of what a configuration takes from the log, play validation tasks with each, and say whether more dialogues would help; the same command continues where it stopped',
    )
    .argument('<config>', 'the configuration of a run, JSON, with data.log; docs/training.md')
    .addOption(whole('--seeds <n>', 'training seeds, each of which draws its own tasks', 1, 3))
    .option('--shares <list>', 'percentages of the tasks', '25,50,100')
    .option('--tasks <file...>', 'packs of validation tasks (default: a fifth of the tasks in the log)', [])
    .addOption(whole('--rollouts <k>', 'dialogues per validation task', 1, 1))
    .option('--simulator <model>', SIMULATOR_WORDS, 'rules');
  addPlayRules(command, { temperature: 0 }).action(perform(curve));
};

async function curve(config: string, options: CurveOptions, to: CliContext): Promise<CommandResult> {
  const shares = sharesOf(options.shares);
  const configuration = await readConfiguration(config);
  const trainer = await openShippedTrainer(to);
  const keyOf = namedKeys(options.keyEnv, [options.simulator]);
  to.onInterrupt('Stopping; the same command continues from here. Press Ctrl+C again to leave at once.');
  await using opened = new Opened();
  const { agents: _, ...play } = await openPlayers(options, [], { open: openAgent, keyOf }, to, opened);
  const tasks = await packTasks(options.tasks, { signal: to.signal, onLeftOut: say });
  const status = new StatusLine(LINE_INTERVAL_MS);
  try {
    const found = await learningCurve({
      ...{ ...play, tasks, shares, configuration, trainer },
      ...{ seeds: options.seeds, rollouts: options.rollouts, signal: to.signal },
      dataFolder: new Runs(options.data),
      shippedPrompts: path.join(to.assets, 'prompts'),
      trainerCode: await trainerCode(path.join(to.assets, 'trainer')),
      open: (place) => openAgent(`local:${place}`, modelOptions(to)),
      onProgress: (point, at) => {
        const { what, done, total } = 'done' in at ? { what: 'plays', ...at } : trainingWork(at);
        status.show(`${point}: ${what}${done === undefined ? '' : ` ${done}/${total ?? '?'}`}`);
      },
    });
    const { forTrainer } = configuration;
    const { base } = forTrainer.model as { readonly base: string };
    await saveCurve(options.data, { method: methodIn(forTrainer), base, curve: found });
    const { points, ...summary } = found;
    return { rows: points, summary, print: () => inWords(found) };
  } finally {
    status.end();
  }
}

const LINE_INTERVAL_MS = 10_000;

function sharesOf(text: string): number[] {
  const shares = listIn(text, ',').map((one) => Number(one) / 100);
  const isWrong = shares.some((share, at) => !(share > (shares[at - 1] ?? 0) && share <= 1));
  if (isWrong || shares.length < 2)
    throw wrongUse('--shares takes at least two ascending percentages, such as 25,50,100.');
  return shares;
}

const inWords = (found: Curve): string =>
  [tableInWords(curveTable(found)), '', ...curveFindings(found).map(inEnglish)].join('\n');
