import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { childEnvironment } from '../../childEnvironment';
import { Fault } from '../../fault';
import type { Job, JobOutcome, Runner } from '../runner';
import { descriptionForm, type Description } from './bubblewrap';
import { Sandbox, sandboxEnded, type Started } from './sandbox';
import { jsonOrUndefined } from '../../json';

/** Number of deaths of sandboxes after which a job is not repeated again. */
const maxDeaths = 3;
const describingMilliseconds = 60_000;

export interface NativeRunnerOptions {
  readonly scripts: string;
  /** Folder of evaluation.py and its neighbours, which judge values in every runner. */
  readonly evaluation: string;
  /** The interpreter; the first `python3` of the path by default. */
  readonly python?: string;
  readonly width?: number;
  /** Modules without which the runner is of no use; numpy by default. */
  readonly required?: readonly string[];
  /** Modules that are imported beforehand when they are there; pandas and bs4 by default. */
  readonly optional?: readonly string[];
  /** Memory that one job may use on top of the imported libraries, bytes; 512 MiB by default. */
  readonly memoryBytes?: number;
  /** The program; `bwrap` of the path by default. */
  readonly bubblewrap?: string;
  /** Number of the user who runs the sandbox, the current one by default; only root can name another. */
  readonly user?: number;
}

/** One sentence: why there is no such runner on this machine, and what to do. */
export interface Unavailable {
  readonly unavailable: string;
}

/**
 * Opens the runner for code that needs the libraries of this machine's Python: bubblewrap with a Python in it, which is
 * forked for each job (docs/decisions/native-grader.md). Linux only.
 *
 * It starts Python twice, so it takes twice as long as importing numpy does.
 */
export async function createNativeRunner(options: NativeRunnerOptions): Promise<NativeRunner | Unavailable> {
  if (process.platform !== 'linux') {
    return {
      unavailable: 'Answers that need numpy can be graded on Linux only: grade them there or in WSL.',
    };
  }
  const {
    python = 'python3',
    bubblewrap = 'bwrap',
    required = ['numpy'],
    optional = ['pandas', 'bs4'],
  } = options;
  const description = await describe(python, options.scripts, { required, optional });
  if ('refused' in description) return { unavailable: description.refused };
  const { scripts, evaluation, memoryBytes = 512 * 1024 * 1024, user = process.getuid!() } = options;
  const modules = [...required, ...optional];
  const inside = { description, scripts, evaluation, modules, memoryBytes, user };
  const start = (): Promise<Started> => Sandbox.start(bubblewrap, inside);
  const first = await start();
  if ('refused' in first) return { unavailable: first.refused };
  return new NativeRunner(first, start, options.width ?? 2, await versionOf(description, options));
}

const describedForm = z.union([descriptionForm, z.object({ refused: z.string() })]);

async function describe(
  python: string,
  scripts: string,
  wanted: Readonly<Record<'required' | 'optional', readonly string[]>>,
): Promise<z.infer<typeof describedForm>> {
  const command = ['-E', '-B', path.join(scripts, 'describe.py'), JSON.stringify(wanted)];
  const settings = { env: childEnvironment('python'), cwd: '/', timeout: describingMilliseconds };
  const { error, stdout, stderr } = await new Promise<{
    error: Error | null;
    stdout: string;
    stderr: string;
  }>((resolve) =>
    execFile(python, command, settings, (...[error, stdout, stderr]) => resolve({ error, stdout, stderr })),
  );
  if (error !== null) {
    const said = stderr.trim().split('\n').at(-1) ?? '';
    const why = said === '' ? error.message : said;
    return {
      refused: `${python} could not be started for numpy answers (${why.replace(/\.$/, '')}): install Python 3 with numpy, or name one in TANDEM_PYTHON.`,
    };
  }
  const described = describedForm.safeParse(jsonOrUndefined(stdout));
  if (described.success) return described.data;
  return {
    refused: `${python} prints something by itself when it starts ("${stdout.slice(0, 100)}"): choose a Python that prints nothing.`,
  };
}

export type OpenNative = () => Promise<Runner | Unavailable>;

export function systemPython(assets: string, python?: string): OpenNative {
  return () =>
    createNativeRunner({
      scripts: path.join(assets, 'native'),
      evaluation: path.join(assets, 'evaluation'),
      python,
    });
}

/** One job at a time in each of `width` sandboxes; a sandbox that has ended is replaced. */
export class NativeRunner implements Runner {
  /** The first is there, the others are started when they are needed. */
  readonly #places: (Promise<Started> | undefined)[];
  readonly #free: number[];
  readonly #turns: ((place: number) => void)[] = [];
  #closed = false;

  constructor(
    first: Sandbox,
    private readonly start: () => Promise<Started>,
    readonly width: number,
    readonly version: string,
  ) {
    this.#places = [Promise.resolve(first)];
    this.#free = Array.from({ length: width }, (_, place) => width - 1 - place);
  }

  async run(job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    signal?.throwIfAborted();
    if (job.start >= job.calls.length) return { calls: [] };
    const place = this.#free.pop() ?? (await this.#turn(signal));
    try {
      return await this.#repeat(place, job, signal);
    } finally {
      void this.#leave(place);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      this.#places.map(async (started) => {
        const sandbox = await started;
        if (sandbox !== undefined && !('refused' in sandbox)) await sandbox.close();
      }),
    );
  }

  #turn(signal?: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      const turn = (place: number): void => {
        signal?.removeEventListener('abort', abort);
        resolve(place);
      };
      const abort = (): void => {
        this.#turns.splice(this.#turns.indexOf(turn), 1);
        reject(signal?.reason as Error);
      };
      this.#turns.push(turn);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  async #leave(place: number): Promise<void> {
    const sandbox = await this.#places[place];
    if (sandbox !== undefined && !('refused' in sandbox)) await sandbox.idle;
    const next = this.#turns.shift();
    if (next === undefined) this.#free.push(place);
    else next(place);
  }

  /** Runs the job again in a new sandbox when a sandbox ends, whatever the cause. */
  async #repeat(place: number, job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    for (let deaths = 1; ; deaths++) {
      const sandbox = await this.#sandbox(place);
      try {
        return await sandbox.run(job, signal);
      } catch (error) {
        const ended = error instanceof Fault && error.code === sandboxEnded && !this.#closed;
        if (!ended) throw error;
        // Nothing else runs in a sandbox, so the job itself has ended each one.
        if (deaths === maxDeaths) return endedAll(job);
      }
    }
  }

  async #sandbox(place: number): Promise<Sandbox> {
    if (this.#closed) throw new Fault('grading/closed', 'The grader is closed.');
    const current = await this.#places[place];
    if (current !== undefined && !('refused' in current) && current.alive) return current;
    const started = await (this.#places[place] = this.start());
    if ('refused' in started) throw new Fault('grading/native-unavailable', started.refused);
    return started;
  }
}

function endedAll({ calls, start }: Job): JobOutcome {
  const message = `The code ended its sandbox, ${maxDeaths} times.`;
  return { calls: calls.slice(start).map(() => ({ kind: 'error', type: 'InterpreterCrash', message })) };
}

/** Digest of all that decides the outcome of a job: Python, its libraries and the files here. */
async function versionOf({ versions }: Description, options: NativeRunnerOptions): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(versions));
  for (const folder of [options.scripts, options.evaluation]) {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.py'));
    for (const name of names.sort()) hash.update(name).update(await readFile(path.join(folder, name)));
  }
  return `native-${hash.digest('hex').slice(0, 16)}`;
}
