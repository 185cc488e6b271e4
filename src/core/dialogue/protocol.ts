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

/** Markdown emphasis around a marker belongs to it. */
const OUTPUT = /(^|\s)[*_]*OUTPUT:[*_]*/g;
const ANSWER = /(^|\s)[*_]*I WANT TO ANSWER:[*_]*/g;

/**
 * Takes an agent's message apart: thoughts, `OUTPUT:`, the visible message, `I WANT TO ANSWER:`, the answer.
 *
 * A marker counts only in prose: not inside a code fence, a quotation or a comment. Nothing after the answer's marker
 * is a marker any more, except an `OUTPUT:` that follows it with nothing in between.
 */
export function parseAgentMessage(text: string): AgentMessage {
  const code = fencedRanges(text);
  const output = firstMarker(OUTPUT, text, code);
  const early = firstMarker(ANSWER, text, code);
  const outputIsInsideAnswer =
    output !== undefined &&
    early !== undefined &&
    early.end <= output.start &&
    text.slice(early.end, output.start).trim() !== '';
  if (output === undefined || outputIsInsideAnswer) {
    if (early === undefined) return { thoughts: '', visible: text.trim() };
    return {
      thoughts: '',
      visible: joinVisible(text.slice(0, early.start), text.slice(early.end)),
      answer: text.slice(early.end).trim(),
    };
  }
  const answerBeforeOutput = early !== undefined && early.end <= output.start;
  const thoughts = text.slice(0, answerBeforeOutput ? early.start : output.start).trim();
  const body = text.slice(output.end);
  if (answerBeforeOutput) return { thoughts, visible: body.trim(), answer: body.trim() };
  const marker = firstMarker(ANSWER, body, fencedRanges(body));
  if (marker === undefined) return { thoughts, visible: body.trim() };
  const answer = body.slice(marker.end).trim();
  return { thoughts, visible: joinVisible(body.slice(0, marker.start), answer), answer };
}

/** Cuts a reply to the limit, in Unicode code points so that no character is torn. */
export function limitReply(text: string, limit: number): string {
  const trimmed = text.trim();
  const characters = Array.from(trimmed);
  return characters.length <= limit ? trimmed : characters.slice(0, limit).join('');
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function joinVisible(before: string, answer: string): string {
  return [before.trim(), answer.trim()].filter((part) => part !== '').join('\n\n');
}

function firstMarker(marker: RegExp, text: string, code: readonly Range[]): Range | undefined {
  for (const match of text.matchAll(marker)) {
    const start = match.index + match[1]!.length;
    if (code.some((range) => range.start <= start && start < range.end)) continue;
    const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
    if (isProse(line)) return { start, end: match.index + match[0].length };
  }
  return undefined;
}

/** Whether a marker after this beginning of a line is meant as one: not in a Python comment, not inside quotes. */
function isProse(lineBefore: string): boolean {
  const comment = /^\s*# /.test(lineBefore);
  const quoted = ['"', '`'].some((quote) => lineBefore.split(quote).length % 2 === 0);
  return !comment && !quoted;
}

/** The code fences of a text, as CommonMark sees them; one that never closes reaches to the end. */
export function fencedRanges(text: string): Range[] {
  const ranges: Range[] = [];
  let open: { fence: string; start: number } | undefined;
  for (const match of text.matchAll(/^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm)) {
    const [whole, fence, info] = match as unknown as [string, string, string];
    if (open === undefined) {
      if (fence.startsWith('`') && info.includes('`')) continue;
      open = { fence, start: match.index };
    } else if (fence.startsWith(open.fence) && info.trim() === '') {
      ranges.push({ start: open.start, end: match.index + whole.length });
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push({ start: open.start, end: text.length });
  return ranges;
}
