import { RequestProcess } from '../requestProcess';
import type { CriticDialogue, ReadDialogue } from './protocol';

export class ScoringProcess extends RequestProcess<CriticDialogue, ReadDialogue> {
  /**
   * @param script path of the built scoring.js
   * @param folder an exported critic with its graphs
   */
  constructor(script: string, folder: string) {
    super({ script, folder, title: 'The critic', work: 'scores with', inspect: 'TANDEM_INSPECT_SCORING' });
  }

  /** @throws the signal's reason when it is aborted */
  static async during<T>(
    { script, folder, signal }: { script: string; folder: string; signal: AbortSignal | undefined },
    use: (process: ScoringProcess) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const process = new ScoringProcess(script, folder);
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

  /** @throws {Fault} for the folder or the conversation, `model/inference-ended` */
  read(dialogue: CriticDialogue): Promise<ReadDialogue> {
    return this.ask(dialogue);
  }
}
