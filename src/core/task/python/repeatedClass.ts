import { functionsIn, type PythonFunction } from './functions';
import { sourceLines, type SourceLine } from './lines';
import { commentsAbove, definedBy, statementsIn, type Statement } from './statements';

/** A class's method that an answer gives, as if it were a function of the top level. */
interface Unwrapped {
  /** The answer with the method in place of the class. */
  readonly code: string;
  /** Members of the class that the file's has not; empty without any. */
  readonly members: string;
}

/**
 * Takes a method out of the class that an answer repeats around it. What the answer's class has besides, and the file's
 * has not, comes along; other members are left to the file's, since the answer was asked for the method alone.
 *
 * @param there the method in the file
 * @param around the statement of the file's top level that it is in
 * @returns undefined when the answer repeats no class around the method
 */
export function fromRepeatedClass(
  code: string,
  there: PythonFunction,
  { lines, around }: { readonly lines: readonly SourceLine[]; readonly around: Statement },
): Unwrapped | undefined {
  const own = functionsIn(code).filter(({ name }) => name === there.name);
  const method = own.at(-1);
  if (method === undefined || own.some(({ indent }) => indent === '')) return undefined;
  const answer = sourceLines(code);
  const repeated = statementsIn(answer).find(
    ({ firstLine, endLine }) => firstLine <= method.firstLine && method.firstLine < endLine,
  )!;
  const name = classNamed(repeated);
  if (name === undefined || name !== classNamed(around)) return undefined;

  const known = new Set(membersOf(lines, around, there.indent).flatMap(({ names }) => names));
  const members = membersOf(answer, repeated, method.indent);
  const isMethod = ({ names }: Member): boolean => names.includes(there.name);
  const isNew = ({ names }: Member): boolean => names.length > 0 && !names.some((each) => known.has(each));
  const textOf = (some: readonly Member[]): string => some.map(({ text }) => text).join('\n\n');
  const kept = answer.map(({ text }) => text);
  kept.splice(repeated.firstLine, repeated.endLine - repeated.firstLine, textOf(members.filter(isMethod)));
  return { code: kept.join('\n').trim(), members: textOf(members.filter(isNew)) };
}

const CLASS = /^(?:@.*\n|[ \t].*\n|\).*\n)*class[ \t]+([\p{L}_][\p{L}\p{N}_]*)/u;

const classNamed = ({ text }: Statement): string | undefined => CLASS.exec(text)?.[1];

interface Member {
  /** It has the comments above the member, and not the indentation of the class's body. */
  readonly text: string;
  readonly names: readonly string[];
}

/** @param indent of the members' first lines */
function membersOf(
  lines: readonly SourceLine[],
  { firstLine, endLine }: Statement,
  indent: string,
): Member[] {
  const body = lines
    .slice(firstLine, endLine)
    .filter(({ text, isInString }) => isInString || text.trim() === '' || text.startsWith(indent))
    .map(({ text, isInString }) => (isInString ? text : text.slice(indent.length)));
  const inside = sourceLines(body.join('\n'));
  return statementsIn(inside).map((statement) => {
    const from = commentsAbove(inside, statement);
    const text = inside
      .slice(from, statement.endLine)
      .map((line) => line.text)
      .join('\n');
    return { text, names: definedBy(statement) };
  });
}
