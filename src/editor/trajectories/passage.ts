import { wordsOf, type Passage } from '../../core/trajectory/search';
import type { Translate } from '../translate';
import { turnHeading } from './transcript';

/**
 * Where the first word of a query stands in a message of a transcript; where the message begins when the transcript writes
 * it in another way. @returns offsets in `transcript`
 */
export function passageIn(
  transcript: string,
  { turn, by }: Pick<Passage, 'turn' | 'by'>,
  query: string,
  t: Translate,
): { start: number; end: number } {
  const heading = `\n${turnHeading(turn, t)}\n`;
  const ofAgent = transcript.indexOf(heading);
  if (ofAgent === -1) return { start: 0, end: 0 };
  const afterAgent = ofAgent + heading.length;
  // No message opens a heading of its own.
  const ofReply = transcript.indexOf('\n### ', afterAgent);
  const from = by === 'agent' || ofReply === -1 ? afterAgent : transcript.indexOf('\n', ofReply + 1);
  const next = transcript.indexOf('\n### ', from);
  const message = transcript.slice(from, next === -1 ? undefined : next).toLowerCase();
  const word = wordsOf(query).find((one) => message.includes(one));
  if (word === undefined) return { start: from, end: from };
  const start = from + message.indexOf(word);
  return { start, end: start + word.length };
}

/** What the editor's search in a document is asked, so that it marks every word of a query. */
export function searchArguments(query: string): { searchString: string; isRegex: boolean } {
  const words = wordsOf(query);
  if (words.length === 1) return { searchString: words[0]!, isRegex: false };
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return { searchString: escaped.join('|'), isRegex: true };
}
