import { AgentReading } from './reading';

/** The limits of a dialogue. ColBench plays 10 turns and cuts the collaborator's reply to 400 characters. */
export interface Protocol {
  /** Most agent turns; the last one counts as the answer. */
  readonly maxTurns: number;
  /** Most characters (Unicode code points) of a reply. */
  readonly replyLimit: number;
}

export const colBenchProtocol: Protocol = { maxTurns: 10, replyLimit: 400 };

/** An agent's message, taken apart. */
export interface AgentMessage {
  /** What stands before `OUTPUT:`; kept in the log, never shown to the collaborator during play. */
  readonly thoughts: string;
  /** What the collaborator sees. For a final answer this includes the answer. */
  readonly visible: string;
  /** What follows `I WANT TO ANSWER:`; absent while the agent still asks. */
  readonly answer?: string;
}

/**
 * Takes an agent's message apart: thoughts, `OUTPUT:`, the visible message, `I WANT TO ANSWER:`, the answer.
 *
 * A `<think>` block at the start is thought. Nothing after the answer's marker is a marker any more, except an
 * `OUTPUT:` that follows with nothing in between, and one that opens a line when there is no code in between: then the
 * agent only thought about answering.
 */
export function parseAgentMessage(text: string): AgentMessage {
  const reading = new AgentReading();
  reading.push(text);
  return reading.message;
}

/** Cuts a reply to the limit, in Unicode code points so that no character is torn. */
export function limitReply(text: string, limit: number): string {
  const trimmed = text.trim();
  const characters = Array.from(trimmed);
  return characters.length <= limit ? trimmed : characters.slice(0, limit).join('');
}
