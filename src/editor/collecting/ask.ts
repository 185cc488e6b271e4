import * as vscode from 'vscode';
import type { Pack, PackTask } from '../tasks/pack';
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
  const tasks = await askNumber({
    title,
    prompt:
      known === 0
        ? t('How many of its {0} tasks?', all.length)
        : t('How many of its {0} tasks? {1} dialogues are played already and count.', all.length, known),
    value: suggested.tasks.length,
    most: all.length,
  });
  if (tasks === undefined) return undefined;
  const rollouts = await askNumber({
    title,
    prompt: t('How many dialogues of each? Training learns from those of a task that end differently.'),
    value: suggested.rollouts,
    most: MOST_ROLLOUTS,
  });
  return rollouts === undefined ? undefined : { tasks: all.slice(0, tasks), rollouts };
}

/** A whole number from 1 to `most`. */
async function askNumber({
  title,
  prompt,
  value,
  most,
}: {
  readonly title: string;
  readonly prompt: string;
  readonly value: number;
  readonly most: number;
}): Promise<number | undefined> {
  const isOne = (text: string): boolean => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
  const typed = await vscode.window.showInputBox({
    ...{ title, prompt, value: String(value), ignoreFocusOut: true },
    validateInput: (text) =>
      isOne(text.trim()) ? undefined : t('Write a whole number from 1 to {0}.', most),
  });
  return typed === undefined ? undefined : Number(typed);
}
