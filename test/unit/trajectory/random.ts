import type { NewEvent } from '../../../src/core/trajectory/event';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  graded,
  kim,
  label,
  leak,
  reply,
  review,
  simulator,
  started,
  verdict,
} from '../../fixtures/log';

/** Makes a generator of numbers in [0, 1) by mulberry32; equal seeds give equal numbers. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Time at which no candidates were shown. */
const NEVER = '2000-01-01T00:00:00.000Z';

/** Makes random events in any order, even ones that no dialogue would produce, as a damaged log may hold them. */
export function anyEvents(episode: string, random: () => number): NewEvent[] {
  const collection = `collection of ${episode}`;
  const turn = (): number => 1 + Math.floor(random() * 4);
  const makers: (() => NewEvent)[] = [
    () => agentTurn(episode, turn()),
    () => agentTurn(episode, turn()),
    () => candidates(episode, turn()),
    () => choice(episode, turn(), ([0, 1, 'equal', 'neither'] as const)[turn() - 1]!),
    () => reply(episode, turn()),
    () => ({ ...reply(episode, turn(), kim), milliseconds: Math.floor(random() * 9000) }) as NewEvent,
    () => leak(episode, turn(), Math.round(random() * 100) / 100, random() < 0.3),
    () => ({ event: 'hand-over', episode, turn: turn(), to: random() < 0.5 ? kim : simulator }),
    () => answered(episode, turn()),
    () => graded(episode, Math.round(random() * 10) / 10, random() < 0.5 ? 'fixed' : 'paper'),
    () => ({ event: 'grade', episode, grade: { mode: 'fixed', reward: null, success: null, tests: [] } }),
    () => ({ event: 'rating', episode, by: 'kim', ...(random() < 0.7 && { stars: turn() }) }),
    () => ({ event: 'rating', episode, by: 'lee', ...(random() < 0.7 && { stars: turn() }) }),
    () => ({ event: 'turn-rating', episode, turn: turn(), thumb: 'up', by: 'kim' }),
    () => ({
      event: 'turn-rating',
      episode,
      turn: turn(),
      by: 'lee',
      ...(random() < 0.7 && { thumb: 'down' }),
    }),
    () => label(episode, 'kim', random() < 0.7 ? { title: `A ${turn()}`, tags: [`t${turn()}`, 'odd'] } : {}),
    () => label(episode, 'lee', random() < 0.7 ? { tags: [`t${turn()}`], note: `Note ${turn()}` } : {}),
    () => review(episode, 'lee', ([undefined, 'accepted', 'redo'] as const)[turn() % 3]),
    () => ({ event: 'judgement', episode, turn: turn(), pair: 0, shown: NEVER, picked: 1, by: 'lee' }),
    () => verdict(episode, turn(), random() < 0.7 ? random() < 0.5 : undefined),
    () => ({ event: 'turn-superseded', episode, turn: turn() }),
    () => ({ event: 'abandoned', episode, reason: random() < 0.5 ? 'failed' : 'skipped', message: 'No.' }),
    () => ({ event: 'resumed', episode }),
    () => ({ event: 'resumed', episode, agent: 'another' }),
  ];
  if (random() < 0.1)
    makers.push(
      () => ({ event: 'deleted', episode }),
      () => ({ event: 'undeleted', episode }),
      () => started(episode, { seed: 8, collection }),
    );
  const count = Math.floor(random() * 14);
  const events = Array.from({ length: count }, () => makers[Math.floor(random() * makers.length)]!());
  return [started(episode, { rollout: turn(), collection }), ...events];
}
