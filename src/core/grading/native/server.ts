import { spawn, type ChildProcessByStdio } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { childEnvironment } from '../../childEnvironment';
import { Fault, messageOf } from '../../fault';
import { readOutcome, tampered } from '../outcome';
import type { Job, JobOutcome, Reply } from '../runner';

/** What the Python side needs to know when it starts; python/server.py reads it. */
export interface ServerConfiguration {
  /** Modules without which there is no point in starting. */
  readonly required: readonly string[];
  /** Modules that are imported beforehand when they are there. */
  readonly optional: readonly string[];
  /** Memory that one job may use on top of the imported libraries, bytes. */
  readonly memoryBytes: number;
  /** Folder of evaluation.py. */
  readonly evaluation: string;
}

const greetingForm = z.union([
  z.object({ walls: z.array(z.string()), versions: z.record(z.string(), z.string()) }),
  z.object({ refused: z.string() }),
]);

const callForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('result'), text: z.string(), milliseconds: z.number() }),
  z.object({ kind: z.literal('timed-out') }),
  z.object({ kind: z.literal('died'), how: z.string(), exited: z.boolean() }),
  z.object({ kind: z.literal('tampered') }),
]);

const replyForm = z.union([
  z.object({ id: z.int(), calls: z.array(callForm) }),
  z.object({ id: z.int(), broken: z.string() }),
]);

interface Waiting {
  readonly resolve: (outcome: JobOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

const startupMilliseconds = 60_000;
const keptOfStderr = 4_000;

/** A server, or one sentence that says why there is none and what to do. */
export type Started = NativeServer | { readonly refused: string };

/** Code of the Fault of a job whose server died. */
export const serverEnded = 'grading/native-server-ended';

/** The running Python fork server (python/server.py), seen from Node. */
export class NativeServer {
  /** What stands between a job and the machine, in words: "seccomp", "landlock", "network namespace". */
  walls: readonly string[] = [];
  /** Versions of Python and of the imported modules. */
  versions: Readonly<Record<string, string>> = {};

  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<string>;
  #alive = true;
  #next = 1;
  #stderr = '';

  private constructor(python: string, scripts: string, configuration: ServerConfiguration) {
    this.#process = spawn(
      python,
      ['-E', '-S', path.join(scripts, 'launch.py'), JSON.stringify(configuration)],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        cwd: '/',
        env: childEnvironment('python'),
        detached: true, // Ctrl-C in the terminal is for Node; this process ends when its input does
      },
    );
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptOfStderr);
    });
    // The end of the process is what tells about a broken pipe; the stream's own error adds nothing to it.
    this.#process.stdin.on('error', (error) => (this.#stderr ||= messageOf(error)));
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(messageOf(error)));
      this.#process.once('close', (code, signal) => resolve(this.#lastWords(code, signal)));
    });
    void this.#ended.then((why) => {
      this.#alive = false;
      const fault = new Fault(
        serverEnded,
        `The Python process that runs numpy answers ended: ${why}. Grade again; a new one is started.`,
      );
      for (const job of this.#waiting.values()) job.reject(fault);
      this.#waiting.clear();
    });
  }

  /**
   * Starts Python and waits until it has imported its modules and tried its sandbox.
   *
   * @param scripts folder of launch.py and server.py
   * @returns the server, or one sentence that says why there is none and what to do
   */
  static async start(python: string, scripts: string, configuration: ServerConfiguration): Promise<Started> {
    const server = new NativeServer(python, scripts, configuration);
    const greeting = await server.#greet(python);
    if ('refused' in greeting) {
      await server.close();
      return greeting;
    }
    server.walls = greeting.walls;
    server.versions = greeting.versions;
    return server;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** @throws Fault when the process dies or its sandbox fails; the signal's reason when it is aborted */
  async run(job: Job, signal?: AbortSignal): Promise<JobOutcome> {
    signal?.throwIfAborted();
    if (!this.#alive) throw new Fault(serverEnded, `Python ended: ${await this.#ended}.`);
    const id = this.#next++;
    const cancel = () => {
      this.#waiting.get(id)?.reject(signal?.reason);
      this.#waiting.delete(id);
      this.#send({ cancel: id });
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await new Promise<JobOutcome>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        this.#send(jobMessage(id, job));
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Ends the process and every job in it. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), 2_000);
    await this.#ended;
    clearTimeout(kill);
  }

  async #greet(python: string): Promise<z.infer<typeof greetingForm>> {
    const lines = createInterface({ input: this.#process.stdout });
    const first = new Promise<string>((resolve) => lines.once('line', resolve));
    const late = setTimeout(() => this.#process.kill('SIGKILL'), startupMilliseconds);
    const line = await Promise.race([first, this.#ended.then((why) => ({ why }))]);
    clearTimeout(late);
    if (typeof line === 'object') {
      return { refused: `${python} could not be started for numpy answers: ${line.why}.` };
    }
    const greeting = readGreeting(line);
    if (greeting === undefined) {
      const refused = `${python} says something else than the grader's Python side when it starts: "${line.slice(0, 100)}". Choose a Python that prints nothing by itself.`;
      return { refused };
    }
    lines.on('line', (text) => this.#receive(text));
    return greeting;
  }

  /** The last line of a traceback when there is one. */
  #lastWords(code: number | null, signal: NodeJS.Signals | null): string {
    const said = this.#stderr.trim().split('\n').at(-1);
    if (said !== undefined && said !== '') return said;
    return signal === null ? `it ended with status ${code ?? 'unknown'}` : `it was ended by ${signal}`;
  }

  #receive(line: string): void {
    const reply = replyForm.parse(JSON.parse(line));
    const job = this.#waiting.get(reply.id);
    if (job === undefined) return; // cancelled while the reply was on its way
    this.#waiting.delete(reply.id);
    if ('calls' in reply) job.resolve({ calls: reply.calls.map(outcomeOf) });
    else job.reject(new Fault('grading/native-sandbox', `A numpy answer could not be run: ${reply.broken}`));
  }

  #send(message: object): void {
    this.#process.stdin.write(JSON.stringify(message) + '\n');
  }
}

function readGreeting(line: string): z.infer<typeof greetingForm> | undefined {
  try {
    return greetingForm.safeParse(JSON.parse(line)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A call may wait without computing, or the machine may be busy: how long it may take in all, milliseconds. */
function wallMilliseconds({ limitMilliseconds, provisional }: Job): number {
  return provisional === true ? limitMilliseconds : limitMilliseconds * 8 + 1_000;
}

function jobMessage(id: number, job: Job): object {
  const { source, calls, start, seed, own, imported, limitMilliseconds } = job;
  const split = job.mode === 'paper';
  return {
    id,
    source,
    calls,
    start,
    split,
    seed,
    own,
    imported,
    limitMilliseconds,
    wallMilliseconds: wallMilliseconds(job),
  };
}

function outcomeOf(call: z.infer<typeof callForm>): Reply {
  switch (call.kind) {
    case 'timed-out':
      return { kind: 'timed-out' };
    case 'died':
      return call.exited
        ? { kind: 'error', type: 'SystemExit', message: `The code ended its interpreter (${call.how}).` }
        : { kind: 'error', type: 'InterpreterCrash', message: `The interpreter crashed (${call.how}).` };
    case 'tampered':
      return tampered;
    case 'result':
      try {
        return readOutcome(call.text, call.milliseconds);
      } catch (error) {
        if (error instanceof Fault && error.code === 'grading/tampered') return tampered;
        throw error;
      }
  }
}
