import { createHash } from 'node:crypto';
import { Fault, messageOf } from '../fault';
import type { GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import type { Task } from '../task/task';
import type { Trajectory } from '../trajectory/trajectory';
import { Dialogue, type DialogueParts } from './dialogue';
import type { Protocol } from './protocol';
import { deriveSeed } from './seed';
import type { Simulator } from './simulator';

export interface PackTask {
  readonly task: Task;
  /** The pack's file name. */
  readonly pack?: string;
}

export interface CollectionPlan extends DialogueParts {
  readonly simulator: Simulator;
  readonly tasks: readonly PackTask[];
  readonly rollouts: number;
  /** Dialogues in flight at once. */
  readonly concurrency: number;
  readonly seed: number;
  readonly protocol: Protocol;
  readonly grader: Grader;
  readonly mode: GradingMode;
  /** Names the collection in the log: the same name goes on where it stopped. */
  readonly collection: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CollectionProgress) => void;
}

export interface CollectionProgress {
  readonly total: number;
  /** Answered and graded, of which `already` were so before this call. */
  readonly done: number;
  readonly already: number;
  readonly failed: number;
  readonly inFlight: number;
}

export interface CollectionResult extends CollectionProgress {
  /** What the failed dialogues said, each message once, with how often. */
  readonly failures: readonly { readonly message: string; readonly count: number }[];
}

/** After so many dialogues in a row that failed, with none that worked in between, the next would fail too. */
const FAILURES_IN_A_ROW = 8;

/**
 * Names a collection by what makes its dialogues comparable, so that the same command goes on after a crash, and more
 * rollouts or tasks extend it.
 */
export function collectionName(purpose: string, settings: Record<string, unknown>): string {
  const digest = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
  return `${purpose}-${digest.slice(0, 12)}`;
}

/**
 * Plays every task `rollouts` times and grades the answers. Dialogues do not wait for each other: a free place is
 * filled at once, and grading goes on beside. What the log already has is not repeated; what it has begun is resumed.
 *
 * @throws {Fault} `dialogue/collection-failing` when nothing works; AbortError on cancel, with everything logged
 */
export async function collect(plan: CollectionPlan): Promise<CollectionResult> {
  return new Collection(plan).run();
}

interface Job {
  readonly task: Task;
  readonly pack?: string;
  readonly rollout: number;
}

class Collection {
  private readonly known: ReturnType<DialogueParts['log']['collected']>;
  private readonly total: number;
  private readonly failures = new Map<string, number>();
  private readonly grading = new Set<Promise<void>>();
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private done = 0;
  private already = 0;
  private failed = 0;
  private inFlight = 0;
  private failedInARow = 0;

  constructor(private readonly plan: CollectionPlan) {
    this.known = plan.log.collected(plan.collection);
    this.total = plan.tasks.length * plan.rollouts;
    this.signal =
      plan.signal === undefined ? this.stop.signal : AbortSignal.any([plan.signal, this.stop.signal]);
  }

  async run(): Promise<CollectionResult> {
    const jobs = this.jobs();
    const places = Array.from({ length: this.plan.concurrency }, () => this.work(jobs));
    const results = await Promise.allSettled(places);
    const graded = await Promise.allSettled(this.grading);
    const broken = [...results, ...graded].find((result) => result.status === 'rejected');
    this.plan.signal?.throwIfAborted();
    if (broken !== undefined) throw broken.reason;
    return {
      ...this.progress(),
      failures: [...this.failures].map(([message, count]) => ({ message, count })),
    };
  }

  /** Rollout by rollout, so that an early stop leaves every task played about equally often. */
  private *jobs(): Generator<Job> {
    for (let rollout = 0; rollout < this.plan.rollouts; rollout++) {
      for (const entry of this.plan.tasks) yield { ...entry, rollout };
    }
  }

  private async work(jobs: Generator<Job>): Promise<void> {
    for (const job of jobs) {
      this.signal.throwIfAborted();
      const known = this.known.get(`${job.task.id}#${job.rollout}`);
      if (known?.graded === true) {
        this.already++;
        this.done++;
        this.report();
        continue;
      }
      this.inFlight++;
      try {
        await this.playAndGrade(job, known?.episode);
      } finally {
        this.inFlight--;
        this.report();
      }
    }
  }

  private async playAndGrade(job: Job, episode: string | undefined): Promise<void> {
    const dialogue = await this.open(job, episode);
    try {
      await dialogue.play({ signal: this.signal });
    } catch (error) {
      this.signal.throwIfAborted();
      this.countFailure(error);
      return;
    }
    this.failedInARow = 0;
    // The place is free again while the grader works; a long queue of answers makes everyone wait.
    const grading = this.grade(dialogue).finally(() => this.grading.delete(grading));
    this.grading.add(grading);
    grading.catch((error: unknown) => this.stop.abort(error));
    if (this.grading.size > 2 * this.plan.concurrency + 64) await Promise.race(this.grading);
  }

  private async grade(dialogue: Dialogue): Promise<void> {
    await dialogue.grade(this.plan.grader, this.plan.mode, this.signal);
    this.done++;
    this.report();
  }

  private async open(job: Job, episode: string | undefined): Promise<Dialogue> {
    const { plan } = this;
    if (episode !== undefined) return Dialogue.resume(await this.read(episode), plan);
    return Dialogue.start({
      ...plan,
      ...job,
      collaborator: { kind: plan.simulator.kind, name: plan.simulator.name },
      seed: deriveSeed(plan.seed, job.task.id, job.rollout),
    });
  }

  private async read(episode: string): Promise<Trajectory> {
    const trajectory = await this.plan.log.trajectory(episode);
    if (trajectory !== undefined) return trajectory;
    throw new Fault(
      'dialogue/lost-episode',
      `The log lists dialogue ${episode}, but its lines are gone; run the command again.`,
    );
  }

  private countFailure(error: unknown): void {
    const message = messageOf(error);
    this.failures.set(message, (this.failures.get(message) ?? 0) + 1);
    this.failed++;
    this.failedInARow++;
    if (this.failedInARow < Math.max(FAILURES_IN_A_ROW, this.plan.concurrency)) return;
    this.stop.abort(
      new Fault(
        'dialogue/collection-failing',
        `${this.failedInARow} dialogues in a row failed, so the rest was not tried. The last one said: ${message}`,
        { cause: error },
      ),
    );
  }

  private progress(): CollectionProgress {
    const { total, done, already, failed, inFlight } = this;
    return { total, done, already, failed, inFlight };
  }

  private report(): void {
    this.plan.onProgress?.(this.progress());
  }
}
