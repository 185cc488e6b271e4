import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** The answer to a command, or an event. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/**
 * A browser that is driven by the DevTools protocol over a pipe: no port that another program could reach. Messages end
 * with a zero byte.
 */
export class DevTools {
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>();
  private readonly awaited = new Map<string, () => void>();
  private lastId = 0;
  private hasEnded = false;
  private rest: Buffer[] = [];

  private constructor(private readonly browser: ChildProcess) {
    const fromBrowser = browser.stdio[4] as Readable;
    fromBrowser.on('data', (chunk: Buffer) => this.receive(chunk));
    // Each command that waits is told by 'close'.
    fromBrowser.on('error', () => undefined);
    this.toBrowser.on('error', () => undefined);
    browser.on('error', (error) => this.end(error));
    browser.on('close', () => this.end(new Error('The browser ended.')));
  }

  static start(program: string, args: readonly string[]): DevTools {
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const;
    return new DevTools(
      // A group of its own, because the program may be a shell script that starts the browser, as Debian's is.
      spawn(program, [...args, '--remote-debugging-pipe'], {
        ...{ stdio: [...stdio], detached: process.platform !== 'win32' },
      }),
    );
  }

  private get toBrowser(): Writable {
    return this.browser.stdio[3] as Writable;
  }

  /** @throws Error when the browser refuses the command or ends */
  async send<Result = unknown>(method: string, params: object = {}, sessionId?: string): Promise<Result> {
    if (this.hasEnded) throw new Error('The browser ended.');
    const id = ++this.lastId;
    const answer = Promise.withResolvers<unknown>();
    this.waiting.set(id, answer);
    this.toBrowser.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return (await answer.promise) as Result;
  }

  /** Resolves with the next event of this name. */
  next(method: string): Promise<void> {
    return new Promise((resolve) => this.awaited.set(method, resolve));
  }

  kill(): void {
    const { pid } = this.browser;
    try {
      if (pid !== undefined && process.platform !== 'win32') process.kill(-pid, 'SIGKILL');
      else this.browser.kill('SIGKILL');
    } catch {
      // It has ended by itself.
    }
    // What the browser has left behind may hold the other ends.
    for (const pipe of this.browser.stdio) pipe?.destroy();
  }

  private receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      this.rest.push(chunk.subarray(start, end));
      this.handle(Buffer.concat(this.rest).toString('utf8'));
      this.rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.rest.push(chunk.subarray(start));
  }

  private handle(text: string): void {
    const { id, method, result, error } = JSON.parse(text) as Message;
    if (method !== undefined) this.awaited.get(method)?.();
    if (id === undefined) return;
    const answer = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) answer?.resolve(result);
    else answer?.reject(new Error(error.message));
  }

  private end(error: Error): void {
    this.hasEnded = true;
    for (const answer of this.waiting.values()) answer.reject(error);
    this.waiting.clear();
  }
}
