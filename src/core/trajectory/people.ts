import { choicesOf, type Trajectory } from './trajectory';

/**
 * Pseudonyms of all who played the collaborator, wrote or edited a reply, or chose. Those who only rate, label, review
 * or judge the dialogue afterwards are left out.
 */
export function developersOf(trajectory: Trajectory): Set<string> {
  const { started, collaborator, turns } = trajectory;
  const developers = new Set<string>();
  for (const seat of [started.collaborator, collaborator]) {
    if (seat.kind === 'developer') developers.add(seat.name);
  }
  for (const { reply } of turns) {
    if (reply && reply.author !== 'simulator') developers.add(reply.by);
  }
  for (const { choice } of choicesOf(trajectory)) developers.add(choice.by);
  return developers;
}

/** The last person in the collaborator's seat, also after it went to a simulator. */
export function playerOf({
  started,
  handOvers,
}: Pick<Trajectory, 'started' | 'handOvers'>): string | undefined {
  const seats = [started.collaborator, ...handOvers.map(({ to }) => to)];
  return seats.findLast(({ kind }) => kind === 'developer')?.name;
}
