import { createHash } from 'node:crypto';
import { Fault, messageOf } from '../fault';
import type { GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import { isProgram, type Task } from '../task/task';
import type { Claim, Shard, CollectedRollout, TrajectoryLog } from '../trajectory/log';
import { branchingOf } from '../trajectory/searchTree';
import { playerOf } from '../trajectory/trajectory';
import { Dialogue } from './dialogue';
import type { DialogueParts } from './dialogueParts';
import { copiedTurns } from './fork';
import { PAGE_RULES_VERSION } from './pageRules';
import { colBenchPageProtocol, type Protocol } from './protocol';
import { branchPoint, type BranchPoint } from './refinement/roleOutputs';
import { deriveSeed } from '../seed';
import type { Simulator } from './simulator';
import path from 'node:path';
import { type ReadOptions, readTasks } from '../task/pack';

export interface PackTask<T extends Task = Task> {
  readonly task: T;
  readonly pack?: string;
}

export interface CollectionPlan extends DialogueParts {
  readonly log: TrajectoryLog;
  readonly simulator: Simulator;
  readonly tasks: readonly PackTask[];
  readonly rollouts: number;
  /** Branches of each role: the rollouts of a task are the endings of one search tree, which share their beginnings. */
  readonly branches?: number;
  /** The shard that is played here; all of the collection by default. */
  readonly shard?: Shard;
  readonly concurrency: number;
  readonly seed: number;
  readonly protocol: Protocol;
  /** Of page tasks; ColBench's by default. */
  readonly pageProtocol?: Protocol;
  readonly grader: Grader;
  readonly mode: GradingMode;
  /** Name of the collection in the log; the same name continues where it stopped. */
  readonly collection: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CollectionProgress) => void;
}

export interface CollectionProgress {
  readonly total: number;
  /** Number of dialogues answered and graded, including `already` from before this call. */
  readonly done: number;
  readonly already: number;
  readonly failed: number;
  readonly inFlight: number;
  /** Without `already`. */
  readonly graded: number;
  readonly solved: number;
}

export interface CollectionResult extends CollectionProgress {
  /** Errors of the failed dialogues: each message once, with its count. */
  readonly failures: readonly { readonly message: string; readonly count: number }[];
}

/** After so many failures without a success in between, the next dialogue would fail too. */
const FAILURES_IN_A_ROW = 8;

type Settings = Pick<CollectionPlan, 'agent' | 'simulator' | 'seed' | 'protocol' | 'prompts' | 'sampling'> & {
  /** What draws the pages, if the tasks have pages; `none` if all have checks. */
  readonly renderer?: string;
};

/**
 * Names a collection by its settings, so that the same command continues after a crash, and more rollouts or tasks
 * extend it.
 */
export function collectionName(purpose: string, settings: Settings): string {
  const { agent, simulator, seed, protocol, prompts, sampling, renderer } = settings;
  const identity = [
    [agent.name, agent.fingerprint],
    [simulator.name, simulator.fingerprint],
    [seed, protocol, prompts.versions, sampling],
    ...(renderer === undefined ? [] : [[renderer, PAGE_RULES_VERSION, prompts.pageVersions]]),
  ];
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  return `${purpose}-${digest.slice(0, 12)}`;
}

/**
 * Plays every task `rollouts` times and grades the answers. Dialogues do not wait for each other: a free place is
 * filled at once, while grading continues in parallel. Dialogues that the log has are not repeated, and begun ones are
 * resumed. For one that a person has taken over, another is played from the beginning. In a search tree, each ending
 * begins with the turns of the one that it branches off from.
 *
 * @throws {Fault} `dialogue/collection-failing` when nothing works, `dialogue/task-changed`, `trajectory/claimed` when
 * another process plays the same shard of the collection; AbortError on cancel, with everything logged
 */
export async function collect(plan: CollectionPlan): Promise<CollectionResult> {
  const { collection, log, shard } = plan;
  const claim = await log.claim(`collection-${collection}`, `The collection ${collection}`, shard);
  try {
    await refuseChangedTasks(plan);
    return await new Collection(plan).run();
  } finally {
    await claim.release();
  }
}

/**
 * What draws the tasks' pages; `none` if checks decide what is said and what it is worth; undefined if no task is a
 * page.
 * @throws {Fault} as the pages' name
 */
export async function rendererOf({
  tasks,
  pages,
  simulator,
  mode,
}: Pick<CollectionPlan, 'tasks' | 'pages' | 'simulator' | 'mode'>): Promise<string | undefined> {
  const wanted = tasks.flatMap(({ task }) => (isProgram(task) ? [] : [task]));
  if (wanted.length === 0) return undefined;
  const byChecks = simulator.kind === 'rules' && mode === 'fixed';
  return byChecks && wanted.every(({ checks }) => checks !== undefined) ? 'none' : pages?.name();
}

