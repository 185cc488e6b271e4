import { setTimeout as sleep } from 'node:timers/promises';
import { APIConnectionError, APIError } from 'openai';
import { Fault, messageOf } from '../../fault';
import { originOf, keyRemedy } from '../address';
import { TOO_LONG_REMEDY, WROTE_TOO_LONG } from '../model';
import type { Deadline } from './deadline';
import { complaintIn, errorWords, statusIn, type Complaint } from './errorWords';
import { askedWait, waitIn } from '../../retryAfter';

type FailureCode =
  | 'model/unreachable'
  | 'model/unauthorized'
  | 'model/unknown-model'
  | 'model/no-credit'
  | 'model/rate-limited'
  | 'model/bad-request'
  | 'model/too-long'
  | 'model/filtered'
  | 'model/server-error'
  | 'model/timed-out'
  | 'model/bad-answer'
  | 'model/too-long-answer';

export interface Addressee {
  readonly server: string;
  readonly model: string;
  /** Removed from all text of the server before that is shown. */
  readonly key: string | undefined;
}

/** Times are in milliseconds. */
export interface RetrySettings {
  /** Includes the first request. */
  readonly attempts: number;
  /** The first wait; each later one is twice as long. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** If a server asks for more, the request fails at once. */
  readonly longestServerWaitMs: number;
}

export const defaultRetry: RetrySettings = {
  attempts: 5,
  firstWaitMs: 500,
  longestWaitMs: 30_000,
  longestServerWaitMs: 120_000,
};

/**
 * Milliseconds after failed attempt number `attempt`, from 1. Random, so that requests that failed together do not
 * return together. Never shorter than the server asked for, nor than without its word: some say 0 every time.
 */
export function waitBefore(
  attempt: number,
  settings: RetrySettings,
  serverWaitMs = 0,
  random: () => number = Math.random,
): number {
  const step = Math.min(settings.longestWaitMs, settings.firstWaitMs * 2 ** (attempt - 1));
  const drawn = random();
  const asked = serverWaitMs + drawn * Math.min(step, settings.firstWaitMs);
  return Math.max(asked, step * (0.5 + drawn / 2));
}

/** The request, not the server, is at fault, unless it may succeed later. */
const OF_REQUEST: readonly FailureCode[] = [
  'model/bad-request',
  'model/too-long',
  'model/filtered',
  'model/timed-out',
  'model/too-long-answer',
];

interface FailureDetails {
  /** True if the same request may succeed later. */
  readonly again: boolean;
  /** Milliseconds that the server asks to wait. */
  readonly waitMs?: number;
  readonly status?: number;
  /** The server's whole message, for `Dialect.learn`. It may contain anything, so it is never shown. */
  readonly words?: string;
  /** What the words say, whatever the status. */
  readonly complaint?: Complaint;
  /** Words of the answer, thoughts included, before the connection closed; undefined where it did not close. */
  readonly closedAfter?: number;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = 'Failure';

  /** @param remedy has no period at its end */
  constructor(
    readonly code: FailureCode,
    what: string,
    readonly remedy: string,
    readonly details: FailureDetails,
  ) {
    super(what, { cause: details.cause });
  }

  /** True if no other server would answer the same request. */
  get isOfRequest(): boolean {
    return !this.details.again && OF_REQUEST.includes(this.code);
  }

  /** The fault if the server asks for a longer wait than anybody waits. */
  waitIsTooLong({ longestServerWaitMs }: RetrySettings, requests: number): Fault | undefined {
    const { waitMs = 0 } = this.details;
    if (waitMs <= longestServerWaitMs) return undefined;
    const why = `It asks to wait ${Math.ceil(waitMs / 1000)} s, which is too long.`;
    return this.toFault(requests, { why });
  }

  /**
   * @param requests number of requests before giving up
   * @param details `why`: reason not to try again; `remedy`: a better remedy, if known
   */
  toFault(requests: number, { why, remedy = this.remedy }: { why?: string; remedy?: string } = {}): Fault {
    const tried = this.details.again && requests > 1 ? ` (tried ${requests} times)` : '';
    const sentences = [`${this.message}${tried}.`, why, `${remedy}.`].filter((part) => part !== undefined);
    return new Fault(this.code, sentences.join(' '), { cause: this });
  }
}

