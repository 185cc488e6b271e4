import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf, type FaultCode } from '../../fault';
import type { Job, JobOutcome, Runner, Reply } from '../runner';
import { forkScript, killChild } from '../../childProcess';
import { pythonSha256 } from './binary';
import type { Image } from './interpreter';

/** Number of deaths of the process after which a job in flight is not repeated again. */
const maxDeaths = 3;

interface PendingJob {
  readonly job: Job;
  deaths: number;
  readonly resolve: (outcome: JobOutcome) => void;
  readonly reject: (reason: Error) => void;
}

/** CPython in WebAssembly in a child process with worker threads. A process that dies is replaced, its jobs repeated. */
export class WasiPool implements Runner {
  readonly width: number;
  private readonly pending = new Map<number, PendingJob>();
  private child: ChildProcess | undefined;
  private nextId = 1;
  private closed = false;

  private constructor(
    private readonly settings: HostSettings,
    readonly version: string,
  ) {
    this.width = settings.workers;
  }

  /** @throws Fault when the files are not in the folder */
  static async open(settings: HostSettings): Promise<WasiPool> {
    const hash = createHash('sha256').update(pythonSha256);
    // grader.js is part of the version: it decides how a call is stopped, what its clock says and which modules it has.
    for (const name of ['python.image', 'grader.js']) {
      try {
        hash.update(await readFile(join(settings.assets, name)));
      } catch (error) {
        throw new Fault(
          'grading/missing-file',
          `The grader needs ${name} in ${settings.assets}: ${messageOf(error)}. Build Tandem again with "npm run build".`,
          { cause: error },
        );
      }
    }
    return new WasiPool(settings, `wasi-${hash.digest('hex').slice(0, 16)}`);
  }

  get processId(): number | undefined {
    return this.child?.pid;
  }

  run(job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    if (this.closed) return Promise.reject(new Fault('grading/closed', 'The grader is closed.'));
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const id = this.nextId++;
    return new Promise<JobOutcome>((resolve, reject) => {
      const abort = (): void => {
        this.settle(id)?.reject(signal!.reason as Error);
        this.tell({ kind: 'stop', id });
      };
      const settled = (): void => signal?.removeEventListener('abort', abort);
      signal?.addEventListener('abort', abort, { once: true });
      this.pending.set(id, {
        job,
        deaths: 0,
        resolve: (outcome) => {
          settled();
          resolve(outcome);
        },
        reject: (reason) => {
          settled();
          reject(reason);
        },
      });
      if (this.child === undefined) this.start();
      else this.tell({ kind: 'run', id, job });
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    const { child } = this;
    this.rejectAll(new Fault('grading/closed', 'The grader is closed.'));
    if (child !== undefined) await killChild(child);
  }

  /** Gives the new process every job that is not done. Messages wait in the channel until it has booted. */
  private start(): void {
    this.child = forkScript<FromHost>(
      join(this.settings.assets, 'grader.js'),
      JSON.stringify(this.settings),
      {
        env: {},
        inspect: 'TANDEM_INSPECT_GRADER',
        onMessage: (_, message) => this.hear(message),
        onEnd: (child, reason, said) => this.died(child, reason, said),
      },
    );
    for (const [id, { job }] of this.pending) this.tell({ kind: 'run', id, job });
  }

  private tell(message: ToHost): void {
    // A failure to send means that the process is dying; its end is noticed too, and the jobs are repeated then.
    if (this.child?.connected === true) this.child.send(message, () => undefined);
  }

  private settle(id: number): PendingJob | undefined {
    const job = this.pending.get(id);
    this.pending.delete(id);
    return job;
  }

  private hear(message: FromHost): void {
    if (message.kind === 'done') this.settle(message.id)?.resolve({ calls: message.calls });
    else if (message.kind === 'failed')
      this.settle(message.id)?.reject(new Fault(message.code, message.message));
    else if (message.kind === 'fault') this.rejectAll(new Fault(message.code, message.message));
  }

  private died(child: ChildProcess, reason: string, said: string): void {
    if (this.child !== child) return;
    this.child = undefined;
    const remedy = 'Check that the machine has enough memory, then grade again.';
    for (const [id, job] of this.pending) {
      if (++job.deaths < maxDeaths) continue;
      this.settle(id);
      job.reject(
        new Fault(
          'grading/process-died',
          `The grading process died ${maxDeaths} times (${reason}). ${remedy}${said}`,
        ),
      );
    }
    if (this.pending.size > 0 && !this.closed) this.start();
  }

  private rejectAll(fault: Fault): void {
    for (const id of [...this.pending.keys()]) this.settle(id)?.reject(fault);
  }
}

/** Settings of the child process: its one command-line argument, as JSON. */
export interface HostSettings {
  /** Folder of python.wasm and python.image. */
  readonly assets: string;
  readonly workers: number;
  readonly memoryMegabytes: number;
}

/** From the extension host or the command line. */
export type ToHost =
  | { readonly kind: 'run'; readonly id: number; readonly job: Job }
  | { readonly kind: 'stop'; readonly id: number };

/** Messages from the child process. `fault`: it cannot work at all. `failed`: this job cannot be run. */
export type FromHost =
  | { readonly kind: 'ready' }
  | { readonly kind: 'fault'; readonly code: FaultCode; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly calls: readonly Reply[] }
  | { readonly kind: 'failed'; readonly id: number; readonly code: FaultCode; readonly message: string };

export interface ThreadData {
  readonly module: WebAssembly.Module;
  readonly image: Image;
}

/** A worker thread gets one job at a time. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly calls: readonly Reply[] }
  | { readonly kind: 'failed'; readonly code: FaultCode; readonly message: string };
