import type { ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../childEnvironment';
import { endAtOnce, endWithParent, forkScript, killChild, tellParent } from '../../childProcess';
import { Fault, messageOf, type FaultCode } from '../../fault';

/** `ready` comes before any answer. `failed` without an id: nothing can be answered, and the process ends. */
type FromProcess<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

interface ToProcess<Request> {
  readonly id: number;
  readonly request: Request;
}

interface RequestProcessOptions {
  /** Path of the built script, which calls `answerRequests`. */
  readonly script: string;
  /** The script's argument: what it loads. */
  readonly folder: string;
  /** As in "The process of the critic in FOLDER ended." */
  readonly title: string;
  /** Environment variable with the port of a debugger. */
  readonly inspect: string;
}

/** A model in a process of its own, which answers requests in their order. Ends with `close`, or with this process. */
export class RequestProcess<Request, Answer> {
  readonly #options: RequestProcessOptions;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #nextId = 1;
  #over: Fault | undefined;

  constructor(options: RequestProcessOptions) {
    this.#options = options;
    this.#child = forkScript<FromProcess<Answer>>(options.script, options.folder, {
      env: childEnvironment('computing'),
      inspect: options.inspect,
      onMessage: (_, message) => this.#hear(message),
      onEnd: (_, reason, said) => this.#end(this.#ended(reason, said)),
    });
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
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answer);
    // Failure to send means that the process is dying; its end is handled elsewhere.
    this.#child.send(message, () => undefined);
    return answer.promise;
  }

  async close(): Promise<void> {
    const { title, folder } = this.#options;
    this.#end(new Fault('model/inference-ended', `The process of ${title} in ${folder} was closed.`));
    await killChild(this.#child);
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

  #settle(id: number): PromiseWithResolvers<Answer> | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(fault: Fault): void {
    this.#over ??= fault;
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(this.#over);
  }

  #ended(reason: string, said: string): Fault {
    const { title, folder } = this.#options;
    return new Fault(
      'model/inference-ended',
      `The process of ${title} in ${folder} ended (${reason}).${said} Check that the machine has enough memory for it.`,
    );
  }
}

export const failed = (error: unknown): { kind: 'failed'; code: FaultCode; message: string } => ({
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