/** Rethrows anything but an error of the `openai` package or the connection, as a bug. */
export function failureOf(error: unknown, to: Addressee): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof APIConnectionError) return unreachable(error, to);
  if (error instanceof APIError) return refused(error as APIError, to);
  throw error;
}

const LOG_REMEDY = "Look at the server's log";
const FILTER_REMEDY = 'Play another task, or choose a model or server without such a filter';
const TOO_LONG_DIALOGUE =
  'Play fewer turns, let a turn have fewer tokens, or take a model with a longer context';

/** @param words those of the answer that had arrived, thoughts included */
export function closed(words: number, to: Addressee, cause?: unknown): Failure {
  const what = `${subject(to)} closed the connection ${closedWhen(words)}`;
  return new Failure('model/unreachable', what, LOG_REMEDY, { again: true, closedAfter: words, cause });
}

export function closedWhen(words: number): string {
  if (words === 0) return 'before it answered';
  return `mid-answer, after ${words === 1 ? '1 word' : `${words} words`}`;
}

export function brokenOff(reason: string, to: Addressee): Failure {
  const words = `finish reason "${reason}"`;
  const what = `${subject(to)} broke off mid-answer (${words})`;
  return new Failure('model/unreachable', what, LOG_REMEDY, { again: true, words });
}

export function filtered(reason: string, to: Addressee): Failure {
  return new Failure(
    'model/filtered',
    `${subject(to)} withholds the message because of its content (${quoted(reason, to)})`,
    FILTER_REMEDY,
    { again: false },
  );
}

export function badAnswer(
  what: string,
  to: Addressee,
  details: { again?: boolean; cause?: unknown } = {},
): Failure {
  return new Failure(
    'model/bad-answer',
    `${subject(to)} ${what}`,
    'Check that the base URL is that of an OpenAI-compatible server; it usually ends in /v1',
    { again: details.again ?? false, cause: details.cause },
  );
}

export function tooLong(to: Addressee): Failure {
  return new Failure('model/too-long-answer', `${subject(to)} ${WROTE_TOO_LONG}`, TOO_LONG_REMEDY, {
    again: false,
  });
}

/** For an exceeded limit, or else the caller's cancel. */
export function throwIfStopped({ passed, limits, cancel }: Deadline, to: Addressee): void {
  if (passed === undefined) {
    if (cancel?.aborted) throw cancelled();
    return;
  }
  const seconds = `${limits[passed] / 1000} s`;
  const what = {
    firstTokenMs: `has not begun to answer after ${seconds}`,
    betweenTokensMs: `stopped in the middle of its answer and sent nothing for ${seconds}`,
    totalMs: `has not finished its answer after ${seconds}`,
  }[passed];
  // An answer that arrives steadily but takes too long would take too long again.
  const again = passed !== 'totalMs';
  const remedy = again
    ? 'See whether it is overloaded or raise the time limit'
    : 'Allow fewer tokens or raise the time limit';
  throw new Failure('model/timed-out', `${subject(to)} ${what}`, remedy, { again });
}

export function cancelled(): DOMException {
  return new DOMException('The request to the model was canceled.', 'AbortError');
}

/** @throws AbortError on cancel */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {
    throw cancelled();
  });
}

/** Length of a server's message that is searched for a quotation. */
const MAX_ERROR_CHARS = 10_000;

