import type { ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../childEnvironment';
import { endAtOnce, endWithParent, forkScript, killChild, tellParent } from '../../childProcess';
import { Fault, messageOf, type FaultCode } from '../../fault';

/** `failed` without an id: nothing can be answered, and the process ends. */
type FromProcess<Answer> =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

interface RequestProcessOptions {
  /** Path of the built script, which calls `answerRequests`. */
  readonly script: string;
  readonly folder: string;
  /** As in "The process of the critic in FOLDER ended." */
  readonly title: string;
  readonly inspect: string;
}

/** A model in a process of its own, which answers requests in their order. Starts with a request, again after its end. */
export class RequestProcess<Request, Answer> {
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #child: ChildProcess | undefined;
  #nextId = 1;

  constructor(private readonly options: RequestProcessOptions) {}

  /**
   * Several calls may be pending; they run in order.
   * @throws {Fault} for the folder or the request, `model/inference-ended`
   */
  ask(request: Request): Promise<Answer> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answer);
    this.#child ??= this.#start();
    // Failure to send means that the process is dying; its end is handled elsewhere.
    this.#child.send({ id, request }, () => undefined);
    return answer.promise;
  }

  async close(): Promise<void> {
    const child = this.#child;
    const { title, folder } = this.options;
    this.#end(new Fault('model/inference-ended', `The process of ${title} in ${folder} was closed.`));
    if (child !== undefined) await killChild(child);
  }

  #start(): ChildProcess {
    const { script, folder, title, inspect } = this.options;
    return forkScript<FromProcess<Answer>>(script, folder, {
      env: childEnvironment('computing'),
      inspect,
      onMessage: (child, message) => {
        if (this.#child === child) this.#hear(message);
      },
      onEnd: (child, reason, said) => {
        if (this.#child !== child) return;
        const what = `The process of ${title} in ${folder} ended (${reason}).${said}`;
        this.#end(
          new Fault('model/inference-ended', `${what} Check that the machine has enough memory for it.`),
        );
      },
    });
  }

  #hear(message: FromProcess<Answer>): void {
    if (message.kind === 'answer') {
      this.#settle(message.id)?.resolve(message.answer);
      return;
    }
    const fault = new Fault(message.code, message.message);
    if (message.id === undefined) this.#end(fault);
    else this.#settle(message.id)?.reject(fault);
  }

  #settle(id: number): PromiseWithResolvers<Answer> | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(fault: Fault): void {
    this.#child = undefined;
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(fault);
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
  let queue: Promise<unknown> = loading.catch((error: unknown) => tellParent(failed(error), endAtOnce));
  process.on('message', ({ id, request }: { readonly id: number; readonly request: Request }) => {
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
