import * as vscode from 'vscode';
import { costOf, type Price } from '../../core/trajectory/cost';
import type { ModelUse } from '../../core/trajectory/use';
import { idOf, type CommandId } from '../contributions';
import { dollars } from '../models/use';
import { askWhole, pickOne, runSteps, taking, type Given, type StepPosition } from '../steps';
import type { Pack, ListedTask } from '../tasks/pack';
import { dialogues } from '../trajectories/words';
import { extentOf, playedOf, type Extent } from './extent';

const { t } = vscode.l10n;

/** Maximum number of dialogues of one task that a person can ask for. */
const MOST_ROLLOUTS = 1000;

/** The players by the names that a person sees, and the cost of dialogues. */
export interface Players {
  readonly agent: string;
  readonly simulator: string;
  /** Maximum number of suggested tasks. */
  readonly suggested: number;
  /** Returns a sentence; empty where nothing has a price. */
  readonly cost: (dialogues: number) => string;
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
  /** Command that changes who plays; undefined on the row that starts to play. */
  readonly change?: CommandId;
}

/** Shows the players, the number of dialogues and the cost before anything is played. */
function askWhether(
  title: string,
  tasks: number,
  rollouts: number,
  { agent, simulator, cost }: Players,
  place: StepPosition,
): Promise<Given<PlayItem>> {
  const count = tasks * rollouts;
  const items: PlayItem[] = [
    {
      label: `$(run-all) ${t('Play {0}', dialogues(count, t))}`,
      description: t('{0} tasks × {1}', tasks, rollouts),
      detail: cost(count),
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

/** A model that will play, with its use so far. */
export interface Player {
  /** Name that a person sees. */
  readonly name: string;
  readonly price?: Price;
  /** Its use in this log. */
  readonly use?: ModelUse;
  /** Number of dialogues in the log in which it took part. */
  readonly played: number;
}

/**
 * Estimates the cost of dialogues from those before; empty where no model has a price.
 * @param players each model once, also where it plays both sides
 */
export function costWords(count: number, players: readonly Player[]): string {
  const priced = players.filter(({ price }) => price !== undefined);
  if (priced.length === 0) return '';
  const unknown = priced.find(({ use, played }) => use === undefined || played === 0);
  if (unknown !== undefined)
    return t('What it costs is known as soon as {0} has played a dialogue: begin with a few.', unknown.name);
  const sum = priced.reduce(
    (total, { price, use, played }) => total + (count * costOf(use!, price!)) / played,
    0,
  );
  const basis = Math.min(...priced.map(({ played }) => played));
  return t('Costs about {0}, by {1} in this log.', dollars(sum), dialogues(basis, t));
}
