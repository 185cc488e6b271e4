import { Fault } from '../../fault';
import { isObject, isTooDeep, jsonOrUndefined } from '../../json';
import { MB, readText } from '../../regularFile';
import { readJsonLines } from '../../task/jsonl';
import { ATIF } from './atif';
import { CLAUDE_CODE } from './claudeCode';
import { CODEX } from './codex';
import type { Session, SessionFormat } from './session';
import { STS } from './sts';

const FORMATS = { atif: ATIF, sts: STS, 'claude-code': CLAUDE_CODE, codex: CODEX } as const satisfies Record<
  string,
  SessionFormat
>;

export const SESSION_FORMATS: readonly SessionFormat[] = Object.values(FORMATS);

export type SessionLine = { readonly line: number } & (
  { readonly session: Session } | { readonly reason: string }
);

/** Sessions often begin with lines of other kinds. */
const MAX_LINES_TO_RECOGNISE = 200;
/** A file that is one JSON value is read at once. */
const MAX_DOCUMENT_BYTES = 64 * MB;
/** What a session's file holds is kept until its end. */
const MAX_SESSION_LINES = 500_000;

/** Undefined for a file of no such format. @throws {Fault} as `readJsonLines` */
export async function sessionsIn(
  file: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<SessionLine> | undefined> {
  const format = await formatOfLines(file, signal);
  if (format === 'rows') return undefined;
  if (format !== undefined) return fromLines(format, file, signal);
  const values = await valuesOf(file);
  const found = values?.map((value) => formatOf(value)).find((one) => one !== undefined);
  return values && found && fromValues(found, values);
}

const formatOf = (value: unknown): SessionFormat | undefined =>
  isObject(value) ? SESSION_FORMATS.find(({ recognises }) => recognises(value)) : undefined;

async function formatOfLines(
  file: string,
  signal: AbortSignal | undefined,
): Promise<SessionFormat | 'rows' | undefined> {
  let lines = 0;
  try {
    for await (const read of readJsonLines(file, { signal })) {
      if ('value' in read) {
        const format = formatOf(read.value);
        if (format !== undefined) return format;
        if (isObject(read.value) && 'dialogue_history' in read.value) return 'rows';
      }
      lines += 1;
      if (lines === MAX_LINES_TO_RECOGNISE) return undefined;
    }
  } catch (error) {
    // A list of trajectories is no JSON lines.
    if (!(error instanceof Fault && error.code === 'task/not-json-lines')) throw error;
  }
  return undefined;
}

/** A whole file that is one object or a list. */
async function valuesOf(file: string): Promise<readonly unknown[] | undefined> {
  let text: string;
  try {
    text = await readText(file, MAX_DOCUMENT_BYTES);
  } catch (error) {
    if (error instanceof Fault && error.code === 'file/too-large') return undefined;
    throw error;
  }
  const value = jsonOrUndefined(text.replace(/^\uFEFF/, ''));
  if (value === undefined || isTooDeep(value)) return undefined;
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

async function* fromLines(
  format: SessionFormat,
  file: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<SessionLine> {
  const reading = format.read();
  let begin: number | undefined;
  let lines = 0;
  for await (const read of readJsonLines(file, { signal })) {
    const { line } = read;
    lines += 1;
    if (lines > MAX_SESSION_LINES) {
      yield {
        line,
        reason: `The file has more than ${MAX_SESSION_LINES} lines; the rest is left out. Split it.`,
      };
      break;
    }
    if ('reason' in read) yield { line, reason: `${read.reason} ${LEFT_OUT}` };
    else if (!isObject(read.value)) yield { line, reason: `The line is no JSON object. ${LEFT_OUT}` };
    else {
      const done = reading.add(read.value);
      if (done !== undefined) yield lineOf(done, format.isWhole ? line : (begin ?? line));
      if (done !== undefined || begin === undefined) begin = line;
    }
  }
  const last = reading.end();
  if (last !== undefined) yield lineOf(last, begin ?? 1);
}

const LEFT_OUT = 'It is left out, and the rest of the file is read; export the session again if it matters.';

// oxlint-disable-next-line typescript/require-await -- the other way of reading waits for the file
async function* fromValues(format: SessionFormat, values: readonly unknown[]): AsyncGenerator<SessionLine> {
  const reading = format.read();
  for (const value of values) {
    const done = isObject(value) ? reading.add(value) : `An entry of the list is no JSON object. ${LEFT_OUT}`;
    if (done !== undefined) yield lineOf(done, 1);
  }
  const last = reading.end();
  if (last !== undefined) yield lineOf(last, 1);
}

const lineOf = (done: Session | string, line: number): SessionLine =>
  typeof done === 'string' ? { line, reason: done } : { line, session: done };