/** Fit for a sentence: one short line, without markup and without the key. */
export function quoted(said: string, to: Addressee): string {
  const text = said.slice(0, MAX_ERROR_CHARS);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const plain = /<html|<!doctype/i.test(text) ? `web page "${title ?? 'without a title'}"` : text;
  const withoutKey = to.key ? plain.replaceAll(to.key, '[key]') : plain;
  const line = withoutKey.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function subject(to: Addressee): string {
  return `The server at ${to.server}, asked for the model "${to.model}",`;
}

function unreachable(error: APIConnectionError, to: Addressee): Failure {
  const reason = connectionReason(error);
  if (/HEADERS_TIMEOUT|BODY_TIMEOUT/.test(reason))
    return new Failure(
      'model/timed-out',
      `${subject(to)} sent nothing for 300 s, where Node gives up`,
      'See whether it is overloaded',
      { again: true, cause: error },
    );
  if (/ECONNRESET|EPIPE|UND_ERR_SOCKET/.test(reason)) return closed(0, to, error);
  const certificate = /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(reason);
  const remedy = certificate
    ? "Correct the server's certificate or the address"
    : 'Start the server or correct the address';
  const what = `${subject(to)} cannot be reached (${quoted(reason, to)})`;
  return new Failure('model/unreachable', what, remedy, { again: !certificate, cause: error });
}

/** The most specific reason in a chain of causes: `ECONNREFUSED` rather than "fetch failed". */
export function connectionReason(error: unknown): string {
  let reason = messageOf(error);
  for (let at = error; at instanceof Error; at = at.cause) {
    reason = 'code' in at && typeof at.code === 'string' ? at.code : at.message || reason;
  }
  return reason;
}

/** `APIError` puts the status in front, and "(no body)" if the server sent none. */
function withoutStatus(error: APIError): string {
  return error.message.replace(/^\d{3} /, '').replace('status code (no body)', 'no explanation');
}

function refused(error: APIError, to: Addressee): Failure {
  const unexplained = { said: withoutStatus(error), named: '' };
  const { said, named } = error.error === undefined ? unexplained : errorWords(error.error);
  const words = `${said} ${named}`;
  const status = error.status ?? statusIn(error.error);
  const { headers } = error;
  const complaint = complaintIn(words, status);
  const [code, remedy, again] = verdict(status, complaint, said, to);
  const what = `${subject(to)} answers ${status ?? 'with an error'}: ${quoted(said, to)}`;
  return new Failure(code, what, remedy, {
    again: again && headers?.get('x-should-retry') !== 'false',
    waitMs: (headers && askedWait(headers)) ?? (complaint === 'rate-limit' ? waitIn(words) : undefined),
    ...{ status, words: said, complaint },
  });
}

/** The last one is true if the same request may succeed later. */
type Verdict = readonly [code: FailureCode, remedy: string, again: boolean];

function verdict(
  status: number | undefined,
  complaint: Complaint | undefined,
  said: string,
  to: Addressee,
): Verdict {
  const key = keyRemedy(originOf(to.server));
  const badKey: Verdict = ['model/unauthorized', key, false];
  const name = `Correct the name; ${to.server}/models lists what it has`;
  const unknownModel: Verdict = ['model/unknown-model', name, false];
  const byComplaint: Readonly<Record<Complaint, Verdict>> = {
    'no-credit': ['model/no-credit', 'The account has no credit left; add some or use another key', false],
    'too-long': ['model/too-long', TOO_LONG_DIALOGUE, false],
    'too-large': [
      'model/bad-request',
      'Let a turn have fewer tokens, or raise the limit of the account',
      false,
    ],
    filtered: ['model/filtered', FILTER_REMEDY, false],
    'unknown-model': unknownModel,
    'wrong-key': badKey,
    'rate-limit': ['model/rate-limited', 'Send fewer requests at a time or try again later', true],
  };
  if (complaint !== undefined) return byComplaint[complaint];
  if (status === 401 || status === 403) return badKey;
  if (status === 404 && /model/i.test(said)) return unknownModel;
  if (status === 404 || status === 405)
    return ['model/unreachable', 'Correct the base URL; it usually ends in /v1', false];
  if (status === 408 || status === 409 || status === 425)
    return ['model/server-error', 'Try again later', true];
  if (status !== undefined && status < 500)
    return ['model/bad-request', 'Change the settings or shorten the dialogue, as the server says', false];
  return ['model/server-error', "Look at the server's log or try again later", status !== 501];
}
