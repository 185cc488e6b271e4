import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { Fault } from '../fault';
import { brokenAnswer, planSchema, refusedPlan, type Plan } from './checks';
import type { WorkerMemory } from './cluster';
import { runFiles } from './runFolder';
import { commandOf, environmentOf, notStarted, sentenceOf, type Trainer } from './trainer';

/** An idle planner ends, because PyTorch takes most of a gigabyte. */
const IDLE_MS = 5 * 60_000;
/** Lines of stderr that explain why a planner died. */
const KEPT_LINES = 20;

const answerSchema = z.looseObject({
  id: z.number(),
  plan: planSchema.optional(),
  /** `usage` is true when the configuration is to blame. */
  refused: z.string().optional(),
  usage: z.boolean().default(false),
});

type PlanAnswer = z.infer<typeof answerSchema>;

/**
 * Plans as `planOf` does, in one process that keeps PyTorch imported between plans. It is started on the first
 * request, and again after it has died. It ends with this process, even when that is killed.
 */
export class Planner {
  private running: PlannerProcess | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly trainer: Trainer) {}

  /**
   * @param options.worker the place of each worker, for a run on a cluster; by default it is planned for this machine
   * @throws {Fault} `training/bad-configuration`, `training/no-plan`, `training/python-not-started`
   * @throws the signal's reason when it is aborted; the trainer then stops reading the folder
   */
  async plan(
    folder: string,
    from: string,
    { signal, worker }: { readonly signal?: AbortSignal; readonly worker?: WorkerMemory } = {},
  ): Promise<Plan> {
    signal?.throwIfAborted();
    clearTimeout(this.idle);
    const file = join(folder, runFiles.configuration);
    this.running = this.running?.isAlive === true ? this.running : new PlannerProcess(this.trainer);
    const { running } = this;
    try {
      const { plan, refused, usage } = await running.ask({ run: file, ...(worker && { worker }) }, signal);
      if (plan !== undefined) return plan;
      throw refusedPlan(refused ?? 'The trainer has given no plan.', { usage, file, from });
    } finally {
      if (running === this.running && !running.isBusy) {
        this.idle = setTimeout(() => this.end(), IDLE_MS);
        this.idle.unref();
      }
    }
  }

  /** The next plan starts the process again. */
  end(): void {
    clearTimeout(this.idle);
    this.running?.kill();
    this.running = undefined;
  }
}

interface Waiting {
  readonly resolve: (answer: PlanAnswer) => void;
  readonly reject: (error: unknown) => void;
}

class PlannerProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting = new Map<number, Waiting>();
  private readonly stderr: string[] = [];
  private asked = 0;
  /** Undefined while it is alive. */
  private ended: Error | undefined;

  constructor(trainer: Trainer) {
    const kill = (): void => this.kill();
    this.child = spawn(trainer.python, commandOf(trainer, ['planner']).slice(1), {
      // No run folder can be the working directory, because these come and go while the process lives.
      cwd: dirname(trainer.python),
      env: environmentOf(trainer),
      windowsHide: true,
    });
    process.once('exit', kill);
    this.child.stdin.on('error', () => undefined); // the process has died, which `close` reports
    createInterface(this.child.stdout).on('line', (line) => this.hear(line));
    createInterface(this.child.stderr).on('line', (line) => {
      this.stderr.push(line);
      if (this.stderr.length > KEPT_LINES) this.stderr.shift();
    });
    this.child.once('error', (error) => this.fail(notStarted(trainer, error)));
    this.child.once('close', (status) => {
      process.off('exit', kill);
      const sentence = sentenceOf({ code: status ?? 1, stdout: '', stderr: this.stderr });
      this.fail(new Fault('training/no-plan', sentence));
    });
  }

  get isAlive(): boolean {
    return this.ended === undefined;
  }

  get isBusy(): boolean {
    return this.waiting.size > 0;
  }

  async ask(request: object, signal: AbortSignal | undefined): Promise<PlanAnswer> {
    this.asked += 1;
    const id = this.asked;
    const cancel = (): void => this.say({ cancel: id });
    signal?.addEventListener('abort', cancel);
    try {
      const answer = await new Promise<PlanAnswer>((resolve, reject) => {
        this.waiting.set(id, { resolve, reject });
        this.say({ id, ...request });
      });
      signal?.throwIfAborted();
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  private say(message: object): void {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  private hear(line: string): void {
    let answer: PlanAnswer;
    try {
      answer = answerSchema.parse(JSON.parse(line));
    } catch (cause) {
      this.fail(brokenAnswer({ code: 0, stdout: line, stderr: this.stderr }, 'planner', cause));
      this.kill();
      return;
    }
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    waiting?.resolve(answer);
  }

  private fail(error: Error): void {
    this.ended ??= error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
