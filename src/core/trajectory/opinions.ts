import { inOneLine } from '../text';
import { choicesOf, isChoice, type Choice, type ShownCandidates, type Trajectory } from './trajectory';
import type { EventOf, Picked, NewEvent } from './event';

type Rating = EventOf<'rating'>;
type TurnRating = EventOf<'turn-rating'>;
type Label = EventOf<'label'>;
type Judgement = EventOf<'judgement'>;

/** The last word of each person, in the order of the last words. */
export type Words<E> = Map<string, E>;

/** Replaces the same person's earlier word; an empty word only takes that back. */
function putWord<E extends { readonly by: string }>(words: Words<E>, word: E, saysNothing: boolean): void {
  words.delete(word.by);
  if (!saysNothing) words.set(word.by, word);
}

export const putRating = (words: Words<Rating>, rating: Rating): void =>
  putWord(words, rating, rating.stars === undefined && !rating.comment);

export const putTurnRating = (words: Words<TurnRating>, rating: TurnRating): void =>
  putWord(words, rating, rating.thumb === undefined && !rating.comment);

/**
 * Labels are in the order in which their titles were given. So a label that repeats its writer's title, to change tags
 * or note, keeps its place, and a title that someone else gave since stays the last.
 */
export function putLabel(words: Words<Label>, label: Label): void {
  const title = titleOf([label]);
  const saysNothing = title === undefined && tagsOf([label]).length === 0 && !label.note;
  const own = words.get(label.by);
  if (own === undefined || saysNothing || titleOf([own]) !== title) putWord(words, label, saysNothing);
  else words.set(label.by, label);
}

/**
 * If the candidates are not here any more, because their turn was played again, the judgement says nothing of this
 * dialogue.
 */
export function putJudgement(pairs: ShownCandidates[], judgement: Judgement): void {
  const pair = pairs[judgement.pair];
  if (!pair || !isChoice(pair)) return;
  const { turn, at } = pair.shown;
  if (turn !== judgement.turn || at !== judgement.shown) return;
  const others = pair.judgements?.filter(({ by }) => by !== judgement.by) ?? [];
  const judged: Choice = { ...pair, judgements: [...others, judgement] };
  pairs[judgement.pair] = judged;
}

/** The last rating with stars. Without stars it is the last remark. */
export const countedRating = (ratings: readonly Rating[] = []): Rating | undefined =>
  ratings.findLast(({ stars }) => stars !== undefined) ?? ratings.at(-1);

/** The last rating with a thumb. Without a thumb it is the last remark. */
export const countedTurnRating = (ratings: readonly TurnRating[] = []): TurnRating | undefined =>
  ratings.findLast(({ thumb }) => thumb !== undefined) ?? ratings.at(-1);

/**
 * A trajectory with no other ratings than those of one person.
 * @param by undefined for a person without a pseudonym, who has given none
 */
export function ratedBy(by: string | undefined, trajectory: Trajectory): Trajectory {
  return {
    ...trajectory,
    rating: trajectory.ratings?.find((rating) => rating.by === by),
    turns: trajectory.turns.map((turn) =>
      turn.ratings === undefined
        ? turn
        : { ...turn, rating: turn.ratings.find((rating) => rating.by === by) },
    ),
  };
}

interface Opinion {
  readonly by: string;
  readonly picked: Picked;
}

/** One opinion a person: who chose first, then who judged the choice. */
export function opinionsOn({ choice, judgements = [] }: Choice): Opinion[] {
  const others = judgements.filter(({ by }) => by !== choice.by);
  return [choice, ...others].map(({ by, picked }) => ({ by, picked }));
}

/** People who gave stars or a thumb, or chose between candidates. */
export function ratersOf(trajectory: Pick<Trajectory, 'turns' | 'pending' | 'ratings'>): Set<string> {
  const raters = new Set<string>();
  for (const { stars, by } of trajectory.ratings ?? []) if (stars !== undefined) raters.add(by);
  for (const { ratings = [] } of trajectory.turns) {
    for (const { thumb, by } of ratings) if (thumb !== undefined) raters.add(by);
  }
  for (const choice of choicesOf(trajectory)) for (const { by } of opinionsOn(choice)) raters.add(by);
  return raters;
}

/** The last title that anyone gave, in one line. */
export const titleOf = (labels: readonly Label[]): string | undefined =>
  labels.map(({ title = '' }) => inOneLine(title)).findLast((title) => title !== '');

/** Of all people, each in one line and once, sorted. */
export const tagsOf = (labels: readonly Label[]): string[] => {
  const tags = labels.flatMap(({ tags = [] }) => tags.map(inOneLine));
  return [...new Set(tags)].filter((tag) => tag !== '').sort();
};

/** Of all people, one below the other; empty without one. */
export const noteOf = (labels: readonly Label[]): string =>
  labels.flatMap(({ note = '' }) => (note === '' ? [] : [note])).join('\n');

export type Verdict = EventOf<'credit-verdict'> & { readonly agrees: boolean };

/** Replaces the same person's earlier verdict on the same critic. */
export function putVerdict(
  words: Words<EventOf<'credit-verdict'>>,
  verdict: EventOf<'credit-verdict'>,
): void {
  const key = JSON.stringify([verdict.by, verdict.critic]);
  words.delete(key);
  words.set(key, verdict);
}

/** Verdicts that were not withdrawn, in the order of the turns. */
export function verdictsOf({ turns }: Pick<Trajectory, 'turns'>): Verdict[] {
  return turns.flatMap(({ verdicts = [] }) => verdicts.filter(isGiven));
}

const isGiven = (verdict: EventOf<'credit-verdict'>): verdict is Verdict => verdict.agrees !== undefined;

/** Empty texts for none. */
export interface OwnLabel {
  readonly title: string;
  readonly tags: readonly string[];
  readonly note: string;
}

export function ownLabel({ labels = [] }: Pick<Trajectory, 'labels'>, by: string): OwnLabel {
  const own = labels.find((label) => label.by === by);
  if (own === undefined) return { title: '', tags: [], note: '' };
  return { title: titleOf([own]) ?? '', tags: tagsOf([own]), note: own.note ?? '' };
}

/**
 * Returns the events that change a person's label, to be logged together; none if nothing changes. A label that repeats
 * its writer's title gives no title. So if the person gives it again, after another title of someone else, the first
 * event takes it back.
 * @param change returns the parts that the person gives
 */
export function relabel(
  { id, labels = [] }: Pick<Trajectory, 'id' | 'labels'>,
  by: string,
  change: (before: OwnLabel) => Partial<OwnLabel>,
): NewEvent[] {
  const before = ownLabel({ labels }, by);
  const given = change(before);
  const after = { ...before, ...given };
  const { title, tags, note } = after;
  const isTitleAgain = title !== '' && given.title === before.title && titleOf(labels) !== title;
  if (isTitleAgain) return [labelEvent(id, by, { ...after, title: '' }), labelEvent(id, by, after)];
  const isSame = title === before.title && note === before.note && tags.join() === before.tags.join();
  return isSame ? [] : [labelEvent(id, by, after)];
}

const labelEvent = (episode: string, by: string, { title, tags, note }: OwnLabel): NewEvent => ({
  event: 'label',
  episode,
  ...(title !== '' && { title }),
  ...(tags.length > 0 && { tags }),
  ...(note !== '' && { note }),
  by,
});
