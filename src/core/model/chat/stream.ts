import { APIError } from 'openai';
import { isObject, isTooDeep } from '../../json';
import { chunkOf, type Chunk } from './answer';
import type { Deadline } from './deadline';
import { statusIn } from './errorWords';
import { badAnswer, closed, Failure, failureOf, quoted, type Addressee } from './failure';

/** Bytes after which a server that never stops sending is cut off. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Bytes kept from the end of a body, for error messages. */
const SHOWN_BYTES = 400;

const END = '[DONE]';

/**
 * A server's answer. Its first line tells whether it is a stream or one piece of JSON, because servers and proxies send
 * either with any content type.
 */
export class ChatBody {
  /** False for a whole answer from a server that ignores `stream: true`. */
  isStream = false;
  /** True once the body has shown that nothing of it is missing. */
  isWhole = false;
  /** True if the stream had something that is no part of a message, and so may say that the message failed. */
  hasForeign = false;
  #end = Buffer.alloc(0);

  constructor(
    private readonly response: Response,
    private readonly deadline: Deadline,
    private readonly to: Addressee,
  ) {}

  /**
   * Ends early, without throwing, if the deadline's signal aborts.
   * @throws {Failure} if the connection breaks, the server reports an error, or the body is no chat completion
   */
  async *chunks(): AsyncGenerator<Chunk> {
    const { deadline } = this;
    try {
      yield* this.#chunksOf(linesOf(this.#bytes()));
    } catch (error) {
      if (deadline.signal.aborted && !(error instanceof Failure)) return;
      throw this.#failureOf(error);
    } finally {
      // The caller may have enough.
      if (!this.isWhole) deadline.abort();
    }
  }

  async *#bytes(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of this.response.body ?? []) {
      bytes += piece.length;
      if (bytes > MAX_BYTES) throw badAnswer(`sent more than ${MAX_BYTES / 2 ** 20} MB`, this.to);
      this.#end = Buffer.concat([this.#end, piece]).subarray(-SHOWN_BYTES);
      yield piece;
    }
  }

  /** The end of what has arrived, for error messages. */
  get #shown(): string {
    return quoted(this.#end.toString().trim().slice(-150), this.to);
  }

  #failureOf(error: unknown): Failure {
    if (error instanceof Failure) return error;
    if (error instanceof RangeError) return nestedTooDeeply(this.to, error);
    // A proxy or a dying server can cut a stream in the middle of a line, so another attempt is worthwhile.
    if (error instanceof SyntaxError)
      return badAnswer(`sent a stream that cannot be read: …${this.#shown}`, this.to, {
        again: true,
        cause: error,
      });
    return closed(0, this.to, error);
  }

  async *#chunksOf(lines: AsyncGenerator<string>): AsyncGenerator<Chunk> {
    const { response, to } = this;
    const before: string[] = [];
    for await (const line of lines) {
      const begin = line.trimStart();
      if (begin === '') continue;
      this.isStream = FIELD.test(begin) || (!/^[{[<]/.test(begin) && isEventStream(response));
      if (this.isStream) {
        yield* this.#streamed(line, lines);
        return;
      }
      before.push(line);
      for await (const more of lines) before.push(more);
    }
    yield* this.#whole(before.join('\n'));
    this.isWhole = true;
    if (this.deadline.signal.aborted) return;
    if (before.length === 0) throw badAnswer('sent an empty answer', to, { again: isEventStream(response) });
  }

  *#whole(text: string): Generator<Chunk> {
    if (text.trim() === '') return;
    const { to } = this;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      // JSON that was begun may be whole the next time.
      const again = /^\s*[{[]/.test(text);
      throw badAnswer(`did not answer JSON but ${quoted(text, to)}`, to, { again, cause: error });
    }
    const chunks = [...this.#understood(value)];
    if (chunks.every(({ choices }) => choices.length === 0))
      throw badAnswer(`sent JSON that is no chat completion: ${quoted(JSON.stringify(value), to)}`, to);
    yield* chunks;
  }

  async *#streamed(first: string, lines: AsyncGenerator<string>): AsyncGenerator<Chunk> {
    const { to } = this;
    let event = new ServerEvent();
    let isEmpty = true;
    event.add(first);
    for await (const line of lines) {
      if (line !== '') {
        event.add(line);
        continue;
      }
      isEmpty &&= event.data.length === 0;
      yield* this.#said(event);
      if (this.isWhole) return;
      event = new ServerEvent();
    }
    // Some servers omit the last empty line.
    isEmpty &&= event.data.length === 0;
    yield* this.#said(event);
    if (isEmpty && !this.deadline.signal.aborted)
      throw badAnswer(`sent no answer but ${this.#shown}`, to, {
        again: isEventStream(this.response),
      });
  }

  *#said(event: ServerEvent): Generator<Chunk> {
    this.hasForeign ||= event.isForeign;
    if (event.data.some((line) => line.trim() === END)) this.isWhole = true;
    for (const value of event.values()) {
      if (event.name === 'error') throw errorOf(isObject(value) ? (value.error ?? value) : value, this.to);
      yield* this.#understood(value);
    }
  }

  /** Google's servers put errors, and chunks of a body that is no stream, into a list. */
  *#understood(value: unknown): Generator<Chunk> {
    const { to } = this;
    if (isTooDeep(value)) throw nestedTooDeeply(to);
    for (const part of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (!isObject(part)) continue;
      const chunk = chunkOf(part);
      const places = [part, ...chunk.choices.flatMap((choice) => [choice, choice.delta, choice.message])];
      const error = places.map(errorIn).find((one) => one !== undefined);
      if (error !== undefined) throw errorOf(error, to);
      this.hasForeign ||= part.choices === undefined && part.usage == null && part.timings == null;
      yield chunk;
    }
  }
}

