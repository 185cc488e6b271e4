import { Fault } from '../../fault';
import { readOutcome, tampered } from '../outcome';
import type { Job, Reply } from '../runner';

export const nonceBytes = 16;
/**
 * A header holds the nonce, the kind, the call's index, CPU seconds, and the length in bytes of the text that follows;
 * python/answer.py writes it.
 */
const headerBytes = nonceBytes + 1 + 4 + 8 + 4;
const mostTextBytes = 65_536;
const [begin, result] = ['b', 'r'];

/**
 * Reads what a child says of its job. The child is believed only about its own calls: each begins once and ends once,
 * in order, and each message carries the job's nonce; anything else ends the job. An answer that finds the nonce can
 * only lie about the values that its own calls return.
 */
export class Claims {
  readonly replies: Reply[] = [];
  /** Number of messages so far; while it stays the same, the child is where it was. */
  steps = 0;
  /** CPU seconds that the child says it had used when the last call began; undefined before the first. */
  beganSeconds: number | undefined;
  /** True when the child has said something that is no message, or not in order; then none of its calls counts. */
  broken = false;
  #current: number | undefined;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(
    private readonly job: Job,
    private readonly nonce: Buffer,
  ) {}

  /** True when the child can change nothing more by what it says. */
  get over(): boolean {
    return this.broken || this.replies.length === this.#expected;
  }

  get tampered(): readonly Reply[] {
    return Array.from({ length: this.#expected }, () => tampered);
  }

  take(data: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, data]);
    while (!this.over && this.#buffer.length >= headerBytes) {
      const head = this.#buffer;
      const seconds = head.readDoubleLE(nonceBytes + 5);
      const end = headerBytes + head.readUInt32LE(nonceBytes + 13);
      if (!head.subarray(0, nonceBytes).equals(this.nonce) || end > headerBytes + mostTextBytes) break;
      if (!(seconds >= 0 && seconds < 1e6)) break;
      if (head.length < end) return;
      this.#buffer = head.subarray(end);
      const kind = String.fromCharCode(head[nonceBytes]!);
      this.#message(kind, head.readUInt32LE(nonceBytes + 1), seconds, head.subarray(headerBytes, end));
    }
    if (!this.over && this.#buffer.length >= headerBytes) this.broken = true;
  }

  get #expected(): number {
    return this.job.calls.length - this.job.start;
  }

  #message(kind: string, index: number, seconds: number, text: Buffer): void {
    this.steps++;
    if (kind === begin && this.#current === undefined && index === this.job.start + this.replies.length) {
      this.#current = index;
      this.beganSeconds = seconds;
    } else if (kind === result && index === this.#current && text.every((byte) => byte < 128)) {
      this.#current = undefined;
      this.replies.push(replyOf(text.toString('latin1'), Math.round(seconds * 1e6) / 1e3));
    } else {
      this.broken = true;
    }
  }
}

function replyOf(text: string, milliseconds: number): Reply {
  try {
    return readOutcome(text, milliseconds);
  } catch (error) {
    if (error instanceof Fault && error.code === 'grading/tampered') return tampered;
    throw error;
  }
}
