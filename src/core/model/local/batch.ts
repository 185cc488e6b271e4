import { Fault, messageOf } from '../../fault';
import type { Decoder, SequenceRow } from './decoder';
import { CHUNK } from './graph';
import { answerTokens, guidedLogits, isOpening, type Guide } from './guidance';
import type { SamplingSettings } from '../model';
import type { Opening } from './opening';
import type { FinishedTurn, TurnPiece, TurnTokens } from './process';
import { Sampler, type LikelyToken } from './sampling';
import { TurnText } from './turnText';

interface TurnRequest {
  readonly promptIds: readonly number[];
  readonly sampling: SamplingSettings;
  readonly alternatives: number;
  readonly guide?: Guide<readonly number[]>;
  /** Of a turn whose beginning is given. */
  readonly opening?: Opening;
  readonly onText?: (piece: TurnPiece) => void;
  readonly onDone: (turn: FinishedTurn) => void;
  readonly onFailed: (reason: unknown) => void;
}

export interface StartedTurn {
  /** Ends the turn without an answer. */
  cancel(): void;
  /** Ends the turn with the text so far. */
  finish(): void;
}

interface BatchLimits {
  readonly contextLength: number;
  /** Memory for keys, values and logits, in bytes. */
  readonly memoryBytes: number;
}

interface Turn {
  readonly request: TurnRequest;
  /** Tokens of its dialogue at the end of the turn, at most. */
  readonly longest: number;
  readonly sampler: Sampler;
  readonly text: TurnText | undefined;
  readonly ids: number[];
  readonly logprobs: number[];
  readonly alternatives: (readonly LikelyToken[])[] | undefined;
  told: number;
  cancelled: boolean;
  enough: boolean;
}

interface Running {
  readonly turn: Turn;
  readonly row: SequenceRow;
}

/** Includes dialogues that wait for a reply. */
const MAX_ROWS = 128;

/** Of all rows together, if there are more than dialogues were played at once. */
const MAX_EXTRA_BYTES = 256 * 2 ** 20;

/**
 * Generates many turns at once. A turn joins when there is memory for its maximum length, and leaves when it ends; the
 * keys and values of its dialogue are kept until another needs the memory, so that the next turn reads only new tokens.
 */
export class Batch {
  #waiting: Turn[] = [];
  readonly #running: Running[] = [];
  /** Rows of dialogues without a running turn, the least recently used first. */
  readonly #resting: SequenceRow[] = [];
  /** Number of turns that were running or waiting at one time, at most. */
  #most = 1;
  #working = false;
  #answers: Uint8Array | undefined;

  constructor(
    private readonly decoder: Decoder,
    private readonly chat: { readonly ends: ReadonlySet<number>; decode(ids: readonly number[]): string },
    private readonly limits: BatchLimits,
  ) {}

