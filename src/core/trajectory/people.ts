import { choicesOf } from './choices';
import type { Trajectory } from './trajectory';

/**
 * Returns the pseudonyms of all people who took part: who played the collaborator, wrote or edited a reply, or chose.
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
