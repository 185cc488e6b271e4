import { choicesOf, isOver, type Trajectory } from '../../trajectory/trajectory';
import type { Picked } from '../../trajectory/event';
import type { TrajectoryFilter, TrajectoryLog } from '../../trajectory/log';
import { EpisodeCache } from '../episodeCache';
import { taskTitle } from '../../task/title';
import { opinionsOn, titleOf } from '../../trajectory/opinions';

/** Ordered from the lowest to the highest. */
export const stars = [1, 2, 3, 4, 5] as const;
export const thumbs = ['down', 'up'] as const;
/** `0` is the candidate that was shown first. The three ways not to prefer it have no order. */
export const choices = [0, 1, 'equal', 'neither'] as const satisfies readonly Picked[];

export type Stars = (typeof stars)[number];
export type Thumb = (typeof thumbs)[number];

export interface Said<Value> {
  readonly by: string;
  readonly value: Value;
  readonly comment?: string;
}

/** A dialogue, a turn of it, or two candidates of a turn. */
export interface Judged<Value> {
  readonly episode: string;
  readonly title: string;
  /** Absent for a whole dialogue. */
  readonly turn?: number;
  /** The judged message of the agent, or the two candidates in the order in which they were shown. */
  readonly messages?: readonly string[];
  readonly said: readonly Said<Value>[];
}

export interface Opinions {
  readonly stars: readonly Judged<Stars>[];
  readonly thumbs: readonly Judged<Thumb>[];
  readonly choices: readonly Judged<Picked>[];
}

export class PeoplesOpinions extends EpisodeCache<Opinions> {
  protected override read = opinionsIn;

  /**
   * Oldest dialogue first. Choices in an open dialogue are left out, because people who may still choose there must
   * not see them.
   */
  async of(log: TrajectoryLog, filter: TrajectoryFilter = {}): Promise<Opinions> {
    const everything = { sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY } as const;
    const asked = { ...filter, raters: Math.max(1, filter.raters ?? 0) };
    const ids = log.list({ filter: asked, ...everything }).rows.map(({ id }) => id);
    const all = [...(await this.readAll(log, ids)).values()];
    return {
      stars: all.flatMap((one) => one.stars),
      thumbs: all.flatMap((one) => one.thumbs),
      choices: all.flatMap((one) => one.choices),
    };
  }
}

function opinionsIn(trajectory: Trajectory): Opinions {
  const { id, task, labels = [], ratings = [], turns, state, abandoned } = trajectory;
  const of = { episode: id, title: titleOf(labels) ?? taskTitle(task) };
  const given = ratings.flatMap(({ by, stars: value, comment }) =>
    value === undefined ? [] : [said(by, value as Stars, comment)],
  );
  return {
    stars: given.length === 0 ? [] : [{ ...of, said: given }],
    thumbs: turns.flatMap(({ agent, ratings: ofTurn = [] }) => {
      const all = ofTurn.flatMap(({ by, thumb, comment }) =>
        thumb === undefined ? [] : [said(by, thumb, comment)],
      );
      return all.length === 0 ? [] : [{ ...of, turn: agent.turn, messages: [agent.text], said: all }];
    }),
    choices: isOver(state, abandoned?.reason)
      ? choicesOf(trajectory).map((choice) => ({
          ...of,
          turn: choice.shown.turn,
          messages: choice.shown.candidates.map(({ text }) => text),
          said: opinionsOn(choice).map(({ by, picked }) => said(by, picked)),
        }))
      : [],
  };
}

const said = <Value>(by: string, value: Value, comment?: string): Said<Value> => ({
  by,
  value,
  ...(comment && { comment }),
});
