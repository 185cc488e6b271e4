import * as vscode from 'vscode';
import { grouped } from '../../core/text';
import { costOf, type Price, type ModelUse } from '../../core/trajectory/modelUsage';
import { idOf, type CommandId } from '../contributions';
import { askWhole, pickOne, runSteps, taking, type Given, type StepPosition } from '../inputSteps';
import type { Pack, ListedTask } from '../packs';
import { dialogues, dollars } from '../words';

const { t } = vscode.l10n;

const MAX_ROLLOUTS = 1000;

export interface Players {
  readonly agent: string;
  readonly simulator: string;
  readonly suggested: number;
  /** Tokens and cost in a sentence; empty where no model counts tokens. */
  readonly estimate: (dialogues: number) => string;
}

type ChosenExtent = Extent<ListedTask> | CommandId;

/** @param played dialogues of these two, as `id#rollout` */
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
  /** Undefined on the row that starts to play. */
  readonly change?: CommandId;
}

/** @param known number of these dialogues that are in the log already */
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

export interface Player {
  readonly name: string;
  readonly price?: Price;
  /** In this log. */
  readonly use?: ModelUse;
  /** Its finished dialogues in the log. */
  readonly played: number;
  /** Sides that it played in these; a dialogue with itself has two. */
  readonly sides: number;
  /** Sides that it will play in each dialogue. */
  readonly plays: 1 | 2;
}

/**
 * Extrapolates from earlier dialogues; empty where no model counts tokens.
 * @param players each model once, also where it plays both sides; the rules are no model
 */
export function estimateWords(count: number, players: readonly Player[]): string {
  const unknown = players.find(({ use, sides }) => use === undefined || sides === 0);
  if (unknown !== undefined)
    return t('Tokens and cost are unknown until {0} has played a dialogue: start with a few.', unknown.name);
  const counted = players.map(({ use, sides, plays, price }) => ({
    use: use!,
    share: (count * plays) / sides,
    price,
  }));
  const sumOf = (of: (use: ModelUse, price: Price | undefined) => number): number =>
    counted.reduce((sum, { use, share, price }) => sum + share * of(use, price), 0);
  const prompt = sumOf(({ promptTokens }) => promptTokens);
  const completion = sumOf(({ completionTokens }) => completionTokens);
  if (prompt + completion === 0) return '';
  const cost = players.some(({ price }) => price !== undefined)
    ? sumOf((use, price) => (price === undefined ? 0 : costOf(use, price)))
    : undefined;
  const tokens = t('{0} prompt and {1} completion tokens', rounded(prompt), rounded(completion));
  const all = cost === undefined ? tokens : t('{0} for {1}', tokens, dollars(cost));
  const basis = dialogues(Math.min(...players.map(({ played }) => played)), t);
  // Messages that no server counted are missing from the sums.
  return players.some(({ use }) => use!.uncounted > 0)
    ? t('At least {0}, going by {1} in this log.', all, basis)
    : t('About {0}, going by {1} in this log.', all, basis);
}

/** An estimate has two digits. */
const rounded = (tokens: number): string => grouped(Number(tokens.toPrecision(2)));

/** Per task: training learns from the difference between successes and failures. */
const ROLLOUTS = 4;

/** Where a dialogue costs time or money on a server; enough to see how the agent does. */
export const SUGGESTED_TASKS = 24;

export interface Extent<T> {
  readonly tasks: readonly T[];
  readonly rollouts: number;
}

/**
 * Counts the dialogues of these tasks that were played.
 * @param played each dialogue as `id#rollout`
 */
export function playedAmong(
  { tasks, rollouts }: Extent<{ readonly id: string }>,
  played: Iterable<string>,
): number {
  const ids = new Set(tasks.map(({ id }) => id));
  return [...played].filter((key) => {
    const end = key.lastIndexOf('#');
    return ids.has(key.slice(0, end)) && Number(key.slice(end + 1)) < rollouts;
  }).length;
}

/** Those of removed tasks do not count. */
export const playedOf = (all: readonly { readonly id: string }[], played: Iterable<string>): number =>
  playedAmong({ tasks: all, rollouts: Infinity }, played);

/**
 * Adds more tasks while there are others, then more dialogues of each.
 * @param played each dialogue as `id#rollout`; those of removed tasks do not count
 * @param most maximum number of tasks added at once
 */
export function extentOf<T extends { readonly id: string }>(
  all: readonly T[],
  played: Iterable<string>,
  most: number,
): Extent<T> {
  const atOnce = ROLLOUTS * Math.min(most, all.length);
  const times = Math.floor(playedOf(all, played) / atOnce) + 1;
  const tasks = all.slice(0, most * times);
  return { tasks, rollouts: Math.ceil((atOnce * times) / tasks.length) };
}
