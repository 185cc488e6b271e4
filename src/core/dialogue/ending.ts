import type { EventOf } from '../trajectory/event';
import { parseAgentMessage, type Protocol } from './protocol';

export type Ending = Omit<EventOf<'answered'>, 'version' | 'at'>;

/** A message of the agent, as far as it may end the dialogue. */
type Said = Pick<EventOf<'agent-turn'>, 'episode' | 'text' | 'turn'>;

/** What ends the dialogue after this message of the agent, if it does. */
export function endingAfter(said: Said, { maxTurns }: Protocol): Ending | undefined {
  if (parseAgentMessage(said.text).answer !== undefined) return endingWith(said, 'answered');
  return said.turn >= maxTurns ? endingWith(said, 'turn-limit') : undefined;
}

/** The message is the answer; without the words that announce one, all of it that is said. */
export function endingWith({ episode, text, turn }: Said, reason: Ending['reason']): Ending {
  const { answer, visible } = parseAgentMessage(text);
  return { event: 'answered', episode, turn, answer: answer ?? visible, reason };
}
