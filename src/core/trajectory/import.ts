import { basename } from 'node:path';
import { Fault } from '../fault';
import { readJsonLines } from '../task/jsonl';
import { isProgram, type Task } from '../task/task';
import type { Collaborator, EventOf, NewEvent } from './event';
import type { LineProblem, TrajectoryLog } from './log';
import { EDITOR_TERMS } from './modelTerms';
import { parsePublishedRow, type PublishedRow, type Replier } from './publishedRow';
import { sessionsIn, type SessionLine } from './sessions/formats';
import { defined, digestOf, type Session } from './sessions/session';
import { ownTaskOf } from '../task/own';
import { SESSIONS } from './index/filter';

export { repliers, type Replier } from './publishedRow';

interface ImportOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly rows: number }) => void;
  /** Without it no reply is marked as a leak. */
  readonly leakOf?: (task: Task, reply: string) => Leak;
  /** Who wrote the replies of rows that do not say it; see `parsePublishedRow`. */
  readonly repliesBy?: Replier;
}

type Leak = Pick<EventOf<'leak'>, 'fraction' | 'leaked'>;

export interface ImportResult {
  readonly imported: number;
  /** Rows that the log already has, including those that were deleted there. */
  readonly alreadyThere: number;
  /** People in the imported rows, who have another name here. */
  readonly people: readonly { readonly from: string; readonly to: string }[];
  /** Imported rows that do not say who wrote their replies, by whose they count as. */
  readonly unnamed: Readonly<Record<Replier, number>>;
  /** Texts of sessions that were cut, and what was left out of them. */
  readonly cut: number;
  /** `file` is the path as the caller gave it. */
  readonly bad: readonly LineProblem[];
}

const ROWS_BETWEEN_PROGRESS = 64;
/** Protocol of the published benchmark; the rows do not say it. */
const PROTOCOL = { maxTurns: 10, replyLimit: 400 };
const SIMULATOR = 'imported';

/**
 * Imports a file of sessions that another program recorded (see `SESSION_FORMATS`), else of published rows. A session
 * becomes a dialogue without tests, and so without a grade; its user is a person who has not agreed to anything.
 *
 * @throws as `importRows`
 */
export async function importTrajectories(
  log: TrajectoryLog,
  file: string,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const sessions = await sessionsIn(file, options.signal);
  return sessions === undefined
    ? importRows(log, file, options)
    : importSessions(log, file, sessions, options);
}

