import * as vscode from 'vscode';
import { commands, type CommandId } from '../contributions';
import { askWhole, pickOne, runSteps, taking, type Given, type Place } from '../steps';
import type { Pack, PackTask } from '../tasks/pack';
import { dialogues } from '../trajectories/words';
import { extentOf, playedOf, type Extent } from './extent';

const { t } = vscode.l10n;

/** Nobody means more dialogues of one task. */
const MOST_ROLLOUTS = 1000;

/** Who plays, as a person calls them, and what that costs. */
export interface Play {
  readonly agent: string;
  readonly simulator: string;
  /** Tasks that are suggested at most. */
  readonly suggested: number;
  /** A sentence; empty where nothing has a price. */
  readonly cost: (dialogues: number) => string;
}

/** What a person wants played, or the command that changes who plays. */
export type Answer = Extent<PackTask> | CommandId;

/**
 * @param played what agent and simulator have played already, as `id#rollout`
 * @returns undefined when the person left it
 */
export async function askExtent(
  { name, tasks: all }: Pack,
  played: readonly string[],
  play: Play,
): Promise<Answer | undefined> {
  const suggested = extentOf(all, played, play.suggested);
  const title = t('Collect dialogues of {0}', name);
  const known = playedOf(all, played);
  let tasks = suggested.tasks.length;
  let { rollouts } = suggested;
  let change: CommandId | undefined;
  const howMany =
    known === 0
      ? t('How many of its {0} tasks?', all.length)
      : t('How many of its {0} tasks? Already played and counted: {1}.', all.length, dialogues(known, t));
  const ofEach = t(
    'How many dialogues per task? Training learns from dialogues of one task that end differently.',
  );
  const isAnswered = await runSteps([
    taking(
      (place) => askWhole({ title, prompt: howMany, value: tasks, most: all.length, ...place }),
      (typed) => (tasks = typed),
    ),
    taking(
      (place) => askWhole({ title, prompt: ofEach, value: rollouts, most: MOST_ROLLOUTS, ...place }),
      (typed) => (rollouts = typed),
    ),
    taking(
      (place) => askWhether(title, tasks, rollouts, play, place),
      (item) => (change = item.change),
    ),
  ]);
  if (!isAnswered) return undefined;
  return change ?? { tasks: all.slice(0, tasks), rollouts };
}

interface PlayItem extends vscode.QuickPickItem {
  /** Undefined: play. */
  readonly change?: CommandId;
}

/** Shows who plays, how much and for how much, before anything is played. */
function askWhether(
  title: string,
  tasks: number,
  rollouts: number,
  { agent, simulator, cost }: Play,
  place: Place,
): Promise<Given<PlayItem>> {
  const count = tasks * rollouts;
  const items: PlayItem[] = [
    {
      label: `$(run-all) ${t('Play {0}', dialogues(count, t))}`,
      description: t('{0} tasks × {1}', tasks, rollouts),
      detail: cost(count),
    },
    {
      change: commands.chooseAgent,
      label: `$(hubot) ${t('Agent: {0}', agent)}`,
      description: t('Choose another'),
    },
    {
      change: commands.chooseSimulator,
      label: `$(account) ${t('Simulator: {0}', simulator)}`,
      description: t('Choose another'),
    },
  ];
  return pickOne({ title, placeholder: t('Dialogues are played, graded and logged.'), items, ...place });
}
