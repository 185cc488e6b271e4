import { Fault, type FaultCode } from '../fault';
import { cancelled, defaultRetry, Failure, pause, waitBefore, type RetrySettings } from './chat/failure';
import {
  sumOfCounts,
  type ChatMessage,
  type GenerateOptions,
  type Generation,
  type ModelCounts,
  type PictureMessage,
  type SamplingSettings,
  type SeeingModel,
} from './model';
import { OpenAiModel, type OpenAiOptions } from './openai';

interface Member {
  readonly model: OpenAiModel;
  open: number;
  sent: number;
  failures: number;
  /** Milliseconds since 1970 until which it gets no request. */
  outUntil: number;
  /** Its last refusal, such as for a wrong key, until it answers. A retry would not help. */
  refusal: Fault | undefined;
}

/** The refusals that the user can fix most easily come first; other codes follow. */
const MENDED_FIRST: readonly FaultCode[] = [
  'model/unauthorized',
  'model/unknown-model',
  'model/no-credit',
  'model/rate-limited',
];

/** While an excluded server has yet to answer its single trial request. */
const RETRY_INTERVAL_MS = 100;

/**
 * A request goes to the server with the fewest open ones. A server that fails is left out for a while, longer each
 * time, then gets a single request, and is back when it answers. A failed request goes to the next server at once; a
 * server that refuses a request, as for a wrong key, does not get it again.
 */
export class ServerPool implements SeeingModel {
  readonly #members: readonly Member[];
  readonly #retry: RetrySettings;
  #again = 0;

  /**
   * @param name `openai:<model>@<base URL>,<base URL>`
   * @param servers options of `OpenAiModel`, for each server
   * @throws {Fault} like `OpenAiModel`
   */
  constructor(
    readonly name: string,
    servers: readonly OpenAiOptions[],
  ) {
    this.#members = servers.map((options) => ({
      // The pool itself retries, on another server.
      model: new OpenAiModel({ ...options, retry: { ...options.retry, attempts: 1 } }),
      open: 0,
      sent: 0,
      failures: 0,
      outUntil: 0,
      refusal: undefined,
    }));
    this.#retry = { ...defaultRetry, ...servers[0]?.retry };
  }

  get fingerprint(): string {
    return this.#members.map(({ model }) => model.fingerprint).join(', ');
  }

  get counts(): ModelCounts {
    const all = sumOfCounts(this.#members.map(({ model }) => model.counts));
    return { ...all, retries: all.retries + this.#again };
  }

  get notes(): readonly string[] {
    return this.#members.flatMap(({ model, refusal }) => [
      ...(refusal === undefined ? [] : [`${refusal.message} It is left out as long as it refuses.`]),
      ...model.notes,
    ]);
  }

  /** True if every server takes pictures, because any of them may get the next request. */
  async sees(signal?: AbortSignal): Promise<boolean> {
    const all = await Promise.all(this.#members.map(({ model }) => model.sees(signal)));
    return all.every(Boolean);
  }

  async generate(
    messages: readonly (ChatMessage | PictureMessage)[],
    sampling: SamplingSettings,
    options: GenerateOptions = {},
  ): Promise<Generation> {
    const started = performance.now();
    let most = this.#retry.attempts * this.#members.length;
    const refusals = new Map<Member, Fault>();
    for (let attempt = 1; ; attempt += 1) {
      const asked = this.#members.filter((member) => !refusals.has(member));
      const member = await this.#next(asked, options.signal);
      try {
        const generation = await this.#ask(member, () => member.model.generate(messages, sampling, options));
        const { timing } = generation;
        if (attempt === 1) return generation;
        const waitedMs = performance.now() - started - timing.totalMs;
        return { ...generation, timing: later(timing, waitedMs, attempt - 1) };
      } catch (error) {
        if (!(error instanceof Fault && error.cause instanceof Failure)) throw error;
        const failure = error.cause;
        if (failure.isOfRequest) throw error;
        const tooLate = failure.waitIsTooLong(this.#retry, 1);
        if (!failure.details.again || tooLate) {
          refusals.set(member, tooLate ?? error);
          // A refusing server gets no more attempts, but the others get theirs.
          most = Math.max(attempt + 1, most - this.#retry.attempts + 1);
        }
        this.#leaveOut(member, failure.details.waitMs, refusals.get(member));
        if (refusals.size === this.#members.length) throw mostHelpful([...refusals.values()]);
        if (attempt >= most) throw error;
        this.#again += 1;
        options.onRestart?.(`${failure.message}; attempt ${attempt + 1} of ${most} goes to another server.`, {
          number: attempt + 1,
          of: most,
          after: failure.code,
        });
      }
    }
  }

  async #ask(member: Member, ask: () => Promise<Generation>): Promise<Generation> {
    member.open += 1;
    member.sent += 1;
    try {
      const generation = await ask();
      member.failures = 0;
      member.outUntil = 0;
      member.refusal = undefined;
      return generation;
    } finally {
      member.open -= 1;
    }
  }

  #leaveOut(member: Member, waitMs: number | undefined, refusal: Fault | undefined): void {
    member.failures += 1;
    member.refusal = refusal;
    const asked = waitMs && Math.min(waitMs, this.#retry.longestServerWaitMs);
    member.outUntil = Date.now() + waitBefore(member.failures, this.#retry, asked);
  }

  /** Waits while all servers are left out. */
  async #next(members: readonly Member[], signal: AbortSignal | undefined): Promise<Member> {
    for (;;) {
      if (signal?.aborted) throw cancelled();
      const now = Date.now();
      // A server that is back after a failure gets one request until it has answered.
      const ready = members.filter(
        ({ outUntil, failures, open }) => outUntil <= now && (failures === 0 || open === 0),
      );
      // Waiting would not help if all servers refuse, so they are asked.
      const allRefuse = members.every(({ refusal }) => refusal !== undefined);
      const [first] = (allRefuse ? members : ready).toSorted(
        (one, other) => one.open - other.open || one.sent - other.sent,
      );
      if (first !== undefined) return first;
      const soonest = Math.min(...members.map(({ outUntil }) => outUntil));
      await pause(Math.max(soonest - now, RETRY_INTERVAL_MS), signal);
    }
  }
}

function mostHelpful(refusals: readonly Fault[]): Fault {
  const first = MENDED_FIRST.map((code) => refusals.find((refusal) => refusal.code === code));
  return first.find((refusal) => refusal !== undefined) ?? refusals[0]!;
}

/** Adds the requests and the time before the attempt that succeeded. */
const later = (
  { firstTextMs, totalMs, attempts }: Generation['timing'],
  waitedMs: number,
  failed: number,
): Generation['timing'] => ({
  firstTextMs: firstTextMs && firstTextMs + waitedMs,
  totalMs: totalMs + waitedMs,
  attempts: attempts + failed,
});
