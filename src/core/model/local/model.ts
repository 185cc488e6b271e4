import { constrainedMemory } from 'node:process';
import { totalmem } from 'node:os';
import path from 'node:path';
import { Fault } from '../../fault';
import {
  type ChatMessage,
  type GenerateOptions,
  type Generation,
  type Model,
  type ModelCounts,
  type SamplingSettings,
  MAX_REPLY_CHARS,
  NO_COUNTS,
  TOO_LONG_REMEDY,
  WROTE_TOO_LONG,
} from '../model';
import { readLocalFolder, type LocalFolder } from './folder';
import type { Guide } from './guidance';
import { InferenceProcess, type TurnPiece } from './process';
import type { LikelyToken } from './sampling';

export interface LocalModelOptions {
  readonly name: string;
  readonly folder: string;
  /** The built inference.js; defaults to the one beside the running program. */
  readonly inference?: string;
  /** For weights, keys and values, in bytes; defaults to half of the machine's memory. */
  readonly memoryBytes?: number;
}

interface LocalModelInfo extends LocalFolder {
  readonly provider: string;
  /** Speed over all dialogues, when turns were last generated. */
  readonly tokensPerSecond?: number;
}

interface LocalGenerateOptions extends GenerateOptions {
  /** Called with the prompt's token ids before the first piece, and again after a restart. */
  readonly onBegin?: (promptIds: readonly number[]) => void;
  /** Together the pieces hold every token. */
  readonly onPiece?: (piece: TurnPiece) => void;
  /** The most likely tokens to list with each sampled one; default 0. */
  readonly alternatives?: number;
  readonly guide?: Guide<readonly ChatMessage[]>;
}

export interface LocalGeneration extends Generation {
  readonly tokens: Required<NonNullable<Generation['tokens']>> & {
    readonly alternatives?: readonly (readonly LikelyToken[])[];
  };
  readonly promptTokenIds: readonly number[];
  readonly usage: NonNullable<Generation['usage']>;
}

/** ONNX Runtime runs it on this machine, in a separate process. */
export class LocalModel implements Model {
  readonly name: string;
  readonly #folder: LocalFolder;
  readonly #process: InferenceProcess;
  readonly #speed = new Speed();
  #isLoaded = false;
  readonly #counts = { ...NO_COUNTS };

  /**
   * Loads nothing before the first turn.
   * @throws {Fault} `model/no-folder`, `model/not-exported`, `model/damaged-folder`, `model/foreign-folder`,
   * `model/too-large`
   */
  constructor({ name, folder, inference, memoryBytes = halfOfMemory() }: LocalModelOptions) {
    this.name = name;
    this.#folder = readLocalFolder(folder);
    requireMemory(this.#folder, memoryBytes);
    this.#process = new InferenceProcess(inference ?? path.join(__dirname, 'inference.js'), {
      folder: this.#folder.folder,
      graph: this.#folder.graph,
      memoryBytes,
    });
  }

  get fingerprint(): string {
    return this.#folder.fingerprint;
  }

  get counts(): ModelCounts {
    return { ...this.#counts };
  }

  get notes(): readonly string[] {
    return this.#process.notes;
  }

  get processId(): number | undefined {
    return this.#process.processId;
  }

  /**
   * Loads the model if needed.
   * @throws {Fault} if it cannot be loaded
   */
  async describe(): Promise<LocalModelInfo> {
    const { provider } = await this.#process.load();
    this.#isLoaded = true;
    return { ...this.#folder, provider, tokensPerSecond: this.#speed.tokensPerSecond };
  }

  /**
   * Token ids include the one that ended the turn. Log-probabilities are those of the model itself, before temperature
   * and truncation, and among the tokens that are allowed in an opening.
   */
  async generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    { onText, onRestart, onPiece, ...options }: LocalGenerateOptions = {},
  ): Promise<LocalGeneration> {
    const started = performance.now();
    let attempts = 1;
    let firstTextMs: number | undefined;
    this.#counts.requests += 1;
    this.#speed.begin();
    if (!this.#isLoaded) void this.#load();
    const turn = await this.#process
      .generate(messages, sampling, {
        ...options,
        onText:
          (onText ?? onPiece) &&
          ((told) => {
            onPiece?.(told);
            if (told.piece === '') return;
            firstTextMs ??= performance.now() - started;
            onText?.(told.piece);
          }),
        onRestart: (why) => {
          attempts += 1;
          firstTextMs = undefined;
          this.#counts.requests += 1;
          this.#counts.retries += 1;
          onRestart?.(why);
        },
      })
      .finally(() => this.#speed.end());
    const { text, finishReason, ids, logprobs, promptIds, alternatives: others } = turn;
    if (text.length > MAX_REPLY_CHARS)
      throw new Fault(
        'model/too-long-answer',
        `The model ${this.name} ${WROTE_TOO_LONG}. ${TOO_LONG_REMEDY}.`,
      );
    const usage = { promptTokens: promptIds.length, completionTokens: ids.length };
    this.#counts.promptTokens += usage.promptTokens;
    this.#counts.completionTokens += usage.completionTokens;
    this.#speed.wrote(ids.length);
    return {
      text,
      finishReason,
      tokens: others === undefined ? { ids, logprobs } : { ids, logprobs, alternatives: others },
      promptTokenIds: promptIds,
      usage,
      timing: { firstTextMs, totalMs: performance.now() - started, attempts },
    };
  }

  forcesOpening(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async close(): Promise<void> {
    this.#isLoaded = false;
    await this.#process.close();
  }

  /** Loading time does not count as generation time. */
  async #load(): Promise<void> {
    try {
      await this.#process.load();
      this.#isLoaded = true;
      this.#speed.loaded();
    } catch {
      // The turn in progress reports the error.
    }
  }
}

/** Tokens per second over the time in which at least one turn was in progress. */
class Speed {
  #inFlight = 0;
  #since = 0;
  #tokens = 0;
  tokensPerSecond: number | undefined;

  begin(): void {
    this.#inFlight += 1;
    if (this.#inFlight > 1) return;
    this.#since = performance.now();
    this.#tokens = 0;
  }

  loaded(): void {
    this.#since = performance.now();
  }

  end(): void {
    this.#inFlight -= 1;
  }

  wrote(tokens: number): void {
    this.#tokens += tokens;
    this.tokensPerSecond = (1000 * this.#tokens) / (performance.now() - this.#since);
  }
}

/** Half of the machine's memory, or of its container's. */
function halfOfMemory(): number {
  const limit = constrainedMemory();
  return Math.floor((limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / 2);
}

function requireMemory({ folder, bytes, precision }: LocalFolder, allowed: number): void {
  if (bytes < allowed) return;
  const fewer = precision === 'fp32' ? 'int8' : 'int4';
  throw new Fault(
    'model/too-large',
    `The model in ${folder} has ${Math.ceil(bytes / 2 ** 20)} MB of weights, and ${Math.floor(allowed / 2 ** 20)} MB of memory may be used. Export it with fewer bits: tandem onnx ${folder} --precision ${fewer}`,
  );
}