  /** @throws {Fault} `model/too-long`, `model/too-large` */
  start(request: TurnRequest): StartedTurn {
    const { promptIds, sampling, alternatives, onText, guide } = request;
    const stop = sampling.stop?.filter((string) => string !== '') ?? [];
    const turn: Turn = {
      request,
      longest: this.#longest(Math.max(promptIds.length, guide?.prompt.length ?? 0), sampling.maxTokens),
      sampler: new Sampler(sampling, alternatives),
      text:
        onText === undefined && stop.length === 0
          ? undefined
          : new TurnText((ids) => this.chat.decode(ids), stop),
      ids: [],
      logprobs: [],
      alternatives: alternatives > 0 ? [] : undefined,
      told: 0,
      cancelled: false,
      enough: false,
    };
    this.#waiting.push(turn);
    this.#most = Math.max(this.#most, this.#waiting.length + this.#running.length);
    if (!this.#working) void this.#work();
    return { cancel: () => void (turn.cancelled = true), finish: () => void (turn.enough = true) };
  }

  #longest(prompt: number, maxTokens: number): number {
    const { contextLength, memoryBytes } = this.limits;
    if (prompt >= contextLength)
      throw new Fault(
        'model/too-long',
        `The dialogue has ${prompt} tokens and the model takes ${contextLength}. Play fewer turns, or use a model with a longer context.`,
      );
    const longest = Math.min(contextLength, prompt + maxTokens);
    const needed = this.decoder.bytesFor(1, longest);
    if (needed > memoryBytes)
      throw new Fault(
        'model/too-large',
        `A dialogue of ${longest} tokens needs ${megabytes(needed)} MB beside the model, and ${megabytes(memoryBytes)} MB are allowed. Allow fewer tokens per turn, or use a smaller model.`,
      );
    return longest;
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.#waiting.length > 0 || this.#running.length > 0) {
        this.#leave();
        await this.#admit();
        if (this.#running.length > 0) await this.#step();
      }
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#working = false;
    }
  }

  #leave(): void {
    this.#waiting = this.#waiting.filter(({ cancelled }) => !cancelled);
    for (const running of this.#running.filter(({ turn }) => turn.cancelled)) this.#retire(running);
    for (const running of this.#running.filter(({ turn }) => turn.enough)) this.#finish(running, 'other');
  }

  /** Reads at most about one long prompt between two tokens of the others. */
  async #admit(): Promise<void> {
    let read = 0;
    while (this.#waiting.length > 0 && read < CHUNK && this.#fits(this.#waiting[0]!)) {
      const turn = this.#waiting.shift()!;
      const row = this.#rowFor(turn, turn.request.promptIds);
      const fresh = turn.request.promptIds.slice(row.ids.length);
      const running = { turn, row };
      this.#running.push(running);
      this.#forget();
      const logits = await this.#read(running, fresh);
      read += fresh.length;
      if (logits === undefined) this.#retire(running);
      else if (turn.request.guide === undefined) this.#choose(running, logits);
      else await this.#chooseGuided(running, turn.request.guide, logits);
    }
  }

  /** The message's opening and the token after it, which decides between answer and questions. */
  async #chooseGuided(
    running: Running,
    { prompt, eta }: Guide<readonly number[]>,
    first: Float32Array,
  ): Promise<void> {
    const { turn } = running;
    // Copied, because logits are valid until the next call of the decoder.
    let plain: Float32Array | undefined = first.slice();
    const answers = (this.#answers ??= answerTokens(first.length, (id) => this.chat.decode([id])));
    const informed = { turn, row: this.#rowFor(turn, prompt) };
    try {
      let fresh: readonly number[] = prompt.slice(informed.row.ids.length);
      for (;;) {
        const told = await this.#read(informed, fresh);
        if (plain === undefined || told === undefined) {
          this.#retire(running);
          return;
        }
        this.#choose(running, guidedLogits(plain, told, answers, eta));
        if (!this.#running.includes(running) || !isOpening(this.chat.decode(turn.ids))) return;
        fresh = turn.ids.slice(-1);
        plain = (await this.#read(running, fresh))?.slice();
      }
    } finally {
      this.#rest(informed.row);
    }
  }

  async #read({ turn, row }: Running, ids: readonly number[]): Promise<Float32Array | undefined> {
    let logits: Float32Array | undefined;
    for (let from = 0; from < ids.length && !turn.cancelled; from += CHUNK)
      logits = await this.decoder.read(row, ids.slice(from, from + CHUNK));
    return turn.cancelled ? undefined : logits;
  }

  async #step(): Promise<void> {
    const stepping = [...this.#running];
    const byProbability =
      this.decoder.givesProbabilities &&
      stepping.every(({ turn }) => turn.sampler.isPlain && turn.request.opening?.isOver !== false);
    await this.decoder.step(
      stepping.map(({ row }) => row),
      stepping.map(({ turn }) => turn.ids.at(-1)!),
      (index, scores) => this.#choose(stepping[index]!, scores, byProbability),
      byProbability ? 'probabilities' : 'logits',
    );
  }

  #choose(running: Running, scores: Float32Array, areProbabilities = false): void {
    const { turn } = running;
    if (turn.cancelled) return;
    const { opening } = turn.request;
    const { id, logprob, alternatives } = areProbabilities
      ? turn.sampler.chooseByProbability(scores)
      : turn.sampler.choose(opening?.restrict(scores) ?? scores);
    opening?.push(id);
    turn.ids.push(id);
    turn.logprobs.push(logprob);
    turn.alternatives?.push(alternatives ?? []);
    const ended = this.chat.ends.has(id);
    const piece = ended ? '' : (turn.text?.push(id) ?? '');
    if (piece !== '') tell(turn, piece);
    if (ended || turn.text?.stopped === true) this.#finish(running, 'stop');
    else if (this.#full(turn)) this.#finish(running, 'length');
  }

  #full({ ids, request, longest }: Turn): boolean {
    return ids.length >= request.sampling.maxTokens || request.promptIds.length + ids.length >= longest;
  }

  #finish(running: Running, finishReason: FinishedTurn['finishReason']): void {
    const { request, ids, text } = running.turn;
    this.#retire(running);
    const written = this.chat.ends.has(ids.at(-1)!) ? ids.slice(0, -1) : ids;
    const spoken = text?.end() ?? { text: this.chat.decode(written), rest: '' };
    if (spoken.rest !== '' || running.turn.told < ids.length) tell(running.turn, spoken.rest);
    request.onDone({
      text: spoken.text,
      finishReason,
      ...tokensFrom(running.turn, 0),
      promptIds: request.promptIds,
    });
  }

  #retire(running: Running): void {
    this.#running.splice(this.#running.indexOf(running), 1);
    this.#rest(running.row);
  }

  #rest(row: SequenceRow): void {
    this.decoder.rest(row);
    this.#resting.push(row);
    this.#forget();
  }

  /** Keeps as many rows, with those of running turns, as dialogues were played at once, and more while all are small. */
  #forget(): void {
    while (
      this.#resting.length > 0 &&
      this.#resting.length + this.#running.length > this.#most &&
      this.#bytesAtRest([...this.#resting, ...this.#running.map(({ row }) => row)]) > MAX_EXTRA_BYTES
    )
      this.decoder.close(this.#resting.shift()!);
  }

  #bytesAtRest(rows: readonly SequenceRow[]): number {
    return rows.reduce((bytes, { ids }) => bytes + this.decoder.bytesAtRest(ids.length), 0);
  }

  /**
   * True if memory suffices for all running turns and this one at their maximum length, and for these resting rows at
   * their present one.
   */
  #fits({ longest, request }: Turn, resting: readonly SequenceRow[] = []): boolean {
    const { decoder } = this;
    const used = this.#running.length + (request.guide === undefined ? 1 : 2);
    const length = Math.max(longest, ...this.#running.map(({ turn }) => turn.longest));
    const bytes = decoder.bytesFor(used, length) + this.#bytesAtRest(resting);
    return used + resting.length <= MAX_ROWS && bytes <= this.limits.memoryBytes;
  }

  /**
   * The row of the same dialogue if it is still kept, cut to its common start with the prompt; otherwise an empty one.
   */
  #rowFor(turn: Turn, promptIds: readonly number[]): SequenceRow {
    let best: SequenceRow | undefined;
    let shared = 0;
    for (const row of this.#resting) {
      const length = commonStart(row.ids, promptIds);
      // A row that shares only its first half or less belongs to another dialogue, and is left to it.
      if (length > shared && 2 * length > row.ids.length) [best, shared] = [row, length];
    }
    if (best !== undefined) this.#resting.splice(this.#resting.indexOf(best), 1);
    while (this.#resting.length > 0 && !this.#fits(turn, this.#resting))
      this.decoder.close(this.#resting.shift()!);
    if (best === undefined) return this.decoder.open();
    // The last token is read again, because its logits are needed.
    this.decoder.cut(best, Math.min(shared, promptIds.length - 1));
    return best;
  }

  /** An error of the graph or memory leaves no row usable. */
  #failAll(error: unknown): void {
    const fault =
      error instanceof Fault
        ? error
        : new Fault(
            'model/inference-failed',
            `The model could not go on: ${messageOf(error).replace(/\s+/g, ' ').slice(0, 300)}`,
            { cause: error },
          );
    const turns = [...this.#running.map(({ turn }) => turn), ...this.#waiting];
    for (const row of [...this.#running.map(({ row }) => row), ...this.#resting]) this.decoder.close(row);
    this.#running.length = this.#waiting.length = this.#resting.length = 0;
    for (const turn of turns) turn.request.onFailed(fault);
  }
}

function tell(turn: Turn, piece: string): void {
  turn.request.onText?.({ piece, ...tokensFrom(turn, turn.told) });
  turn.told = turn.ids.length;
}

function tokensFrom({ ids, logprobs, alternatives }: Turn, from: number): TurnTokens {
  return {
    ids: ids.slice(from),
    logprobs: logprobs.slice(from),
    alternatives: alternatives?.slice(from),
  };
}

function commonStart(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length++;
  return length;
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20);
