import type { ChatMessage } from '../../model';
import { RequestProcess } from '../requestProcess';

export interface CriticDialogue {
  /** The conversation as the agent saw it, with its own messages in full. */
  readonly messages: readonly ChatMessage[];
  readonly turns: readonly SpokenTurn[];
  readonly hiddenInformation?: string;
}

/** Includes the sampler's data if there are any. */
export interface SpokenTurn {
  /** Index of its message; earlier messages are its history. */
  readonly position: number;
  readonly ids?: readonly number[];
  readonly promptIds?: readonly number[];
  readonly finishReason?: string;
  /** Thoughts that the server removed from the sampled text. */
  readonly reasoning?: string;
}

/** Natural log-probabilities, one for each of `ids`. */
export interface ReadTurn {
  readonly ids: readonly number[];
  readonly texts: readonly string[];
  /** Values of the critic, with the hidden information if it was trained with it. */
  readonly critic: readonly number[];
  /**
   * Values of the base with (`informed`) and without (`plain`) the hidden information; `informed` is absent if there
   * is none.
   */
  readonly informed?: readonly number[];
  readonly plain: readonly number[];
}

/** A few words, by which such dialogues are counted, and a sentence. */
export interface Unscorable {
  readonly why: string;
  readonly reason: string;
}

export type ReadDialogue = { readonly turns: readonly ReadTurn[] } | Unscorable;

export class ScoringProcess extends RequestProcess<CriticDialogue, ReadDialogue> {
  /**
   * @param script path of the built scoring.js
   * @param folder an exported critic with its graphs
   * @param signal no request is answered once it is aborted
   */
  constructor(
    script: string,
    folder: string,
    private readonly signal?: AbortSignal,
  ) {
    super({ script, folder, title: 'the critic', inspect: 'TANDEM_INSPECT_SCORING' });
  }

  override async ask(dialogue: CriticDialogue): Promise<ReadDialogue> {
    this.signal?.throwIfAborted();
    return super.ask(dialogue);
  }

  /** @throws the signal's reason when it is aborted */
  static async during<T>(
    { script, folder, signal }: { script: string; folder: string; signal: AbortSignal | undefined },
    use: (process: ScoringProcess) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const process = new ScoringProcess(script, folder, signal);
    const stop = (): void => void process.close();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await use(process);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      await process.close();
    }
  }
}
