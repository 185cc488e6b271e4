import type { EventOf } from '../trajectory/event';
import { type Protocol, parseAgentMessage } from './protocol';

/** The event that ends a dialogue. */
export type Ending = Omit<EventOf<'answered'>, 'version' | 'at'>;

type AgentTurn = Pick<EventOf<'agent-turn'>, 'episode' | 'text' | 'turn'>;

/** Returns the event that ends the dialogue after this message of the agent, if it ends. */
export function endingAfter(said: AgentTurn, { maxTurns }: Protocol): Ending | undefined {
  if (parseAgentMessage(said.text).answer !== undefined) return endingWith(said, 'answered');
  return said.turn >= maxTurns ? endingWith(said, 'turn-limit') : undefined;
}

/** Makes the message the answer: the part behind the announcement, else all of its visible text. */
export function endingWith({ episode, text, turn }: AgentTurn, reason: Ending['reason']): Ending {
  const { answer, visible } = parseAgentMessage(text);
  return { event: 'answered', episode, turn, answer: answer ?? visible, reason };
}
