import * as vscode from 'vscode';
import { idOf, type CommandId } from '../contributions';
import { askWhole, pickOne, runSteps, taking, type Given, type StepPosition } from '../inputSteps';
import type { Pack, ListedTask } from '../tasks/packs';
import { dialogues } from '../words';
import { extentOf, playedAmong, playedOf, type Extent } from './collectionExtent';

const { t } = vscode.l10n;

/** Maximum number of dialogues of one task that a person can ask for. */
const MAX_ROLLOUTS = 1000;

/** The players by the names that a person sees, and what dialogues take. */
export interface Players {
  readonly agent: string;
  readonly simulator: string;
  /** Maximum number of suggested tasks. */
  readonly suggested: number;
  /** Estimates tokens and cost in a sentence; empty where no model counts tokens. */
  readonly estimate: (dialogues: number) => string;
}

/** The extent that a person chose, or the command that changes who plays. */
type ChosenExtent = Extent<ListedTask> | CommandId;

/**
 * @param played dialogues that agent and simulator have played already, as `id#rollout`
 * @returns undefined when the person cancelled
 */
export async function askExtent(
  { name, tasks: all }: Pack,
  played: readonly string[],
  play: Players,
): Promise<ChosenExtent | undefined> {
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
      (place) => askWhole({ title, prompt: ofEach, value: rollouts, most: MAX_ROLLOUTS, ...place }),
      (typed) => (rollouts = typed),
    ),
    taking(
      (place) => {
        const extent = { tasks: all.slice(0, tasks), rollouts };
        return askWhether(title, extent, playedAmong(extent, played), play, place);
      },
      (item) => (change = item.change),
    ),
  ]);
  if (!isAnswered) return undefined;
  return change ?? { tasks: all.slice(0, tasks), rollouts };
}

interface PlayItem extends vscode.QuickPickItem {
  /** Command that changes who plays; undefined on the row that starts to play. */
  readonly change?: CommandId;
}

/**
 * Shows the players, the number of dialogues, and the tokens and cost before anything is played.
 * @param known number of these dialogues that are in the log already
 */
function askWhether(
  title: string,
  { tasks, rollouts }: Extent<ListedTask>,
  known: number,
  { agent, simulator, estimate }: Players,
  place: StepPosition,
): Promise<Given<PlayItem>> {
  const count = tasks.length * rollouts;
  const times = t('{0} tasks × {1}', tasks.length, rollouts);
  const items: PlayItem[] = [
    {
      label: `$(run-all) ${t('Play {0}', dialogues(count, t))}`,
      description: known === 0 ? times : t('{0}, already played: {1}', times, known),
      detail: known === count ? undefined : estimate(count - known),
    },
    {
      change: idOf('chooseAgent'),
      label: `$(hubot) ${t('Agent: {0}', agent)}`,
      description: t('Choose another'),
    },
    {
      change: idOf('chooseSimulator'),
      label: `$(account) ${t('Simulator: {0}', simulator)}`,
      description: t('Choose another'),
    },
  ];
  return pickOne({ title, placeholder: t('Dialogues are played, graded and logged.'), items, ...place });
}
