import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import * as z from 'zod';
import { childEnvironment } from '../../childEnvironment';
import { Fault, messageOf } from '../../fault';
import type { Job, JobOutcome, Reply } from '../runner';
import { bubblewrapArguments, notInstalled, refusedBy, type SandboxContent } from './bubblewrap';
import { Claims, nonceBytes } from './claims';

const startupMilliseconds = 60_000;
const beforeFirstCallMilliseconds = 30_000;
const keptOfStderr = 4_000;
/** A frame begins with a kind, listed in python/zygote.py, and the length of what follows. */
const frameHeaderBytes = 5;
const greetingForm = z.object({ refused: z.string().optional() });

/** The sentence says why there is none and what to do. */
export type Started = Sandbox | { readonly refused: string };

export const sandboxEnded = 'grading/native-sandbox-ended';

interface Running {
  readonly job: Job;
  readonly claims: Claims;
  readonly settle: (outcome: JobOutcome | Error) => void;
  /** Start of the running call by the clock here, milliseconds. */
  began: number;
  /** Number of messages from the child when it was last asked for its time. */
  askedAt: number;
  timer?: NodeJS.Timeout;
  /** Set when nothing that the child says counts any more. */
  ended?: 'over' | 'timed-out' | 'cancelled';
}

/** One bubblewrap with a Python in it (python/zygote.py) that runs one job after the other, each in a child of its own. */
export class Sandbox {
  readonly #process: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #greeted = Promise.withResolvers<z.infer<typeof greetingForm>>();
  #alive = true;
  #stderr = '';
  #unread: Buffer = Buffer.alloc(0);
  #number = 1;
  #running: Running | undefined;
  #idle: Promise<unknown> = Promise.resolve();

