import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../../fault';
import type { Job, JobOutcome, Runner } from '../runner';
import { NativeServer, serverEnded, type ServerConfiguration, type Started } from './server';

/** Deaths of the server after which a job is not repeated again. */
const maxDeaths = 3;

export interface NativeRunnerOptions {
  /** Folder of launch.py and its neighbours. */
  readonly scripts: string;
  /** Folder of evaluation.py and its neighbours, which judge values in every runner. */
  readonly evaluation: string;
  /** The interpreter; the first `python3` of the path when left out. */
  readonly python?: string;
  /** Jobs that run at the same time. */
  readonly width?: number;
  /** Modules that must be there for the runner to be of use; numpy when left out. */
  readonly required?: readonly string[];
  /** Modules that are imported beforehand when they are there; pandas and bs4 when left out. */
  readonly optional?: readonly string[];
  /** Memory that one job may use on top of the imported libraries, bytes; 512 MiB when left out. */
  readonly memoryBytes?: number;
}

/** There is no such runner on this machine: one sentence that says why and what to do. */
export interface Unavailable {
  readonly unavailable: string;
}

/**
 * Opens the runner for code that needs the libraries of this machine's Python: a fork server behind seccomp, landlock
 * and namespaces (docs/decisions/native-grader.md). Linux only.
 *
 * Starts Python, so it takes as long as importing numpy does.
 */
export async function createNativeRunner(options: NativeRunnerOptions): Promise<NativeRunner | Unavailable> {
  if (process.platform !== 'linux') {
    return {
      unavailable: 'Answers that need numpy can be graded on Linux only: grade them there or in WSL.',
    };
  }
  const configuration: ServerConfiguration = {
    required: options.required ?? ['numpy'],
    optional: options.optional ?? ['pandas', 'bs4'],
    memoryBytes: options.memoryBytes ?? 512 * 1024 * 1024,
    evaluation: options.evaluation,
  };
  const start = () => NativeServer.start(options.python ?? 'python3', options.scripts, configuration);
  const server = await start();
  if ('refused' in server) return { unavailable: server.refused };
  return new NativeRunner(server, start, options.width ?? 2, await versionOf(server, options));
}

/** Opens a runner when it is first needed. */
export type OpenNative = () => Promise<Runner | Unavailable>;

/** The system's Python, with the scripts of a build in `assets`. */
export function systemPython(assets: string, python?: string): OpenNative {
  return () =>
    createNativeRunner({
      scripts: path.join(assets, 'native'),
      evaluation: path.join(assets, 'evaluation'),
      python,
    });
}

/** Runs jobs on a fork server, and starts a new one when it has died. */
export class NativeRunner implements Runner {
  readonly #turns: (() => void)[] = [];
  #running = 0;
  #server: Promise<Started>;
  #closed = false;

  constructor(
    server: NativeServer,
    private readonly start: () => Promise<Started>,
    readonly width: number,
    readonly version: string,
  ) {
    this.walls = server.walls;
    this.#server = Promise.resolve(server);
  }

  /** What stands between a job and the machine, in words: "seccomp", "landlock", "network namespace". */
  readonly walls: readonly string[];

  async run(job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    signal?.throwIfAborted();
    if (job.start >= job.calls.length) return { calls: [] };
    if (this.#running >= this.width) await this.#turn(signal);
    else this.#running++;
    try {
      return await this.#repeat(job, signal);
    } finally {
      const next = this.#turns.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const server = await this.#server;
    if (!('refused' in server)) await server.close();
  }

  /** Waits until a job that runs hands its place over. */
  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#turns.splice(this.#turns.indexOf(turn), 1);
        reject(signal?.reason as Error);
      };
      this.#turns.push(turn);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** A server that dies takes its jobs along, whoever's fault it was: they run again on a new one. */
  async #repeat(job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    for (let deaths = 1; ; deaths++) {
      const server = await this.#liveServer();
      try {
        return await server.run(job, signal);
      } catch (error) {
        const died = error instanceof Fault && error.code === serverEnded && !this.#closed;
        if (!died || deaths === maxDeaths) throw error;
      }
    }
  }

  async #liveServer(): Promise<NativeServer> {
    if (this.#closed) throw new Fault('grading/closed', 'The grader is closed.');
    const current = this.#server;
    const server = await current;
    if (!('refused' in server) && server.alive) return server;
    if (this.#server === current) this.#server = this.start(); // unless another job did so meanwhile
    const started = await this.#server;
    if ('refused' in started) throw new Fault('grading/native-unavailable', started.refused);
    return started;
  }
}

/** Python, its libraries and the files here: what decides the outcome of a job. */
async function versionOf(server: NativeServer, options: NativeRunnerOptions): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(server.versions));
  for (const folder of [options.scripts, options.evaluation]) {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.py'));
    for (const name of names.sort()) hash.update(name).update(await readFile(path.join(folder, name)));
  }
  return `native-${hash.digest('hex').slice(0, 16)}`;
}