/** A field of an event, or a comment. */
const FIELD = /^(?:data|event|id|retry)?:/;

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
}

/** An event of a stream: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
class ServerEvent {
  name = '';
  readonly data: string[] = [];
  #hasOtherLine = false;

  get isForeign(): boolean {
    return this.#hasOtherLine || (this.name === 'error' && this.data.length === 0);
  }

  add(line: string): void {
    this.#hasOtherLine ||= !FIELD.test(line);
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('data:')) this.data.push(value);
    else if (line.startsWith('event:')) this.name = value.trim();
  }

  /** Some servers put an empty line after several messages only. */
  values(): unknown[] {
    const data = this.data.filter((line) => line.trim() !== '' && line.trim() !== END);
    if (data.length === 0) return [];
    const text = data.join('\n');
    try {
      return [JSON.parse(text)];
    } catch (error) {
      if (this.name === 'error') return [text];
      if (data.length === 1) throw error;
      return data.map((line): unknown => JSON.parse(line));
    }
  }
}

/** Lines end with `\n`, `\r\n` or `\r`. A byte order mark is left out. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  let afterReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === '') continue;
    if (afterReturn && text.startsWith('\n')) text = text.slice(1);
    afterReturn = text.endsWith('\r');
    const [first = '', ...rest] = text.split(/\r\n|\n|\r/);
    line += first;
    for (const next of rest) {
      yield line;
      line = next;
    }
  }
  line += decoder.decode();
  if (line !== '') yield line;
}

/** The error of an answer, or of its choice as with OpenRouter. */
function errorIn(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const { error, object, type, choices, errors, error_msg: said } = value;
  const isEmpty =
    typeof error === 'object' && Object.values(error ?? {}).every((part) => part == null || part === '');
  if (error && error !== true && !isEmpty) return error;
  if (Array.isArray(choices) && choices.length > 0) return undefined;
  // Older vLLM and others write the error itself in place of a chunk.
  const isError = error === true || object === 'error' || type === 'error' || statusIn(value) !== undefined;
  const hasErrors = (Array.isArray(errors) && errors.length > 0) || (typeof said === 'string' && said !== '');
  return isError || hasErrors ? value : undefined;
}

const errorOf = (error: unknown, to: Addressee): Failure =>
  failureOf(
    new APIError(undefined, isObject(error) ? error : { message: wordsOf(error) }, undefined, undefined),
    to,
  );

const wordsOf = (error: unknown): string => (typeof error === 'string' ? error : JSON.stringify(error));

const nestedTooDeeply = (to: Addressee, cause?: unknown): Failure =>
  badAnswer('sent JSON that is nested too deeply', to, { cause });
