import { fenceFor } from '../markdown';
import { AgentReading, type AgentMessage } from './agentMessage';
import { fencedRanges } from './markers';

/** The limits of a dialogue. ColBench plays 10 turns and cuts the collaborator's reply to 400 characters. */
export interface Protocol {
  /** Maximum number of agent turns; the last one counts as the answer. */
  readonly maxTurns: number;
  /** Maximum length of a reply in characters (Unicode code points). */
  readonly replyLimit: number;
}

export const colBenchProtocol: Protocol = { maxTurns: 10, replyLimit: 400 };

/** Of pages: replies are cut to 1,000 characters. */
export const colBenchPageProtocol: Protocol = { maxTurns: 10, replyLimit: 1000 };

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

/** A person's words in the form in which the prompt asks an agent for them; code gets a fence unless it has one. */
export function agentText(words: string, isAnswer: boolean): string {
  const said = words.trim();
  if (!isAnswer) return `OUTPUT:\n${said}`;
  const marks = fenceFor(said, 3);
  const code = fencedRanges(said).length > 0 ? said : `${marks}python\n${said}\n${marks}`;
  return `OUTPUT:\nI WANT TO ANSWER:\n${code}`;
}

/** Cuts between Unicode code points, so that no character is torn. */
export function limitReply(text: string, limit: number): string {
  const trimmed = text.trim();
  const characters = Array.from(trimmed);
  return characters.length <= limit ? trimmed : characters.slice(0, limit).join('');
}

/** Reply that a developer sends with one key; it is true of anyone who has no wish or does not know. */
export const NO_PREFERENCE =
  'I have no preference and no more information on that; choose what seems sensible to you.';
