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
  const isInside = insideAnswers(answers, rest);
  const output = clearest(
    markers.filter((marker) =>
      unfinished
        ? marker.name === 'output' && marker.opensLine && marker.upperCase
        : marker.name === 'output' && !isInside(marker),
    ),
  );
  if (unfinished && output === undefined) return { thoughts: joined(thinking, rest), visible: '' };
  const { start, end } = output ?? { start: 0, end: 0 };
  const said = rest.slice(0, start).trimEnd().length;
  const swapped = answers.find((answer) => said <= answer.end && answer.end <= start);
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
  const thoughts: string[] = [];
  const taken = (unfinished: boolean, rest: string): ReturnType<typeof takeThinking> => ({
    thinking: joined(...thoughts),
    unfinished,
    rest,
  });
  let rest = text;
  for (;;) {
    const [opening = ''] = /^\s*<think(?:ing)?>/i.exec(rest) ?? [];
    const closing = /<\/think(?:ing)?>/i.exec(rest);
    if (opening === '' && (closing === null || !isClosedOnly(rest.slice(0, closing.index))))
      return taken(false, rest);
    if (closing === null) return taken(true, rest.slice(opening.length));
    thoughts.push(rest.slice(opening.length, closing.index));
    rest = rest.slice(closing.index + closing[0].length);
  }
}

/** Whether the closing tag after this text ends thoughts that began before it, and is not part of code. */
function isClosedOnly(before: string): boolean {
  // A fence that is still open reaches to the end, where the tag stands.
  return !/<think/i.test(before) && fencedRanges(`${before}\n`).at(-1)?.end !== before.length + 1;
}

/** Tells of an `OUTPUT:` whether it stands inside the answer that one of these markers opens. */
function insideAnswers(answers: readonly Marker[], text: string): (output: Marker) => boolean {
  const [first] = answers;
  if (first === undefined) return () => false;
  const toLineEnd = (at: number): number => {
    const end = text.indexOf('\n', at);
    return end === -1 ? text.length : end;
  };
  // Where the first of the answers has said anything, and where the first line of code ends that an answer has.
  const said = text.slice(first.end).search(/\S/);
  const saidAt = said === -1 ? text.length : first.end + said;
  const begun = answers.find(({ end }) => hasCode(text.slice(end, toLineEnd(end))));
  let codeEnd = begun === undefined ? text.length : toLineEnd(begun.end);
  for (let at = toLineEnd(first.end) + 1; at < codeEnd; at = toLineEnd(at) + 1) {
    const end = toLineEnd(at);
    if (hasCode(text.slice(at, end))) codeEnd = Math.min(codeEnd, end);
  }
  return ({ start, opensLine }) => (opensLine ? codeEnd <= start && saidAt < start : saidAt < start);
}

/** The marker that is most surely meant: in upper case before lower, opening a line before amid one, then the first. */
function clearest(markers: readonly Marker[]): Marker | undefined {
  const doubt = ({ opensLine, upperCase }: Marker): number => (upperCase ? (opensLine ? 0 : 1) : 2);
  return markers.toSorted((a, b) => doubt(a) - doubt(b) || a.start - b.start)[0];
}

const joined = (...parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
