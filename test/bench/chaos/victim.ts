import type { Life } from './findings';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { markedBuild, marked, stillThere, type Seen } from '../../fixtures/left-behind';
import type { Findings } from './findings';

/** Time after which all processes of a killed command must be gone. */
const GRACE_MS = 10_000;
const EARLY_SECONDS = 4;
const POLL_INTERVAL_MS = 1000;
/** Pause after a command that could not work because another one holds its claim. */
const AFTER_FAILURE_MS = 3000;

export interface VictimPlan {
  readonly name: string;
  /** The program; `tandem` when left out. */
  readonly program?: string;
  /** Its arguments for the next start. */
  readonly next: () => readonly string[] | Promise<readonly string[]>;
  /** Matches the process that shows that the command is at work; by default the command always is. */
  readonly worker?: RegExp;
  /** A kill comes at most so many seconds after the command is at work; one in four comes before. */
  readonly seconds: number;
  /** Match its child processes, which are sometimes killed alone while the command goes on. */
  readonly parts: readonly RegExp[];
  /** Matches a process that may outlive the command. */
  readonly outlives?: RegExp;
  /** Checks the result of each start. */
  readonly after: (life: Life) => void | Promise<void>;
}

export interface Place {
  /** Common folder, which occurs in all command lines or environments. */
  readonly mark: string;
  readonly findings: Findings;
}

/** A command that is started repeatedly; it or one of its processes is killed by SIGKILL. */
export class Victim {
  readonly name: string;
  readonly #folder: string;
  readonly #checks: Promise<void>[] = [];

  private constructor(
    private readonly plan: VictimPlan,
    private readonly place: Place,
    private readonly dist: string,
    private readonly random: () => number,
  ) {
    this.name = plan.name;
    this.#folder = path.join(place.mark, plan.name);
  }

  static async of(plan: VictimPlan, place: Place, random: () => number): Promise<Victim> {
    const folder = path.join(place.mark, plan.name);
    await mkdir(folder);
    return new Victim(plan, place, await markedBuild(folder), random);
  }

  /** Starts and kills the command until the signal, which is the last kill. */
  async suffer(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const started = this.start(await this.plan.next());
      await this.#killAtRandom(started.child, signal);
      const life = await started.over;
      this.place.findings.ended(this.name, life);
      await this.plan.after(life);
      if (life.code !== null && life.code > 0) await pause(AFTER_FAILURE_MS);
    }
    await Promise.all(this.#checks);
  }

  /** Runs the command to its end with these arguments. */
  undisturbed(args: readonly string[]): Promise<Life> {
    return this.start(args).over;
  }

  start(args: readonly string[]): { readonly child: ChildProcess; readonly over: Promise<Life> } {
    // Resolved links would no longer contain the folder.
    const kept = ['--preserve-symlinks', '--preserve-symlinks-main'];
    const child = spawn(
      process.execPath,
      [...kept, this.plan.program ?? path.join(this.dist, 'tandem.js'), ...args],
      {
        cwd: this.#folder,
        // Every process gets PATH, even one with few other variables.
        env: {
          ...process.env,
          TANDEM_CACHE: path.join(this.place.mark, 'cache'),
          PATH: `${process.env.PATH ?? ''}${path.delimiter}${this.#folder}`,
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const over = once(child, 'exit').then(async ([code]) => {
      // Pending output is read, but only briefly, because a process that outlives the command may keep the pipe open.
      await Promise.race([once(child, 'close'), pause(500)]);
      return { code: code as number | null, stdout, stderr };
    });
    return { child, over };
  }

  async #killAtRandom(child: ChildProcess, signal: AbortSignal): Promise<void> {
    const ended = once(child, 'exit');
    const isEarly = this.random() < 0.25;
    if (!isEarly) await this.#atWork(child, signal);
    for (;;) {
      const milliseconds = 1000 * this.random() * (isEarly ? EARLY_SECONDS : this.plan.seconds);
      const which = Math.floor(this.random() * (this.plan.parts.length + 1));
      await Promise.race([ended, pause(milliseconds, undefined, { signal }).catch(() => undefined)]);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const part = signal.aborted ? undefined : this.plan.parts[which];
      const before = await marked(this.#folder);
      const found = part && before.find(({ pid, line }) => pid !== child.pid && part.test(line));
      if (found !== undefined) {
        kill(found.pid);
        this.place.findings.killed(`${this.name}: ${String(part)}`);
        continue;
      }
      child.kill('SIGKILL');
      this.place.findings.killed(`${this.name}: the command`);
      const { outlives } = this.plan;
      const rest = before.filter(({ pid, line }) => pid !== child.pid && outlives?.test(line) !== true);
      this.#checks.push(this.#expectGone(rest));
      await ended;
      return;
    }
  }

  /** Waits until the command is at work, without a time limit, because the machine may be slow. */
  async #atWork(child: ChildProcess, signal: AbortSignal): Promise<void> {
    const { worker } = this.plan;
    if (worker === undefined) return;
    while (child.exitCode === null && child.signalCode === null && !signal.aborted) {
      if ((await marked(this.#folder)).some(({ line }) => worker.test(line))) return;
      await pause(POLL_INTERVAL_MS);
    }
  }

  async #expectGone(rest: readonly Seen[]): Promise<void> {
    await pause(GRACE_MS);
    for (const { pid, line } of await stillThere(this.#folder, rest))
      this.place.findings.violation(
        this.name,
        `process ${pid} outlives its command by ten seconds: ${line.slice(0, 200)}`,
      );
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}
