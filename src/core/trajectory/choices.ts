import type { Choice, Trajectory } from './trajectory';

/** Every choice of the dialogue, from the first. */
export function choicesOf({ turns, pending = [] }: Trajectory): Choice[] {
  const shown = [...turns.flatMap(({ candidates = [] }) => candidates), ...pending];
  return shown.filter((each): each is Choice => each.choice !== undefined);
}
