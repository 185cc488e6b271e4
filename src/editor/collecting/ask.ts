import * as vscode from 'vscode';
import { askWhole, runSteps, taking } from '../steps';
import type { Pack, PackTask } from '../tasks/pack';
import { dialogues } from '../trajectories/words';
import { extentOf, playedOf, type Extent } from './extent';

const { t } = vscode.l10n;

/** Nobody means more dialogues of one task. */
const MOST_ROLLOUTS = 1000;

/** @param played what agent and simulator have played already, as `id#rollout` */
export async function askExtent(
  { name, tasks: all }: Pack,
  played: readonly string[],
): Promise<Extent<PackTask> | undefined> {
  const suggested = extentOf(all, played);
  const title = t('Collect dialogues of {0}', name);
  const known = playedOf(all, played);
  let tasks = suggested.tasks.length;
  let { rollouts } = suggested;
  const howMany =
    known === 0
      ? t('How many of its {0} tasks?', all.length)
      : t('How many of its {0} tasks? Played already, which counts: {1}.', all.length, dialogues(known, t));
  const ofEach = t('How many dialogues of each? Training learns from those of a task that end differently.');
  const isAnswered = await runSteps([
    taking(
      (place) => askWhole({ title, prompt: howMany, value: tasks, most: all.length, ...place }),
      (typed) => (tasks = typed),
    ),
    taking(
      (place) => askWhole({ title, prompt: ofEach, value: rollouts, most: MOST_ROLLOUTS, ...place }),
      (typed) => (rollouts = typed),
    ),
  ]);
  return isAnswered ? { tasks: all.slice(0, tasks), rollouts } : undefined;
}
