import type { Trajectory } from './trajectory';

/** The pseudonyms of all people who took part: who had the collaborator's seat, or wrote or edited a reply. */
export function developersOf({ started, collaborator, turns }: Trajectory): Set<string> {
  const developers = new Set<string>();
  for (const seat of [started.collaborator, collaborator]) {
    if (seat.kind === 'developer') developers.add(seat.name);
  }
  for (const { reply } of turns) {
    if (reply && reply.author !== 'simulator') developers.add(reply.by);
  }
  return developers;
}
