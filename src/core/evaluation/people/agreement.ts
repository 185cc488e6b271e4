import type { TrajectoryFilter, TrajectoryLog } from '../../trajectory/log';
import { wilson, type Figure } from '../interval';
import { figuresOf } from '../statistics';
import { alphaOf, type Alpha } from './alpha';
import {
  choices,
  stars,
  thumbs,
  type Opinions,
  type PeoplesOpinions,
  type Judged,
  type Said,
} from './opinions';

/** Figures in some dialogues; undefined where nothing contributes. */
export interface Person {
  readonly name: string;
  /** Dialogues that the person played, and the tasks of those that are graded. */
  readonly dialogues: number;
  readonly tasks: number;
  readonly success?: Figure;
  readonly leak?: Figure;
  readonly stars?: JudgedFigure;
  readonly thumbs?: JudgedFigure;
  /**
   * Share of choices for the candidate shown first, among choices for one of the two: about half where order does not
   * matter.
   */
  readonly first?: JudgedFigure;
  /** Share of choices of neither candidate, or of both. */
  readonly undecided?: JudgedFigure;
}

type JudgedFigure = Figure & { readonly of: number };

/** A judgement on which people differ. `value` is as in the log. */
export type Disagreement = Judged<number | string> & {
  readonly kind: keyof Opinions;
  /** 0 to 1: distance between the two most different opinions. */
  readonly distance: number;
};

export interface PeoplesAgreement {
  readonly people: readonly Person[];
  /** Tasks with a graded dialogue of each person who played: success is comparable only on them. */
  readonly shared: number;
  /**
   * Alpha of the stars of a dialogue (ordinal), of the thumbs of a turn and of the choice between two candidates
   * (nominal).
   */
  readonly alpha: Readonly<Record<keyof Opinions, Alpha>>;
  /** The furthest apart come first. */
  readonly disagreements: readonly Disagreement[];
}

export async function agreementIn(
  log: TrajectoryLog,
  opinions: PeoplesOpinions,
  filter: TrajectoryFilter = {},
): Promise<PeoplesAgreement> {
  const said = await opinions.of(log, filter);
  const played = new Map(
    log.valuesOf('player', filter).map(({ value }) => [value, log.outlines({ ...filter, player: value })]),
  );
  const judges = Object.values(said).flatMap((units: readonly Judged<unknown>[]) =>
    units.flatMap((unit) => unit.said.map(({ by }) => by)),
  );
  const names = [...new Set([...played.keys(), ...judges])].sort();
  const graded = new Map(
    [...played].map(([name, rows]) => [
      name,
      new Set(rows.flatMap(({ task, success }) => (success === null ? [] : [task]))),
    ]),
  );
  const [first, ...others] = [...graded.values()].filter(({ size }) => size > 0);
  return {
    people: names.map((name) => {
      const rows = played.get(name) ?? [];
      const { success, leak } = figuresOf(rows);
      return {
        name,
        dialogues: rows.length,
        tasks: graded.get(name)?.size ?? 0,
        ...(success && { success }),
        ...(leak && { leak }),
        ...judgedBy(name, said),
      };
    }),
    shared:
      others.length === 0 ? 0 : [...first!].filter((task) => others.every((tasks) => tasks.has(task))).length,
    alpha: {
      stars: alphaOf(said.stars.map(values), stars, 'ordinal'),
      thumbs: alphaOf(said.thumbs.map(values), thumbs, 'nominal'),
      choices: alphaOf(said.choices.map(values), choices, 'nominal'),
    },
    disagreements: disagreementsIn(said),
  };
}

const values = <Value>({ said }: { said: readonly Said<Value>[] }): Value[] => said.map(({ value }) => value);

function judgedBy(name: string, said: Opinions): Partial<Person> {
  const own = <Value>(units: readonly Judged<Value>[]): Value[] =>
    units.flatMap((unit) => unit.said.flatMap(({ by, value }) => (by === name ? [value] : [])));
  const [given, turns, picked] = [own<number>(said.stars), own(said.thumbs), own(said.choices)];
  const onOne = picked.filter((one) => typeof one === 'number');
  return {
    ...(given.length > 0 && { stars: meanStars(given) }),
    ...(turns.length > 0 && { thumbs: share(turns.filter((thumb) => thumb === 'up').length, turns.length) }),
    ...(onOne.length > 0 && { first: share(onOne.filter((one) => one === 0).length, onOne.length) }),
    ...(picked.length > 0 && { undecided: share(picked.length - onOne.length, picked.length) }),
  };
}

/**
 * Stars count as shares of the way from the fewest to the most, for which Wilson's interval is honest even with few
 * values.
 */
function meanStars(given: readonly number[]): JudgedFigure {
  const of = given.length;
  const value = given.reduce((sum, one) => sum + one, 0) / of;
  const [fewest, most] = [stars[0], stars.at(-1)!];
  const { low, high } = wilson((value - fewest) / (most - fewest), of);
  const among = (rate: number): number => fewest + rate * (most - fewest);
  return { value, of, interval: { low: among(low), high: among(high) } };
}

const share = (count: number, of: number): JudgedFigure => ({
  value: count / of,
  interval: wilson(count / of, of),
  of,
});

const distances = {
  stars: (a: number, b: number) => Math.abs(a - b) / (stars.length - 1),
  thumbs: () => 1,
  // People who each prefer another candidate contradict each other; a person who prefers none differs by half.
  choices: (a: unknown, b: unknown) => (typeof a === 'number' && typeof b === 'number' ? 1 : 0.5),
} satisfies Record<keyof Opinions, (a: never, b: never) => number>;

function disagreementsIn(said: Opinions): Disagreement[] {
  const found = (Object.keys(distances) as (keyof Opinions)[]).flatMap((kind) => {
    const distanceOf = distances[kind] as (a: unknown, b: unknown) => number;
    return (said[kind] as readonly Judged<number | string>[]).flatMap((unit) => {
      const different = [...new Set(values(unit))];
      const apart = different.flatMap((a, index) => different.slice(index + 1).map((b) => distanceOf(a, b)));
      return apart.length === 0 ? [] : [{ ...unit, kind, distance: Math.max(...apart) }];
    });
  });
  return found.sort((a, b) => b.distance - a.distance);
}
