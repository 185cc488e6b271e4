import { fork, type ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../../childEnvironment';
import { Fault } from '../../../fault';
import { inspectArguments } from '../../../inspect';
import type { CriticDialogue, FromScoring, ReadDialogue, ToScoring } from './protocol';

interface Waiting {
  readonly resolve: (dialogue: ReadDialogue) => void;
  readonly reject: (reason: unknown) => void;
}

/** Ends with `close`, or with this process. */
export class ScoringProcess {
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #complaint = '';
  #over: Fault | undefined;

  /**
   * @param script path of the built scoring.js
   * @param folder an exported critic with its graphs
   */
  constructor(script: string, folder: string) {
    this.#folder = folder;
    this.#child = fork(script, [folder], {
      env: { ...childEnvironment('computing'), ELECTRON_RUN_AS_NODE: '1' },
      execArgv: inspectArguments('TANDEM_INSPECT_SCORING'),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr!.on('data', (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(-500);
    });
    this.#child.on('message', (message: FromScoring) => this.#hear(message));
    this.#child.once('error', (error) => this.#end(this.#ended(error.message)));
    this.#child.once('close', (code, signal) =>
      this.#end(this.#ended(signal ?? `exit code ${code ?? 'unknown'}`)),
    );
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

  /**
   * Several calls may be pending; they run in order.
   * @throws {Fault} for the folder or the conversation, `model/inference-ended`
   */
  read(dialogue: CriticDialogue): Promise<ReadDialogue> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    const id = this.#nextId++;
    const message: ToScoring = { id, dialogue };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // Failure to send means that the process is dying; its end is handled elsewhere.
      this.#child.send(message, () => undefined);
    });
  }

  async close(): Promise<void> {
    this.#end(new Fault('model/inference-ended', `The critic in ${this.#folder} was closed.`));
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }

  #hear(message: FromScoring): void {
    switch (message.kind) {
      case 'ready':
        break;
      case 'read':
        this.#settle(message.id)?.resolve(message.dialogue);
        break;
      case 'failed': {
        const fault = new Fault(message.code, message.message);
        if (message.id === undefined) this.#end(fault);
        else this.#settle(message.id)?.reject(fault);
      }
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(fault: Fault): void {
    this.#over ??= fault;
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(this.#over);
  }

  #ended(reason: string): Fault {
    const told =
      this.#complaint.trim() === '' ? '' : ` It said: ${this.#complaint.replace(/\s+/g, ' ').trim()}`;
    return new Fault(
      'model/inference-ended',
      `The process that scores with ${this.#folder} ended (${reason}).${told} Check that the machine has enough memory for the critic and its base.`,
    );
  }
}
