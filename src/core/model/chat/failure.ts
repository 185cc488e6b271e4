import * as z from 'zod';
import { APIConnectionError, APIError } from 'openai';
import { Fault, messageOf } from '../../fault';
import { originOf, keyRemedy } from '../address';
import { TOO_LONG_REMEDY, WROTE_TOO_LONG } from '../model';
import type { Deadline, PassedLimit, TimeLimits } from './deadline';
import { askedWait } from './retry';

type FailureCode =
  | 'model/unreachable'
  | 'model/unauthorized'
  | 'model/unknown-model'
  | 'model/rate-limited'
  | 'model/bad-request'
  | 'model/too-long'
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

/** The request, not the server, is at fault, unless it may succeed later. */
const OF_REQUEST: readonly FailureCode[] = [
  'model/bad-request',
  'model/too-long',
  'model/timed-out',
  'model/too-long-answer',
];

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  /** Has no period at its end. */
  readonly remedy: string;
  /** True if the same request may succeed later. */
  readonly again: boolean;
  /** Milliseconds that the server asks to wait. */
  readonly waitMs: number | undefined;
  readonly status: number | undefined;
  /** The server's whole message, for `Dialect.learn`. It may contain anything, so it is never shown. */
  readonly words: string | undefined;

  constructor(
    code: FailureCode,
    what: string,
    remedy: string,
    details: {
      again: boolean;
      waitMs?: number | undefined;
      status?: number | undefined;
      words?: string;
      cause?: unknown;
    },
  ) {
    super(what, { cause: details.cause });
    this.code = code;
    this.remedy = remedy;
    this.again = details.again;
    this.waitMs = details.waitMs;
    this.status = details.status;
    this.words = details.words;
  }

  /** True if no other server would answer the same request. */
  get isOfRequest(): boolean {
    return !this.again && OF_REQUEST.includes(this.code);
  }

  /**
   * @param requests number of requests before giving up
   * @param details `why`: reason not to try again; `remedy`: a better remedy, if known
   */
  toFault(requests: number, { why, remedy = this.remedy }: { why?: string; remedy?: string } = {}): Fault {
    const tried = this.again && requests > 1 ? ` (tried ${requests} times)` : '';
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

export function timedOut(limit: PassedLimit, limits: TimeLimits, to: Addressee): Failure {
  const seconds = `${limits[limit] / 1000} s`;
  const what = {
    firstTokenMs: `has not begun to answer after ${seconds}`,
    betweenTokensMs: `stopped in the middle of its answer and sent nothing for ${seconds}`,
    totalMs: `has not finished its answer after ${seconds}`,
  }[limit];
  const remedy =
    limit === 'totalMs'
      ? 'Allow fewer tokens or raise the time limit'
      : 'See whether it is overloaded or raise the time limit';
  // An answer that arrives steadily but takes too long would take too long again.
  return new Failure('model/timed-out', `${subject(to)} ${what}`, remedy, { again: limit !== 'totalMs' });
}

export function brokenOff(why: string, to: Addressee, cause?: unknown): Failure {
  return new Failure(
    'model/unreachable',
    `${subject(to)} broke off in the middle of its answer (${why})`,
    "Look at the server's log",
    { again: true, cause },
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
export function throwIfStopped(deadline: Deadline, limits: TimeLimits, to: Addressee): void {
  if (deadline.passed) throw timedOut(deadline.passed, limits, to);
  if (deadline.cancelled) throw cancelled();
}

export function cancelled(): DOMException {
  return new DOMException('The request to the model was cancelled.', 'AbortError');
}

/** Length of a server's message that is searched for a quotation. */
const MAX_ERROR_CHARS = 10_000;

/** Fit for a sentence: one short line, without markup and without the key. */
export function quoted(said: string, to: Addressee): string {
  const text = said.slice(0, MAX_ERROR_CHARS);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const plain = /<html|<!doctype/i.test(text) ? `web page "${title ?? 'without a title'}"` : text;
  const line = withoutKey(plain, to).replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function withoutKey(text: string, to: Addressee): string {
  return to.key ? text.replaceAll(to.key, '[key]') : text;
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
  const certificate = /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(reason);
  const closed = /ECONNRESET|EPIPE|UND_ERR_SOCKET/.test(reason);
  const what = closed ? 'closed the connection' : 'cannot be reached';
  const remedy = certificate
    ? "Correct the server's certificate or the address"
    : closed
      ? "Look at the server's log"
      : 'Start the server or correct the address';
  return new Failure('model/unreachable', `${subject(to)} ${what} (${quoted(reason, to)})`, remedy, {
    again: !certificate,
    cause: error,
  });
}

/** The most specific reason in a chain of causes: `ECONNREFUSED` rather than "fetch failed". */
export function connectionReason(error: unknown): string {
  let reason = messageOf(error);
  for (let at = error; at instanceof Error; at = at.cause) {
    reason = 'code' in at && typeof at.code === 'string' ? at.code : at.message || reason;
  }
  return reason;
}

const errorBody = z.union([
  z.string(),
  z.object({ message: z.string(), code: z.unknown().optional(), param: z.unknown().optional() }),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
]);

/** Includes the code and parameter that the server names. */
function serverWords(error: APIError): string {
  const body = errorBody.safeParse(error.error);
  if (!body.success) return error.error === undefined ? withoutStatus(error) : JSON.stringify(error.error);
  if (typeof body.data === 'string') return body.data;
  const { message, code, param } = body.data;
  const named = [param, code].filter((part) => typeof part === 'string' && !message.includes(part));
  return named.length > 0 ? `${message} [${named.join(', ')}]` : message;
}

/** `APIError` puts the status in front, and "(no body)" if the server sent none. */
function withoutStatus(error: APIError): string {
  return error.message.replace(/^\d{3} /, '').replace('status code (no body)', 'no explanation');
}

function refused(error: APIError, to: Addressee): Failure {
  const words = serverWords(error);
  const status = error.status ?? statusInBody(error);
  const headers = error.headers;
  const waitMs = headers ? askedWait(headers) : undefined;
  const [code, remedy, again] = verdict(status, words, to);
  const retry = headers?.get('x-should-retry');
  return new Failure(
    code,
    `${subject(to)} answers ${status ?? 'with an error'}: ${quoted(words, to)}`,
    remedy,
    {
      again: retry === 'false' ? false : again,
      waitMs,
      status,
      words,
    },
  );
}

/** The status of an error inside a stream is in `code`, if anywhere. */
function statusInBody(error: APIError): number | undefined {
  const code = Number(error.code);
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
}

/**
 * A dialogue longer than the model's context: `maximum context length` (OpenAI, vLLM), `available context size`
 * (llama.cpp), `model's context length` (SGLang), `maximum model length` (vLLM).
 */
const CONTEXT_EXCEEDED = /context_length_exceeded|context (?:length|size|window)|maximum model length/i;

function verdict(status: number | undefined, words: string, to: Addressee): [FailureCode, string, boolean] {
  if (status === 401 || status === 403)
    return [
      'model/unauthorized',
      keyRemedy(originOf(to.server), to.key ? 'a key that it accepts' : 'its key'),
      false,
    ];
  if (status === 404 && /model/i.test(words))
    return ['model/unknown-model', `Correct the name; ${to.server}/models lists what it has`, false];
  if (status === 404 || status === 405)
    return ['model/unreachable', 'Correct the base URL; it usually ends in /v1', false];
  if (status === 402 || (status === 429 && words.includes('insufficient_quota')))
    return ['model/rate-limited', 'The account has no credit left; add some or use another key', false];
  if (status === 429) return ['model/rate-limited', 'Send fewer requests at a time or try again later', true];
  if (status === 408 || status === 409 || status === 425)
    return ['model/server-error', 'Try again later', true];
  if (status !== undefined && status < 500)
    return CONTEXT_EXCEEDED.test(words)
      ? [
          'model/too-long',
          'Play fewer turns, let a turn have fewer tokens, or take a model with a longer context',
          false,
        ]
      : ['model/bad-request', 'Change the settings or shorten the dialogue, as the server says', false];
  return ['model/server-error', "Look at the server's log or try again later", status !== 501];
}
