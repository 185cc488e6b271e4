import type { Task } from '../task/task';
import type { Collaborator, EventOf } from '../trajectory/event';
import type { ShownCandidates, Trajectory, Turn } from '../trajectory/trajectory';
import { type Protocol, parseAgentMessage } from './protocol';

/** `chooser` while two candidates wait for a person, `nobody` when the dialogue is over. */
export type Mover = 'agent' | 'chooser' | 'collaborator' | 'nobody';

/** Holds only what the log says. */
export interface DialogueState {
  readonly id: string;
  readonly task: Task;
  readonly protocol: Protocol;
  readonly seed: number;
  agent: string;
  collaborator: Collaborator;
  turns: Turn[];
  pending: readonly ShownCandidates[];
  answer: string | undefined;
}

export function stateOf(trajectory: Trajectory): DialogueState {
  const { id, task, started, agent, collaborator, turns, pending = [], answer } = trajectory;
  const { protocol, seed } = started;
  const said = { turns: [...turns], pending, answer: answer?.answer };
  return { id, task, protocol, seed, agent, collaborator, ...said };
}

export function moverOf({ answer, pending, turns }: DialogueState): Mover {
  if (answer !== undefined) return 'nobody';
  if (undecidedOf(pending) !== undefined) return 'chooser';
  const last = turns.at(-1);
  return last === undefined || last.reply !== undefined ? 'agent' : 'collaborator';
}

export function undecidedOf(pending: readonly ShownCandidates[]): EventOf<'candidates'> | undefined {
  const last = pending.at(-1);
  return last?.choice === undefined ? last?.shown : undefined;
}

export type Ending = Omit<EventOf<'answered'>, 'version' | 'at'>;

type AgentTurn = Pick<EventOf<'agent-turn'>, 'episode' | 'text' | 'turn'>;

export function endingAfter(said: AgentTurn, { maxTurns }: Protocol): Ending | undefined {
  if (parseAgentMessage(said.text).answer !== undefined) return endingWith(said, 'answered');
  return said.turn >= maxTurns ? endingWith(said, 'turn-limit') : undefined;
}

/** The part behind the announcement, else all of the visible text. */
export function endingWith({ episode, text, turn }: AgentTurn, reason: Ending['reason']): Ending {
  const { answer, visible } = parseAgentMessage(text);
  return { event: 'answered', episode, turn, answer: answer ?? visible, reason };
}