/** Dialogues about another task with the same id would count for this one. */
async function refuseChangedTasks({
  log,
  collection,
  simulator,
  tasks,
  rollouts,
}: CollectionPlan): Promise<void> {
  const collected = log.collected(collection);
  for (const { task, pack } of tasks) {
    const known = Array.from({ length: rollouts }, (_, rollout) => collected.get(`${task.id}#${rollout}`));
    // A damaged dialogue is played again and need not be readable.
    const readable = known.find((one) => one !== undefined && !one.damaged);
    const played = readable === undefined ? undefined : (await log.trajectory(readable.episode))?.task;
    if (played === undefined || contentOf(played, simulator) === contentOf(task, simulator)) continue;
    throw new Fault(
      'dialogue/task-changed',
      `The task ${task.id}${pack === undefined ? '' : ` in ${pack}`} is not the one that was played before: give it another id, or log into another data folder.`,
    );
  }
}

function contentOf(task: Task, { readsSpecification }: Pick<Simulator, 'readsSpecification'>): string {
  if (!isProgram(task)) return JSON.stringify([task.description, task.reference, task.checks]);
  const { description, reference, testCases, hiddenInformation, facts } = task;
  const read = readsSpecification ? [task.specification] : [];
  return JSON.stringify([description, reference, testCases, hiddenInformation, facts, ...read]);
}

/** @throws {Fault} `dialogue/incomplete` when a dialogue is missing from it */
export function refuseIncomplete({ done, total, failures }: CollectionResult): void {
  if (done === total) return;
  const why = failures.map(({ message, count }) => `${count} with: ${message}`).join(' ');
  throw new Fault(
    'dialogue/incomplete',
    `${total - done} of ${total} dialogues failed, ${why} The same command tries them again.`,
  );
}

interface Job {
  readonly task: Task;
  readonly pack?: string;
  readonly rollout: number;
}

/** Id of an answered dialogue; `absent`: the role where it would branch says nothing there. */
type Played = { readonly episode: string } | 'failed' | 'absent';

class Collection {
  private readonly known: ReadonlyMap<string, CollectedRollout>;
  /** By task and rollout, in the order of the jobs: endings of a tree wait for those that they branch off from. */
  private readonly played = new Map<string, Promise<Played>>();
  private readonly failures = new Map<string, number>();
  private readonly grading = new Set<Promise<void>>();
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private readonly counts = { total: 0, done: 0, already: 0, failed: 0, inFlight: 0, graded: 0, solved: 0 };
  private failedInARow = 0;

  constructor(private readonly plan: CollectionPlan) {
    this.known = plan.log.collected(plan.collection);
    this.counts.total = [...this.jobs()].length;
    this.signal =
      plan.signal === undefined ? this.stop.signal : AbortSignal.any([plan.signal, this.stop.signal]);
  }

  async run(): Promise<CollectionResult> {
    const jobs = this.jobs();
    const places = Array.from({ length: this.plan.concurrency }, () => this.work(jobs));
    const results = await Promise.allSettled(places);
    await Promise.allSettled(this.grading);
    this.signal.throwIfAborted();
    const broken = results.find((result) => result.status === 'rejected');
    if (broken !== undefined) throw broken.reason;
    return {
      ...this.counts,
      failures: [...this.failures].map(([message, count]) => ({ message, count })),
    };
  }

  /**
   * Yields rollout by rollout, so that an early stop leaves every task played about equally often. The shards take turns,
   * so that they are equally large; a tree is played in one shard.
   */
  private *jobs(): Generator<Job> {
    const { tasks, rollouts, branches, shard: { index, of } = { index: 1, of: 1 } } = this.plan;
    for (let rollout = 0; rollout < rollouts; rollout++) {
      for (const [at, entry] of tasks.entries()) {
        const place = branches === undefined ? rollout * tasks.length + at : at;
        if (place % of === index - 1) yield { ...entry, rollout };
      }
    }
  }

  private async work(jobs: Generator<Job>): Promise<void> {
    for (const job of jobs) {
      this.signal.throwIfAborted();
      const playing = this.perform(job);
      this.played.set(`${job.task.id}#${job.rollout}`, playing);
      await playing;
    }
  }

  private async perform(job: Job): Promise<Played> {
    const known = this.known.get(`${job.task.id}#${job.rollout}`);
    if (known?.gradedModes.includes(this.plan.mode) === true && !known.damaged) {
      this.counts.already++;
      this.counts.done++;
      this.report();
      return known;
    }
    const branch = await this.branchOf(job);
    if (branch === 'failed') return branch;
    if (branch === 'absent') {
      this.counts.total--;
      return branch;
    }
    this.counts.inFlight++;
    try {
      return await this.playAndGrade(job, branch, known);
    } finally {
      this.counts.inFlight--;
      this.report();
    }
  }

