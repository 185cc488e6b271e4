import type { ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../childEnvironment';
import { forkScript, killChild } from '../../childProcess';
import { Fault, type FaultCode } from '../../fault';
import type { ChatMessage, GenerateOptions, SamplingSettings } from '../model';
import type { Guide } from './guidance';
import type { LikelyToken } from './sampling';

/** Passed as JSON in the first argument of the inference process. */
export interface InferenceSettings {
  readonly folder: string;
  readonly graph: string;
  /** For weights, keys and values together, in bytes. */
  readonly memoryBytes: number;
}

export type ToInference =
  | {
      readonly kind: 'generate';
      readonly id: number;
      readonly messages: readonly ChatMessage[];
      readonly openings?: readonly string[];
      readonly sampling: SamplingSettings;
      readonly stream: boolean;
      /** 0: none. */
      readonly alternatives: number;
      readonly guide?: Guide<readonly ChatMessage[]>;
    }
  | { readonly kind: 'finish'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromInference =
  | ({ readonly kind: 'ready' } & Loaded)
  /** Sent after tokenising, for turns whose text is streamed. */
  | { readonly kind: 'begun'; readonly id: number; readonly promptIds: readonly number[] }
  | ({ readonly kind: 'text'; readonly id: number } & TurnPiece)
  | ({ readonly kind: 'done'; readonly id: number } & FinishedTurn)
  /** Without an id: the folder cannot be loaded, and the process ends. */
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

interface Loaded {
  readonly provider: string;
  readonly notes: readonly string[];
}

export interface TurnTokens {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** For each token the most likely ones in its place; absent unless requested. */
  readonly alternatives?: readonly (readonly LikelyToken[])[];
}

/** The text never changes again; the tokens are those since the piece before it. */
export interface TurnPiece extends TurnTokens {
  /** Empty for tokens without text, such as the one that ends a turn. */
  readonly piece: string;
}

/** Its tokens include the one that ended the turn. */
export interface FinishedTurn extends TurnTokens {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'other';
  readonly promptIds: readonly number[];
}

interface TurnOptions extends Pick<GenerateOptions, 'signal' | 'enough' | 'openings'> {
  readonly onBegin?: (promptIds: readonly number[]) => void;
  readonly onText?: (piece: TurnPiece) => void;
  readonly onRestart?: (why: string) => void;
  readonly alternatives?: number;
  readonly guide?: Guide<readonly ChatMessage[]>;
}

interface PendingTurn extends PromiseWithResolvers<FinishedTurn> {
  readonly message: ToInference & { kind: 'generate' };
  readonly options: TurnOptions;
  deaths: number;
}

const MAX_CRASHES = 2;

/**
 * Memory blocks from 4 MB go back to the system when they are freed. By default glibc raises this limit to 32 MB with the
 * first large block, and keys and values of ended dialogues then leave holes of half a gigabyte.
 */
const MMAP_BYTES = `${4 * 2 ** 20}`;

/** Starts with the first turn, and again after a crash; unfinished turns are then generated again, once. */
export class InferenceProcess {
  readonly #script: string;
  readonly #settings: InferenceSettings;
  readonly #pending = new Map<number, PendingTurn>();
  #child: ChildProcess | undefined;
  #loading: PromiseWithResolvers<Loaded> | undefined;
  #notes: readonly string[] = [];
  #nextId = 1;

  constructor(script: string, settings: InferenceSettings) {
    this.#script = script;
    this.#settings = settings;
  }

  get processId(): number | undefined {
    return this.#child?.pid;
  }

  /** One sentence for each provider that does not work here; empty until the model is loaded. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** @throws {Fault} if the model cannot be loaded */
  load(): Promise<Loaded> {
    this.#start();
    return this.#loading!.promise;
  }

  /** @throws {Fault} for the folder or the conversation, or `model/inference-ended`; AbortError on cancel */
  generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    options: TurnOptions,
  ): Promise<FinishedTurn> {
    const { signal, onText, enough, alternatives = 0, openings, guide } = options;
    if (signal?.aborted === true) return Promise.reject(cancelled());
    const id = this.#nextId++;
    const stream = (onText ?? enough) !== undefined;
    const asked = { messages, openings, sampling, stream, alternatives, guide };
    const message = { kind: 'generate', id, ...asked } as const;
    const turn = Promise.withResolvers<FinishedTurn>();
    const cancel = (): void => {
      this.#settle(id)?.reject(cancelled());
      this.#tell({ kind: 'cancel', id });
    };
    signal?.addEventListener('abort', cancel, { once: true });
    this.#pending.set(id, { ...turn, message, options, deaths: 0 });
    if (this.#child === undefined) this.#start();
    else this.#tell(message);
    this.#keepAwake();
    return turn.promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#loading?.reject(
      new Fault('model/inference-ended', `The model in ${this.#settings.folder} was closed while it loaded.`),
    );
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(cancelled());
    if (child !== undefined) await killChild(child);
  }

  /** Sends every unfinished turn. Messages wait in the channel until the process has loaded. */
  #start(): void {
    if (this.#child !== undefined) return;
    const loading = Promise.withResolvers<Loaded>();
    // Avoids an unhandled rejection: if the promise is not awaited, the turns report the failure.
    loading.promise.catch(() => undefined);
    this.#loading = loading;
    this.#child = forkScript<FromInference>(this.#script, JSON.stringify(this.#settings), {
      env: { MALLOC_MMAP_THRESHOLD_: MMAP_BYTES, ...childEnvironment('computing') },
      inspect: 'TANDEM_INSPECT_INFERENCE',
      onMessage: (child, message) => this.#hear(child, message),
      onEnd: (child, reason, said) => this.#died(child, reason, said),
    });
    for (const { message } of this.#pending.values()) this.#tell(message);
    this.#keepAwake();
  }

  #tell(message: ToInference): void {
    // Failure to send means that the process is dying; its end is handled elsewhere, and the turns are then repeated.
    if (this.#child?.connected === true) this.#child.send(message, () => undefined);
  }

  #settle(id: number): PendingTurn | undefined {
    const turn = this.#pending.get(id);
    this.#pending.delete(id);
    this.#keepAwake();
    return turn;
  }

  /** Only turns in progress keep the program alive; a model that was not closed must not prevent its exit. */
  #keepAwake(): void {
    const child = this.#child;
    if (child === undefined) return;
    const busy = this.#pending.size > 0;
    if (busy) child.ref();
    else child.unref();
    if (busy) child.channel?.ref();
    else child.channel?.unref();
  }

  #hear(child: ChildProcess, message: FromInference): void {
    if (this.#child !== child) return;
    switch (message.kind) {
      case 'ready':
        this.#notes = message.notes;
        this.#loading!.resolve(message);
        break;
      case 'begun':
        this.#pending.get(message.id)?.options.onBegin?.(message.promptIds);
        break;
      case 'text':
        this.#told(message);
        break;
      case 'done':
        this.#settle(message.id)?.resolve(message);
        break;
      case 'failed':
        this.#failed(message.id, new Fault(message.code, message.message));
    }
  }

  #told({ id, ...piece }: FromInference & { kind: 'text' }): void {
    const { onText, enough } = this.#pending.get(id)?.options ?? {};
    onText?.(piece);
    if (enough?.() === true) this.#tell({ kind: 'finish', id });
  }

  #failed(id: number | undefined, fault: Fault): void {
    if (id !== undefined) {
      this.#settle(id)?.reject(fault);
      return;
    }
    this.#child = undefined;
    this.#loading!.reject(fault);
    for (const each of [...this.#pending.keys()]) this.#settle(each)?.reject(fault);
  }

  #died(child: ChildProcess, reason: string, said: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    const what = `The process that computes ${this.#settings.folder} ended (${reason}).`;
    this.#loading!.reject(new Fault('model/inference-ended', `${what}${said}`));
    for (const [id, turn] of this.#pending) {
      turn.deaths += 1;
      if (turn.deaths < MAX_CRASHES) turn.options.onRestart?.(`${what} It is started again.`);
      else
        this.#settle(id)?.reject(
          new Fault(
            'model/inference-ended',
            `${what} It had ended in the same turn before.${said} See whether the machine has enough memory for the model.`,
          ),
        );
    }
    if (this.#pending.size > 0) this.#start();
  }
}

const cancelled = (): DOMException => new DOMException('The turn was cancelled.', 'AbortError');
