import { Fault } from '../fault';
import type { EventOf, LogEvent, NewEvent, Parting } from '../trajectory/event';
import type { TrajectoryLog } from '../trajectory/log';
import { developersOf, inheritedBy, type Trajectory, type Turn } from '../trajectory/trajectory';
import type { NewDialogue } from './dialogueParts';
import { endingAfter } from './state';

type Fork = Pick<NewDialogue, 'task' | 'pack' | 'protocol'> &
  Required<Pick<NewDialogue, 'parent' | 'inherited'>>;

/**
 * What a dialogue begins with that continues another one otherwise, from the agent's message of a turn or the reply to
 * it. If that turn was itself inherited, the parent is the dialogue in which it was first said: the turns of a parent
 * from there on are its own.
 * @throws {Fault} `dialogue/no-turn`
 */
export function forkOf(trajectory: Trajectory, at: Parting, log: Pick<TrajectoryLog, 'summary'>): Fork {
  const { task, started, turns } = trajectory;
  const { turn, by } = at;
  const before = turns.slice(0, inheritedBy(at).messages);
  const last = before.at(-1);
  const isThere =
    turn >= 1 &&
    before.length === inheritedBy(at).messages &&
    (by === 'reply'
      ? last !== undefined && endingAfter(last.agent, started.protocol) === undefined
      : last?.reply !== undefined || last === undefined);
  if (!isThere)
    throw new Fault(
      'dialogue/no-turn',
      `The dialogue ${trajectory.id} cannot be continued from ${by === 'reply' ? 'the reply to turn' : 'turn'} ${turn}: ${turns.length} turns are in the log.`,
    );
  const [shared, open] = by === 'reply' ? [before.slice(0, -1), last] : [before, undefined];
  return {
    ...{ task, protocol: started.protocol },
    ...(started.pack !== undefined && { pack: started.pack }),
    parent: { id: originOf(trajectory, at, log), turn, by, people: [...developersOf(trajectory)] },
    inherited: open === undefined ? shared : [...shared, { agent: open.agent }],
  };
}

function originOf({ id, started }: Trajectory, at: Parting, log: Pick<TrajectoryLog, 'summary'>): string {
  let origin = id;
  for (let parent: (Parting & { id: string }) | undefined = started.parent; parent && isBefore(at, parent);) {
    origin = parent.id;
    parent = log.summary(origin)?.parent;
  }
  return origin;
}

const isBefore = (one: Parting, other: Parting): boolean =>
  one.turn < other.turn || (one.turn === other.turn && one.by === 'message' && other.by === 'reply');

/** The events of these turns in another dialogue. What they took is counted in the first one only. */
export function copiedTurns(turns: readonly Turn[], episode: string): readonly NewEvent[] {
  return turns.flatMap(({ agent, reply, leak }) => [
    { ...unstamped(agent), episode, usage: undefined, timing: undefined },
    ...(reply === undefined
      ? []
      : [{ ...unstamped(reply), episode, usage: undefined, milliseconds: undefined }]),
    ...(leak === undefined ? [] : [{ ...unstamped(leak), episode }]),
  ]);
}

function unstamped<E extends EventOf<'agent-turn' | 'reply' | 'leak'>>(event: E): Omit<E, 'version' | 'at'> {
  const { version: _, at: __, ...said } = event;
  return said;
}

/** The turns of copied events, as they were logged. */
export function turnsIn(events: readonly LogEvent[]): Turn[] {
  const turns: Turn[] = [];
  for (const event of events) {
    if (event.event === 'agent-turn') turns.push({ agent: event });
    else if (event.event === 'reply') turns.push({ ...turns.pop()!, reply: event });
    else if (event.event === 'leak') turns.push({ ...turns.pop()!, leak: event });
  }
  return turns;
}
