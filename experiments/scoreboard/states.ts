import { agentMessages } from '../../src/core/dialogue/conversation';
import { deriveSeed } from '../../src/core/seed';
import { inFlight } from '../../src/core/concurrency';
import type { Model } from '../../src/core/model/model';
import { LOG_VERSION, type EventOf } from '../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../src/core/trajectory/log';
import { digestOf, type Surroundings } from './surroundings';
import type { CreditState } from './monteCarloCredit';

/** The part of a state that is stored; the rest is read from the log. */
export interface DrawnState {
  readonly id: string;
  /** The dialogue in the log, and the turn, from 0, for which candidates are sampled. */
  readonly episode: string;
  readonly turn: number;
  readonly candidates: readonly EventOf<'agent-turn'>[];
}

/** Histories to try per wanted state: one whose sampled turns are all equal has nothing to rank. */
const SPARE = 2;
const AT_ONCE = 8;

/**
 * Draws states with the seed of the plan: dialogues of a collection, one turn of each, and candidates of the agent for
 * that turn. The first and the last turn may be drawn, too.
 */
export async function drawStates(
  log: TrajectoryLog,
  collection: string,
  agent: Model,
  to: Surroundings,
): Promise<DrawnState[]> {
  const { states, seed } = to.plan.credit;
  const episodes = [...log.collected(collection)]
    .filter(([, { state, damaged }]) => state === 'answered' && !damaged)
    .map(([job, { episode }]) => ({ episode, lot: digestOf(seed, job) }))
    .sort((a, b) => a.lot.localeCompare(b.lot))
    .slice(0, SPARE * states);
  const drawn = new Map<string, DrawnState>();
  await inFlight(episodes, AT_ONCE, async ({ episode, lot }) => {
    const trajectory = await log.trajectory(episode);
    if (trajectory === undefined) return;
    const turn = deriveSeed(seed, lot) % trajectory.turns.length;
    const state = { id: lot, trajectory, history: trajectory.turns.slice(0, turn) };
    const candidates = await sampled(state, agent, to);
    if (candidates.length > 1) drawn.set(lot, { id: lot, episode, turn, candidates });
  });
  return episodes.flatMap(({ lot }) => drawn.get(lot) ?? []).slice(0, states);
}

/** Samples distinct turns that the agent might take. */
async function sampled(
  { id, trajectory, history }: Omit<CreditState, 'candidates'>,
  agent: Model,
  { plan, prompts, signal }: Surroundings,
): Promise<EventOf<'agent-turn'>[]> {
  const { samples, mostCandidates, seed } = plan.credit;
  const { task, started } = trajectory;
  const messages = agentMessages(task, history, started.protocol, prompts);
  const turn = history.length + 1;
  const position = { description: task.description, turn };
  const generations = await Promise.all(
    Array.from({ length: samples }, (_, i) => {
      const settings = { temperature: 1, maxTokens: plan.maxTokens, seed: deriveSeed(seed, id, i) };
      return agent.generate(messages, settings, { position, signal });
    }),
  );
  const different = new Map(generations.map((generation) => [generation.text, generation]));
  const at = new Date().toISOString();
  return [...different.values()]
    .slice(0, mostCandidates)
    .map(({ text, finishReason, tokens, promptTokenIds }): EventOf<'agent-turn'> => ({
      ...{ event: 'agent-turn', version: LOG_VERSION, at, episode: id, turn, model: agent.name },
      ...{ text, finishReason, tokens, promptTokenIds },
    }));
}
