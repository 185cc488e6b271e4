import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { PackTask } from '../../core/dialogue/collect';
import { isProgram } from '../../core/task/task';
import { canPlay } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import type { Engine } from '../engine';
import { specAt } from '../localModels';
import { cancellable } from '../progress';
import { grouped } from '../../core/text';
import { refuseOtherRoles } from '../run/useModel';
import { runName } from '../run/words';
import { worldTitle } from '../words';
import { pickOne, runSteps, taking } from '../inputSteps';
import type { Packs } from '../packs';
import { refuseInRestrictedMode } from '../workspaceTrust';

const { t } = vscode.l10n;

const AT_ONCE = 16;
const SEED = 0;
const WORLD_TASKS = 500;
const AMOUNTS = [20, 50, 100, 200, 500];
/** With fewer tasks, only a large difference can be seen. */
const SUGGESTED_TASKS = 200;

interface HeldOut {
  readonly title: string;
  readonly tasks: readonly PackTask[];
}

/**
 * Plays held-out tasks with each run's model that can play here, and with their base models.
 * Results are kept in the runs' folders.
 * @throws {Fault} `editor/restricted`, `editor/not-playable`, `editor/no-simulator`
 */
export async function evaluateRuns(
  runs: readonly Run[],
  engine: Engine,
  packs: Packs,
  tell: (progress: string) => void,
): Promise<void> {
  refuseInRestrictedMode(t('Nothing is played'));
  refuseOtherRoles(runs);
  const { measure } = await import('../../core/evaluation/comparison/measure');
  const playable = runs.filter(canPlay);
  if (playable.length === 0) {
    const names = runs.map((run) => runName(run)).join(', ');
    throw new Fault(
      'editor/not-playable',
      t('{0} cannot play here: a run needs to be done, with an ONNX graph in its model folder.', names),
    );
  }
  const heldOut = await chooseTasks(playable, packs);
  if (heldOut === undefined) return;
  const simulator = await engine.openSimulator();
  if (simulator === undefined) {
    throw new Fault(
      'editor/no-simulator',
      t('An evaluation needs a simulator to reply to the agents. Choose one first.'),
    );
  }
  const { LocalModel } = await import('../../core/model/local/model');
  const { localPlaces, configuration } = engine;
  const workspace = configuration.folder?.uri.fsPath ?? '';
  const [first, ...others] = playable.map((run) => runName(run));
  const title = others.length === 0 ? t('Evaluating {0}', first!) : t('Evaluating {0} runs', playable.length);
  await cancellable(title, async (signal, report) =>
    measure({
      ...heldOut,
      runs: playable,
      open: (place) => new LocalModel({ name: specAt(place, localPlaces, workspace), folder: place }),
      ...(await engine.pageParts()),
      log: await engine.log(),
      simulator,
      grader: await engine.grader(),
      prompts: await engine.prompts(),
      mode: engine.gradingMode,
      protocol: engine.protocol,
      sampling: { temperature: 0, maxTokens: engine.configuration.sampling.maxTokens },
      ...{ seed: SEED, rollouts: 1, concurrency: AT_ONCE, signal },
      onProgress: (agent, done, total) => {
        const words = t('{0}: {1} of {2} tasks', engine.calledBy(agent), grouped(done), grouped(total));
        report(words);
        tell(words);
      },
    }),
  );
}

interface TasksItem extends vscode.QuickPickItem {
  readonly heldOut: HeldOut;
}

/** Offers only tasks that are in no run's data. */
async function chooseTasks(runs: readonly Run[], packs: Packs): Promise<HeldOut | undefined> {
  const title = t('Evaluate');
  const items = taskItems(runs, packs);
  let heldOut: HeldOut = { title: '', tasks: [] };
  let amount = 0;
  const which = t('Held-out tasks: those that the runs learned from are left out');
  const howMany = t('How many tasks each model plays; greedy, one dialogue for each');
  const isAnswered = await runSteps([
    taking(
      (place) => pickOne({ title, placeholder: which, items, matchOnDetail: true, ...place }),
      (item) => (heldOut = item.heldOut),
    ),
    taking(
      (place) => {
        const items = amountItems(heldOut.tasks.length);
        const enough = items.find(({ amount }) => amount >= SUGGESTED_TASKS) ?? items.at(-1);
        return pickOne({ title, placeholder: howMany, items, active: (item) => item === enough, ...place });
      },
      (item) => (amount = item.amount),
    ),
  ]);
  if (!isAnswered) return undefined;
  return { title: heldOut.title, tasks: heldOut.tasks.slice(0, amount) };
}

/**
 * Tasks of the kind that the runs learned from come first: other kinds say nothing about a model that cannot play them.
 * Within a kind, tasks made for measuring come first.
 */
async function taskItems(runs: readonly Run[], packs: Packs): Promise<TasksItem[]> {
  const { distance, seenBy, unseen } = await import('../../core/evaluation/comparison/heldOut');
  const { worldTasks } = await import('../../core/task/starter/worlds');
  const { readTasks } = await import('../../core/task/pack');
  const seen = await seenBy(runs);
  const items: (TasksItem & { readonly rank: number })[] = [];
  for (const { file, name } of await packs.all()) {
    const all: PackTask[] = [];
    for await (const read of readTasks(file)) {
      // A run's results are rates of success, which a page without checks has not.
      if ('task' in read && (isProgram(read.task) || read.task.checks))
        all.push({ task: read.task, pack: path.basename(file) });
    }
    const tasks = unseen(all, seen);
    if (tasks.length === 0) continue;
    const words = t('{0} of {1} tasks', grouped(tasks.length), grouped(all.length));
    items.push({
      ...{ label: name, description: words, heldOut: { title: name, tasks } },
      rank: distance(all, seen),
    });
  }
  const detail = t('Of kinds that the starter model was not trained on');
  for (const [world, label] of [
    ['functions', t('Newly generated starter-world tasks')],
    ['pages', t('Newly generated web pages of the starter world')],
    ['twenty-questions', t('Newly generated twenty questions of the starter world')],
  ] as const) {
    // The starter models have not been trained on the structures of this split.
    const drawn = worldTasks({ world, split: 'development', seed: SEED, difficulty: 'standard' });
    const all = Array.from({ length: WORLD_TASKS }, () => ({ task: drawn.next().value }));
    const tasks = unseen(all, seen);
    items.push({ label, detail, heldOut: { title: worldTitle(world, t), tasks }, rank: distance(all, seen) });
  }
  const size = ({ heldOut }: TasksItem): number => heldOut.tasks.length;
  return items.toSorted((a, b) => a.rank - b.rank || (a.rank < 2 ? size(b) - size(a) : 0));
}

/** Half the widest 95 % interval, in percentage points. */
const widest = (tasks: number): number => (100 * 1.96 * 0.5) / Math.sqrt(tasks);

function amountItems(all: number) {
  const amounts = [...AMOUNTS.filter((amount) => amount < all), all];
  return amounts.map((amount) => ({
    amount,
    label: amount === all ? t('All {0} tasks', grouped(amount)) : t('The first {0} tasks', grouped(amount)),
    description: t('95 % interval of success up to {0} points wide', (2 * widest(amount)).toFixed(0)),
  }));
}
