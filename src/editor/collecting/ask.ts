import * as vscode from 'vscode';
import { askText, runSteps, taking, type Given, type Place } from '../steps';
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
      : t('How many of its {0} tasks? Already played and counted: {1}.', all.length, dialogues(known, t));
  const ofEach = t(
    'How many dialogues per task? Training learns from dialogues of one task that end differently.',
  );
  const isAnswered = await runSteps([
    taking(
      (place) => askNumber({ title, prompt: howMany, value: tasks, most: all.length, place }),
      (typed) => (tasks = Number(typed)),
    ),
    taking(
      (place) => askNumber({ title, prompt: ofEach, value: rollouts, most: MOST_ROLLOUTS, place }),
      (typed) => (rollouts = Number(typed)),
    ),
  ]);
  return isAnswered ? { tasks: all.slice(0, tasks), rollouts } : undefined;
}

/** A whole number from 1 to `most`. */
function askNumber({
  title,
  prompt,
  value,
  most,
  place,
}: {
  readonly title: string;
  readonly prompt: string;
  readonly value: number;
  readonly most: number;
  readonly place: Place;
}): Promise<Given<string>> {
  const isOne = (text: string): boolean => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
  return askText({
    ...{ title, prompt, value: String(value), ...place },
    validate: (text) => (isOne(text.trim()) ? undefined : t('Enter a whole number from 1 to {0}.', most)),
  });
}
