import { fencedRanges, hasCode, markersOf, type Marker } from './markers';

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
  const { thinking, unfinished, rest } = takeThinking(text);
  const markers = markersOf(rest);
  const answers = unfinished ? [] : markers.filter(({ name }) => name === 'answer');
  const output = clearest(
    markers.filter((marker) =>
      unfinished
        ? marker.name === 'output' && marker.opensLine && marker.upperCase
        : marker.name === 'output' && !answers.some((answer) => isInside(marker, answer, rest)),
    ),
  );
  if (unfinished && output === undefined) return { thoughts: joined(thinking, rest), visible: '' };
  const { start, end } = output ?? { start: 0, end: 0 };
  const swapped = answers.find((a) => a.end <= start && isBlank(rest.slice(a.end, start)));
  const thoughts = joined(thinking, rest.slice(0, swapped?.start ?? start));
  const answerMarker =
    swapped === undefined
      ? clearest(markers.filter((marker) => marker.name === 'answer' && marker.start >= end))
      : { start: end, end };
  if (answerMarker === undefined) return { thoughts, visible: rest.slice(end).trim() };
  const answer = rest.slice(answerMarker.end).trim();
  return { thoughts, visible: joined(rest.slice(end, answerMarker.start), answer), answer };
}

/** A text without the `<think>` block that reasoning models put first when their server does not take it out. */
export function withoutThinking(text: string): string {
  const { unfinished, rest } = takeThinking(text);
  return unfinished ? '' : rest.trim();
}

/** Cuts a reply to the limit, in Unicode code points so that no character is torn. */
export function limitReply(text: string, limit: number): string {
  const trimmed = text.trim();
  const characters = Array.from(trimmed);
  return characters.length <= limit ? trimmed : characters.slice(0, limit).join('');
}

/** Takes `<think>` blocks off the start. Some chat templates write the opening tag into the prompt already. */
function takeThinking(text: string): { thinking: string; unfinished: boolean; rest: string } {
  let thinking = '';
  let rest = text;
  for (;;) {
    const [opening = ''] = /^\s*<think(?:ing)?>/i.exec(rest) ?? [];
    const closing = /<\/think(?:ing)?>/i.exec(rest);
    if (opening === '' && (closing === null || !isClosedOnly(rest, closing.index)))
      return { thinking, unfinished: false, rest };
    if (closing === null) return { thinking, unfinished: true, rest: rest.slice(opening.length) };
    thinking = joined(thinking, rest.slice(opening.length, closing.index));
    rest = rest.slice(closing.index + closing[0].length);
  }
}

/** Whether the closing tag at this position ends thoughts that began before the text, and is not part of code. */
const isClosedOnly = (text: string, position: number): boolean =>
  !/<think/i.test(text.slice(0, position)) &&
  !fencedRanges(text).some(({ start, end }) => start <= position && position < end);

/** Whether `output` stands inside the answer that `answer` opens. */
function isInside(output: Marker, answer: Marker, text: string): boolean {
  if (answer.end > output.start) return false;
  const between = text.slice(answer.end, output.start);
  return !isBlank(between) && (!output.opensLine || hasCode(between));
}

/** The marker that is most surely meant: in upper case before lower, opening a line before amid one, then the first. */
function clearest(markers: readonly Marker[]): Marker | undefined {
  const doubt = ({ opensLine, upperCase }: Marker): number => (upperCase ? (opensLine ? 0 : 1) : 2);
  return markers.toSorted((a, b) => doubt(a) - doubt(b) || a.start - b.start)[0];
}

const isBlank = (text: string): boolean => text.trim() === '';

const joined = (...parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