  private constructor(bubblewrap: string, inside: SandboxContent) {
    this.#process = spawn(bubblewrap, bubblewrapArguments(inside), {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      cwd: '/',
      env: childEnvironment(),
      detached: true, // Ctrl-C in the terminal is for Node; this process ends when Node does
      ...(inside.user === process.getuid!() ? {} : { uid: inside.user, gid: inside.user }),
    });
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptOfStderr);
    });
    // The end of the process already reports a broken pipe; the stream's own error adds nothing to it.
    for (const stream of [this.#process.stdin!, this.#control]) {
      stream.on('error', (error) => (this.#stderr ||= messageOf(error)));
    }
    this.#process.stdout!.on('data', (data: Buffer) => this.#receive(data));
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) =>
        resolve('code' in error && error.code === 'ENOENT' ? notInstalled : messageOf(error)),
      );
      this.#process.once('close', (code, signal) => resolve(this.#lastWords(code, signal)));
    });
    void this.#ended.then((why) => {
      this.#alive = false;
      this.#greeted.resolve({ refused: why });
      this.#settle(new Fault(sandboxEnded, `The sandbox of an answer that needs numpy ended: ${why}.`));
    });
  }

  static async start(bubblewrap: string, inside: SandboxContent): Promise<Started> {
    const sandbox = new Sandbox(bubblewrap, inside);
    const late = setTimeout(() => sandbox.#kill(), startupMilliseconds);
    const { refused } = await sandbox.#greeted.promise;
    clearTimeout(late);
    if (refused === undefined) return sandbox;
    await sandbox.close();
    return { refused: refused === notInstalled ? refused : refusedBy(refused) };
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Settles when the last job has left nothing behind. */
  get idle(): Promise<unknown> {
    return this.#idle;
  }

  /** Call it only when idle. @throws Fault when the sandbox ends; the signal's reason when it is aborted */
  async run(job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    signal?.throwIfAborted();
    if (!this.#alive) throw new Fault(sandboxEnded, `The sandbox ended: ${await this.#ended}.`);
    const idle = Promise.withResolvers<undefined>();
    this.#idle = idle.promise;
    const nonce = randomBytes(nonceBytes);
    const outcome = Promise.withResolvers<JobOutcome>();
    const running: Running = {
      job,
      claims: new Claims(job, nonce),
      settle: (given) => {
        if (given instanceof Error) outcome.reject(given);
        else outcome.resolve(given);
        idle.resolve(undefined);
      },
      began: performance.now(),
      askedAt: 0,
    };
    this.#running = running;
    this.#timer(running, beforeFirstCallMilliseconds);
    const cancel = (): void => {
      outcome.reject(signal?.reason);
      this.#end(running, 'cancelled');
    };
    signal?.addEventListener('abort', cancel, { once: true });
    this.#process.stdin!.write(jobMessage(nonce, job));
    try {
      return await outcome.promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async close(): Promise<void> {
    this.#kill();
    await this.#ended;
  }

  get #control(): Duplex {
    return this.#process.stdio[3] as Duplex;
  }

  #kill(): void {
    this.#alive = false;
    this.#process.kill('SIGKILL');
  }

  #lastWords(code: number | null, signal: NodeJS.Signals | null): string {
    const said = this.#stderr.trim().split('\n').at(-1);
    if (said !== undefined && said !== '') return said.replace(/\.$/, '');
    return signal === null ? `it ended with status ${code ?? 'unknown'}` : `it was ended by ${signal}`;
  }

  #receive(data: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, data]);
    while (this.#unread.length >= frameHeaderBytes) {
      const end = frameHeaderBytes + this.#unread.readUInt32LE(1);
      if (this.#unread.length < end) return;
      const kind = String.fromCharCode(this.#unread[0]!);
      const content = this.#unread.subarray(frameHeaderBytes, end);
      this.#unread = this.#unread.subarray(end);
      this.#frame(kind, content);
    }
  }

  #frame(kind: string, content: Buffer): void {
    const running = this.#running;
    if (kind === 'g') this.#greeted.resolve(greetingForm.parse(JSON.parse(content.toString())));
    else if (kind === 'x' || kind === 'l') this.#exit(content.readInt32LE(0), kind === 'l');
    else if (running === undefined) return;
    else if (kind === 's') this.#said(running, content);
    else if (kind === 'c') this.#cpuTime(running, content.readDoubleLE(0));
  }

  #said(running: Running, data: Buffer): void {
    const { claims, job } = running;
    if (running.ended !== undefined && running.ended !== 'cancelled') return;
    const before = claims.steps;
    claims.take(data);
    if (claims.over || running.ended === 'cancelled') {
      this.#end(running, running.ended ?? 'over');
    } else if (claims.steps > before) {
      running.began = performance.now();
      this.#timer(running, Math.min(job.limitMilliseconds, wallMilliseconds(job)));
    }
  }

  /** Asks, after a while, for the CPU time of a child that is still at the same call. */
  #timer(running: Running, milliseconds: number): void {
    clearTimeout(running.timer);
    running.timer = setTimeout(() => {
      running.askedAt = running.claims.steps;
      this.#request('c');
    }, milliseconds);
  }

  #cpuTime(running: Running, seconds: number): void {
    const { claims, job, ended, askedAt, began } = running;
    if (claims.steps !== askedAt) return;
    if (claims.beganSeconds === undefined) {
      const said = 'A numpy answer did not begin to run in time; see `tandem doctor`, then grade again.';
      running.settle(new Fault('grading/native-sandbox', said));
      this.#kill();
      return;
    }
    if (ended !== undefined) return;
    const left = job.limitMilliseconds - Math.max(0, seconds - claims.beganSeconds) * 1000;
    const wall = began + wallMilliseconds(job) - performance.now();
    if (left <= 0 || wall <= 0) this.#end(running, 'timed-out');
    else this.#timer(running, Math.min(left + 1, wall));
  }

  /** Has the child killed as soon as it has taken its job: the next child would read what is left of the job. */
  #end(running: Running, how: NonNullable<Running['ended']>): void {
    running.ended = how;
    if (running.claims.steps === 0) return;
    clearTimeout(running.timer);
    this.#request('k');
  }

  #request(kind: 'c' | 'k'): void {
    const request = Buffer.alloc(5, kind);
    request.writeUInt32LE(this.#number, 1);
    this.#control.write(request);
  }

  #exit(status: number, last: boolean): void {
    this.#number++;
    if (last) this.#alive = false;
    const running = this.#running;
    if (running === undefined) {
      this.#kill(); // a child that had no job yet
      return;
    }
    const { claims } = running;
    // The part of its job that the child has not taken is still in the pipe.
    if (claims.beganSeconds === undefined) this.#kill();
    this.#settle(outcomeOf(running, status));
  }

  #settle(outcome: JobOutcome | Error): void {
    const running = this.#running;
    this.#running = undefined;
    clearTimeout(running?.timer);
    running?.settle(outcome);
  }
}

/** Wall time that a call may take in all, milliseconds: it may wait without computing, or the machine may be busy. */
function wallMilliseconds({ limitMilliseconds, provisional }: Job): number {
  return provisional === true ? limitMilliseconds : limitMilliseconds * 8 + 1_000;
}

function jobMessage(nonce: Buffer, { source, calls, start, seed, own, imported, mode }: Job): Buffer {
  const text = JSON.stringify({ source, calls, start, split: mode === 'paper', seed, own, imported });
  const body = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([nonce, length, body]);
}

function outcomeOf({ claims, ended }: Running, status: number): JobOutcome | Fault {
  if (claims.broken) return { calls: claims.tampered };
  if (ended === 'timed-out') return { calls: [...claims.replies, { kind: 'timed-out' }] };
  if (claims.over || ended === 'cancelled') return { calls: claims.replies };
  if (claims.beganSeconds !== undefined) return { calls: [...claims.replies, died(status)] };
  const how = `its process ended before the first call (${words(status)}).`;
  return new Fault('grading/native-sandbox', `A numpy answer could not be run: ${how}`);
}

function words(status: number): string {
  return status < 0 ? `signal ${nameOfSignal(-status)}` : `exit status ${status}`;
}

function nameOfSignal(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? String(number);
}

function died(status: number): Reply {
  return status < 0
    ? { kind: 'error', type: 'InterpreterCrash', message: `The interpreter crashed (${words(status)}).` }
    : { kind: 'error', type: 'SystemExit', message: `The code ended its interpreter (${words(status)}).` };
}