  /** @returns undefined for a dialogue that begins at its first turn */
  private async branchOf({ task, rollout }: Job): Promise<BranchPoint | Exclude<Played, object> | undefined> {
    const { branches, log } = this.plan;
    const branching = branches === undefined ? undefined : branchingOf(rollout, branches);
    if (branching === undefined) return undefined;
    const from = await this.played.get(`${task.id}#${branching.from}`)!;
    if (typeof from === 'string') return from;
    const trajectory = await log.trajectory(from.episode);
    return (trajectory && branchPoint(trajectory, branching.role)) ?? 'absent';
  }

  private async playAndGrade(
    job: Job,
    branch: BranchPoint | undefined,
    known: CollectedRollout | undefined,
  ): Promise<Played> {
    if (known === undefined || known.damaged) return this.play(await this.begin(job, branch), branch);
    let claim: Claim;
    try {
      claim = await this.plan.log.claim(`episode-${known.episode}`, 'A dialogue of this collection');
    } catch (error) {
      // An editor window may have it open; the next call tries it again.
      return this.countFailure(error);
    }
    try {
      const begun = await this.plan.log.trajectory(known.episode);
      // A person may have taken it over since this call read the log, or a crash has cut off its common beginning.
      const isOurs =
        begun !== undefined &&
        playerOf(begun) === undefined &&
        begun.turns.length >= (branch?.before.length ?? 0);
      const dialogue = isOurs ? await Dialogue.resume(begun, this.plan) : await this.begin(job, branch);
      return await this.play(dialogue, branch);
    } finally {
      await claim.release();
    }
  }

  private async begin(job: Job, branch: BranchPoint | undefined): Promise<Dialogue> {
    const { plan } = this;
    const dialogue = await Dialogue.start({
      ...plan,
      ...job,
      protocol: isProgram(job.task) ? plan.protocol : (plan.pageProtocol ?? colBenchPageProtocol),
      collaborator: { kind: plan.simulator.kind, name: plan.simulator.name },
      seed: deriveSeed(plan.seed, job.task.id, job.rollout),
    });
    if (branch === undefined || branch.before.length === 0) return dialogue;
    await plan.log.appendAll(copiedTurns(branch.before, dialogue.id), { durable: true });
    return Dialogue.resume((await plan.log.trajectory(dialogue.id))!, plan);
  }

  private async play(dialogue: Dialogue, branch: BranchPoint | undefined): Promise<Played> {
    try {
      await dialogue.play({ signal: this.signal, drafts: branch?.drafts });
    } catch (error) {
      this.signal.throwIfAborted();
      return this.countFailure(error);
    }
    this.failedInARow = 0;
    // The place is free again while the grader works, but a long queue of answers makes everyone wait.
    // A grade that fails stops everything before it leaves the set, on which `run` waits.
    const grading = this.grade(dialogue)
      .catch((error: unknown) => this.stop.abort(error))
      .finally(() => this.grading.delete(grading));
    this.grading.add(grading);
    if (this.grading.size > 2 * this.plan.concurrency + 64) await Promise.race(this.grading);
    return { episode: dialogue.id };
  }

  private async grade(dialogue: Dialogue): Promise<void> {
    const { reward, success } = await dialogue.grade(this.plan.grader, this.plan.mode, this.signal);
    this.counts.done++;
    if (reward !== null) this.counts.graded++;
    if (success === true) this.counts.solved++;
    this.report();
  }

  private countFailure(error: unknown): 'failed' {
    const message = messageOf(error);
    this.failures.set(message, (this.failures.get(message) ?? 0) + 1);
    this.counts.failed++;
    this.failedInARow++;
    if (this.failedInARow < Math.max(FAILURES_IN_A_ROW, this.plan.concurrency)) return 'failed';
    this.stop.abort(
      new Fault(
        'dialogue/collection-failing',
        `${this.failedInARow} dialogues in a row failed, so the rest was not tried. The last one said: ${message}`,
        { cause: error },
      ),
    );
    return 'failed';
  }

  private report(): void {
    this.plan.onProgress?.({ ...this.counts });
  }
}

interface PackTaskOptions extends ReadOptions {
  readonly limit?: number;
  /** Receives a sentence for each bad line, and for each task with the id of one in an earlier pack. */
  readonly onLeftOut: (sentence: string) => void;
}

/**
 * Reads the first tasks of some packs, each id once.
 * @throws {Fault} as `readTasks`, when a file cannot be read
 */
export async function packTasks(files: readonly string[], options: PackTaskOptions): Promise<PackTask[]> {
  const { limit = Infinity, onLeftOut, signal } = options;
  const tasks = new Map<string, PackTask>();
  for (const file of files) {
    for await (const read of readTasks(file, { signal })) {
      if (tasks.size >= limit) return [...tasks.values()];
      if ('bad' in read) {
        onLeftOut(`${file}:${read.bad.line}: left out: ${read.bad.reason}`);
      } else if (tasks.has(read.task.id)) {
        onLeftOut(`${file}: left out: the task ${read.task.id} is in an earlier pack too.`);
      } else {
        tasks.set(read.task.id, { task: read.task, pack: path.basename(file) });
      }
    }
  }
  return [...tasks.values()];
}
