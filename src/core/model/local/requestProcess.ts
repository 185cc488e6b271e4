import { fork, type ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../childEnvironment';
import { Fault, messageOf, type FaultCode } from '../../fault';
import { inspectArguments } from '../../inspect';
import { endAtOnce, endWithParent, tellParent } from '../../parent';

/** `ready` comes before any answer. `failed` without an id: nothing can be answered, and the process ends. */
type FromProcess<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

interface ToProcess<Request> {
  readonly id: number;
  readonly request: Request;
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

interface RequestProcessOptions {
  /** Path of the built script, which calls `answerRequests`. */
  readonly script: string;
  /** The script's argument: what it loads. */
  readonly folder: string;
  /** As in "The critic in FOLDER was closed." */
  readonly title: string;
  /** What the process does, as in "The process that scores with FOLDER ended." */
  readonly work: string;
  /** Environment variable with the port of a debugger. */
  readonly inspect: string;
}

/** A model in a process of its own, which answers requests in their order. Ends with `close`, or with this process. */
export class RequestProcess<Request, Answer> {
  readonly #options: RequestProcessOptions;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  #nextId = 1;
  #complaint = '';
  #over: Fault | undefined;

  constructor(options: RequestProcessOptions) {
    this.#options = options;
    this.#child = fork(options.script, [options.folder], {
      env: { ...childEnvironment('computing'), ELECTRON_RUN_AS_NODE: '1' },
      execArgv: inspectArguments(options.inspect),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr!.on('data', (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(-500);
    });
    this.#child.on('message', (message: FromProcess<Answer>) => this.#hear(message));
    this.#child.once('error', (error) => this.#end(this.#ended(error.message)));
    this.#child.once('close', (code, signal) =>
      this.#end(this.#ended(signal ?? `exit code ${code ?? 'unknown'}`)),
    );
  }

  /** True once every further request would fail. */
  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /**
   * Several calls may be pending; they run in order.
   * @throws {Fault} for the folder or the request, `model/inference-ended`
   */
  ask(request: Request): Promise<Answer> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    const id = this.#nextId++;
    const message: ToProcess<Request> = { id, request };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // Failure to send means that the process is dying; its end is handled elsewhere.
      this.#child.send(message, () => undefined);
    });
  }

  async close(): Promise<void> {
    const { title, folder } = this.#options;
    this.#end(new Fault('model/inference-ended', `${title} in ${folder} was closed.`));
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }

  #hear(message: FromProcess<Answer>): void {
    switch (message.kind) {
      case 'ready':
        break;
      case 'answer':
        this.#settle(message.id)?.resolve(message.answer);
        break;
      case 'failed': {
        const fault = new Fault(message.code, message.message);
        if (message.id === undefined) this.#end(fault);
        else this.#settle(message.id)?.reject(fault);
      }
    }
  }

  #settle(id: number): Waiting<Answer> | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(fault: Fault): void {
    this.#over ??= fault;
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(this.#over);
  }

  #ended(reason: string): Fault {
    const { work, folder } = this.#options;
    const told =
      this.#complaint.trim() === '' ? '' : ` It said: ${this.#complaint.replace(/\s+/g, ' ').trim()}`;
    return new Fault(
      'model/inference-ended',
      `The process that ${work} ${folder} ended (${reason}).${told} Check that the machine has enough memory for it.`,
    );
  }
}

const failed = (error: unknown): { kind: 'failed'; code: FaultCode; message: string } => ({
  kind: 'failed',
  code: error instanceof Fault ? error.code : 'model/inference-failed',
  message: messageOf(error),
});

/** The other side: loads the model and answers one request after the other, since each keeps the processor busy. */
export function answerRequests<Model, Request, Answer>(
  load: (folder: string) => Promise<Model>,
  answer: (request: Request, model: Model) => Promise<Answer>,
): void {
  const tell = (message: FromProcess<Answer>): void => tellParent(message);
  const loading = load(process.argv[2]!);
  let queue: Promise<void> = loading.then(
    () => tell({ kind: 'ready' }),
    (error: unknown) => tellParent(failed(error), endAtOnce),
  );
  process.on('message', ({ id, request }: ToProcess<Request>) => {
    queue = queue.then(async () => {
      try {
        tell({ kind: 'answer', id, answer: await answer(request, await loading) });
      } catch (error) {
        tell({ ...failed(error), id });
      }
    });
  });
  endWithParent();
}
