// This is the grading process: forked from the extension host or the command line, and killable at any moment. The same
// file is the body of its worker threads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, workerData, Worker } from 'node:worker_threads';
import { endWithParent, tellParent } from '../../childProcess';
import { Fault, messageOf } from '../../fault';
import { adaptPython, pageBytes } from './binary';
import { readImage, Interpreter } from './interpreter';
import type { FromHost, FromThread, HostSettings, ThreadData, ToHost } from './pool';
import type { Job, CallOutcome } from '../runner';
import { execute } from './execution';

const send = (message: FromHost): void => tellParent(message);

async function startThreads({ assets, workers, memoryMegabytes }: HostSettings): Promise<Threads> {
  const pages = (memoryMegabytes * 1024 * 1024) / pageBytes;
  const module = await WebAssembly.compile(adaptPython(readFileSync(join(assets, 'python.wasm')), pages));
  return new Threads({ module, image: readImage(readFileSync(join(assets, 'python.image'))) }, workers);
}

function serve(threads: Threads): void {
  process.on('message', (message: ToHost) => {
    if (message.kind === 'stop') {
      threads.stop(message.id);
      return;
    }
    const { id } = message;
    threads.run(id, message.job, (result) => send({ ...result, id }));
  });
  send({ kind: 'ready' });
}

async function main(): Promise<void> {
  endWithParent();
  try {
    serve(await startThreads(JSON.parse(process.argv[2]!) as HostSettings));
  } catch (error) {
    const code = error instanceof Fault ? error.code : 'grading/boot-failed';
    send({ kind: 'fault', code, message: messageOf(error) });
  }
}

function runThread(): void {
  const { module, image } = workerData as ThreadData;
  const interpreter = new Interpreter(module, image);
  const send = (message: FromThread): void => parentPort!.postMessage(message);
  parentPort!.on('message', (job: Job) => send(answer(interpreter, job)));
  send({ kind: 'ready' });
}

function answer(interpreter: Interpreter, job: Job): FromThread {
  try {
    return { kind: 'done', calls: execute(interpreter, job) };
  } catch (error) {
    const code = error instanceof Fault ? error.code : 'grading/internal';
    return { kind: 'failed', code, message: messageOf(error) };
  }
}

interface Assignment {
  readonly id: number;
  readonly job: Job;
  /** Number of threads that died under it. */
  deaths: number;
  readonly finish: (result: ThreadResult) => void;
}

type ThreadResult = Exclude<FromThread, { kind: 'ready' }>;

interface Thread {
  readonly worker: Worker;
  ready: boolean;
  assignment?: Assignment | undefined;
  guard?: NodeJS.Timeout | undefined;
}

/**
 * Returns the wall time after which a thread is taken for stuck: far more than execution.ts allows a job, since its own
 * watchdog stops every loop of the guest.
 */
function stuckMilliseconds({ calls, limitMilliseconds }: Job): number {
  return 30_000 + 100 * calls.length * limitMilliseconds;
}

/** `width` threads that work, and a warm spare one that replaces one that is killed. */
class Threads {
  private readonly all = new Set<Thread>();
  private readonly waiting: Assignment[] = [];

  constructor(
    private readonly data: ThreadData,
    private readonly width: number,
  ) {
    while (this.all.size < width + 1) this.startThread();
  }

  run(id: number, job: Job, finish: (result: ThreadResult) => void): void {
    this.waiting.push({ id, job, deaths: 0, finish });
    this.assign();
  }

  stop(id: number): void {
    const index = this.waiting.findIndex((assignment) => assignment.id === id);
    if (index >= 0) this.waiting.splice(index, 1);
    for (const thread of this.all) {
      if (thread.assignment?.id === id) this.kill(thread);
    }
  }

  private assign(): void {
    for (const thread of this.all) {
      if (this.waiting.length === 0 || this.busy() >= this.width) return;
      if (!thread.ready || thread.assignment !== undefined) continue;
      const assignment = this.waiting.shift()!;
      thread.assignment = assignment;
      thread.guard = setTimeout(() => this.stuck(thread), stuckMilliseconds(assignment.job));
      thread.worker.postMessage(assignment.job);
    }
  }

  private busy(): number {
    let count = 0;
    for (const { assignment } of this.all) if (assignment !== undefined) count++;
    return count;
  }

  private startThread(): void {
    const worker = new Worker(__filename, {
      workerData: this.data,
      env: {},
      resourceLimits: { stackSizeMb: 32, maxOldGenerationSizeMb: 256 },
    });
    const thread: Thread = { worker, ready: false };
    this.all.add(thread);
    worker.on('message', (message: FromThread) => this.hear(thread, message));
    worker.on('error', (error: unknown) => this.died(thread, messageOf(error)));
    worker.on('exit', (code) => this.died(thread, `exit code ${code}`));
  }

  private hear(thread: Thread, message: FromThread): void {
    if (!this.all.has(thread)) return;
    if (message.kind === 'ready') thread.ready = true;
    else this.release(thread)?.finish(message);
    this.assign();
  }

  private release(thread: Thread): Assignment | undefined {
    const { assignment } = thread;
    clearTimeout(thread.guard);
    thread.assignment = undefined;
    return assignment;
  }

  private kill(thread: Thread): Assignment | undefined {
    const assignment = this.release(thread);
    this.all.delete(thread);
    void thread.worker.terminate();
    this.startThread();
    this.assign();
    return assignment;
  }

  private stuck(thread: Thread): void {
    this.repeat(this.kill(thread), 'it did not stop');
  }

  private died(thread: Thread, reason: string): void {
    if (!this.all.delete(thread)) return;
    this.startThread();
    this.repeat(this.release(thread), reason);
    this.assign();
  }

  /** A job under which two threads died has killed them: that is an error of its first call. */
  private repeat(assignment: Assignment | undefined, reason: string): void {
    if (assignment === undefined) return;
    assignment.deaths++;
    if (assignment.deaths < 2) {
      this.waiting.unshift(assignment);
      this.assign();
      return;
    }
    const outcome: CallOutcome = {
      kind: 'error',
      type: 'InterpreterCrash',
      message: `The interpreter died: ${reason}.`,
    };
    assignment.finish({ kind: 'done', calls: [outcome] });
  }
}

if (isMainThread) void main();
else runThread();