/** Imports one file after the other. @throws as `importTrajectories` */
export async function importFiles(
  log: TrajectoryLog,
  files: readonly string[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const results: ImportResult[] = [];
  for (const file of files) results.push(await importTrajectories(log, file, options));
  const sum = (of: (result: ImportResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    imported: sum(({ imported }) => imported),
    alreadyThere: sum(({ alreadyThere }) => alreadyThere),
    people: results.flatMap(({ people }) => people),
    unnamed: {
      people: sum(({ unnamed }) => unnamed.people),
      simulator: sum(({ unnamed }) => unnamed.simulator),
    },
    cut: sum(({ cut }) => cut),
    bad: results.flatMap(({ bad }) => bad),
  };
}

/** True if `repliesBy` matters for any of them. @throws {Fault} `task/*` if a file cannot be read */
export async function haveRows(files: readonly string[]): Promise<boolean> {
  for (const file of files) if ((await sessionsIn(file)) === undefined) return true;
  return false;
}

async function importSessions(
  log: TrajectoryLog,
  file: string,
  sessions: AsyncIterable<SessionLine>,
  { signal, onProgress }: ImportOptions,
): Promise<ImportResult> {
  const bad: LineProblem[] = [];
  const source = basename(file);
  let rows = 0;
  let imported = 0;
  let alreadyThere = 0;
  let cut = 0;
  try {
    for await (const read of sessions) {
      signal?.throwIfAborted();
      rows += 1;
      const { line } = read;
      if ('reason' in read) {
        bad.push({ file, line, reason: read.reason });
        continue;
      }
      const { session } = read;
      const id = `imported-${digestOf(session)}`;
      const ids = [id, ...(session.harness === 'tandem' && session.id !== undefined ? [session.id] : [])];
      if (ids.some((one) => log.isErased(one))) bad.push({ file, line, reason: ERASED });
      else if (ids.some((one) => log.isDeleted(one) || log.summary(one)?.state === 'answered'))
        alreadyThere += 1;
      else {
        const task = ownTaskOf(session.request);
        await log.recordTask(task);
        const person = withoutConsent(log, `${SIMULATOR}:${source}`);
        await log.appendAll(sessionEvents(session, { id, task: task.id, person, file: source, line }));
        imported += 1;
        cut += session.cut;
      }
      onProgress?.({ rows });
    }
  } finally {
    if (imported > 0) await log.sync();
  }
  return { imported, alreadyThere, people: [], unnamed: { people: 0, simulator: 0 }, cut, bad };
}

const ERASED = 'The dialogue was erased from this log, and is not imported again.';

interface SessionPlace {
  readonly id: string;
  readonly task: string;
  readonly person: string;
  readonly file: string;
  readonly line: number;
}

/** The chat of VS Code speaks with models of the editor. */
const isOfEditor = ({ harness }: Session): boolean => /copilot|vs ?code/i.test(harness);

function sessionEvents(
  session: Session,
  { id: episode, task, person, file, line }: SessionPlace,
): NewEvent[] {
  const { harness, turns, opening, title, extra, at } = session;
  const agent = `${SIMULATOR}:${harness}${session.model === undefined ? '' : `/${session.model}`}`;
  const terms = isOfEditor(session) ? { terms: EDITOR_TERMS } : {};
  const start: NewEvent = {
    ...{ event: 'episode-started', episode, task, agent },
    collaborator: { kind: 'developer', name: person },
    protocol: PROTOCOL,
    ...{ prompts: {}, seed: 0, collection: `${SESSIONS}${harness}` },
    imported: { file, line, harness, ...defined({ session: session.id, at, extra }) },
  };
  const events = turns.flatMap(({ text, model = agent, at, parts, reply }, index): NewEvent[] => {
    const turn = index + 1;
    const said: NewEvent = {
      ...{ event: 'agent-turn', episode, turn, text, finishReason: 'other', model, ...terms },
      imported: {
        content: text,
        ...(index === 0 && { input: opening }),
        ...defined({ at }),
        ...(parts.length > 0 && { parts }),
      },
    };
    if (reply === undefined) return [said];
    // Present without a time, too: the line's own is that of the import.
    const told = defined({ at: reply.at, extra: reply.extra });
    const replied: NewEvent = {
      ...{ event: 'reply', episode, turn, text: reply.text, author: 'developer', by: person },
      imported: told,
    };
    return [said, replied];
  });
  const isOpen = turns.at(-1)!.reply !== undefined;
  const answered: NewEvent = {
    ...{ event: 'answered', episode, turn: turns.length, answer: session.answer ?? '' },
    reason: isOpen ? 'ended-by-developer' : 'answered',
  };
  const label: NewEvent[] =
    title === undefined || title === '' ? [] : [{ event: 'label', episode, title, by: person }];
  return [start, ...events, answered, ...label];
}

/**
 * Imports a file of published trajectory rows (JSON lines; see `parsePublishedRow`) as episodes. The agent's name is
 * `imported:<file name>`; there are no token ids, and `imported` on each event names its source. The reward becomes a
 * grade of mode `paper` without test results. People get a name with the file's, as `anna (rows.jsonl)`, because nobody
 * says that they are those here; rows do not tell of their consent, so their words are `local` (see `Consents`). Rows
 * are streamed, so the file may be larger than memory.
 *
 * An episode's id is a hash of its row: importing again adds nothing, and continues an interrupted import.
 *
 * @throws {Fault} `task/*` if the file cannot be read, `trajectory/*` if the log cannot be written
 * @throws the signal's reason if it is aborted; the rows read until then are in the log
 */
async function importRows(log: TrajectoryLog, file: string, options: ImportOptions): Promise<ImportResult> {
  const { signal, onProgress, leakOf, repliesBy } = options;
  const bad: LineProblem[] = [];
  let rows = 0;
  let imported = 0;
  let alreadyThere = 0;
  const unnamed = { people: 0, simulator: 0 };
  const people = new Map<string, string>();
  try {
    for await (const read of readJsonLines(file, { signal })) {
      rows += 1;
      const row = 'reason' in read ? read.reason : parsed(read.value, repliesBy);
      if (typeof row === 'string') {
        bad.push({ file, line: read.line, reason: row });
      } else if (row.ids.some((id) => log.isErased(id))) {
        bad.push({ file, line: read.line, reason: ERASED });
      } else if (
        isPlayedHere(log, row) ||
        isWhole(log, row, row.id) ||
        (repliesBy === undefined && wasSimulated(log, row))
      ) {
        alreadyThere += 1;
      } else {
        await log.recordTask(row.task);
        const source = { file: basename(file), line: read.line };
        const person = (name: string | undefined): string => {
          if (name === undefined) return withoutConsent(log, `${SIMULATOR}:${source.file}`);
          const here = withoutConsent(log, `${name} (${source.file})`);
          people.set(name, here);
          return here;
        };
        await log.appendAll(eventsOf(row, source, person, leakOf));
        imported += 1;
        if (row.unnamed) unnamed[row.unnamed] += 1;
      }
      if (rows % ROWS_BETWEEN_PROGRESS === 0) onProgress?.({ rows });
    }
  } finally {
    if (imported > 0) await log.sync();
  }
  return {
    imported,
    alreadyThere,
    people: [...people].map(([from, to]) => ({ from, to })),
    unnamed,
    cut: 0,
    bad,
  };
}

function parsed(value: unknown, repliesBy: Replier | undefined): PublishedRow | string {
  try {
    return parsePublishedRow(value, repliesBy);
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** Another name if a consent came under this one from another data folder, where it is somebody else's. */
function withoutConsent(log: TrajectoryLog, name: string): string {
  const isTaken = (one: string): boolean =>
    log.consents.some(({ pseudonym, origin }) => origin !== undefined && pseudonym === one);
  let free = name;
  for (let number = 2; isTaken(free); number += 1) free = `${name} (${number})`;
  return free;
}

function seatOf(
  { collaborator, isSimulated }: PublishedRow,
  person: (name: string | undefined) => string,
): Collaborator {
  if (collaborator === undefined)
    return isSimulated
      ? { kind: 'simulator', name: SIMULATOR }
      : { kind: 'developer', name: person(undefined) };
  const { kind, name } = collaborator;
  return { kind, name: kind === 'developer' ? person(name) : name };
}

/** A killed import may have left only the first events of a row; then the row is written again. */
function isWhole(log: TrajectoryLog, row: PublishedRow, id: string): boolean {
  if (log.isDeleted(id)) return true;
  const known = log.summary(id);
  return known?.state === 'answered' && (row.reward === undefined || known.grades.paper !== undefined);
}

/** A second time, its people would have other names, by which nobody would erase them. */
const isPlayedHere = (log: TrajectoryLog, { played }: PublishedRow): boolean =>
  played !== undefined && (log.summary(played) !== undefined || log.isDeleted(played));

/** True if it was imported as a simulator's, and nobody says now that it is not. */
const wasSimulated = (log: TrajectoryLog, row: PublishedRow): boolean =>
  row.unnamed !== undefined && isWhole(log, row, row.simulatedId);

function eventsOf(
  row: PublishedRow,
  source: { readonly file: string; readonly line: number },
  person: (name: string | undefined) => string,
  leakOf: ImportOptions['leakOf'],
): NewEvent[] {
  const { id: episode, task, messages, answer, reward, page } = row;
  const agent = `imported:${source.file}`;
  const start: NewEvent = {
    event: 'episode-started',
    episode,
    task: task.id,
    agent,
    collaborator: seatOf(row, person),
    protocol: PROTOCOL,
    prompts: {},
    seed: 0,
    imported: source,
  };
  const events = messages.flatMap((message): NewEvent[] => {
    const { turn, text } = message;
    if (message.from === 'agent') {
      const imported = { content: message.content, ...('input' in message && { input: message.input }) };
      return [{ event: 'agent-turn', episode, turn, text, finishReason: 'other', model: agent, imported }];
    }
    const { author, by, suggestedBy } = message.reply;
    const sender = author === 'simulator' ? (by ?? SIMULATOR) : person(by);
    const reply = { event: 'reply', episode, turn, text, author, by: sender, suggestedBy } as const;
    const leak = leakOf?.(task, text);
    return leak ? [reply, { event: 'leak', episode, turn, ...leak }] : [reply];
  });
  const turn = messages.at(-1)!.turn;
  const answered: NewEvent = { event: 'answered', episode, turn, answer, reason: 'answered' };
  if (reward === undefined) return [start, ...events, answered];
  const graded = { mode: 'paper', reward, tests: [] } as const;
  const grade =
    page === undefined
      ? { ...graded, success: isProgram(task) ? reward === 1 : null }
      : { ...graded, success: null, page: { ...page, score: reward, parts: {} } };
  return [start, ...events, answered, { event: 'grade', episode, grade }];
}
