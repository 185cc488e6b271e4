import type { LoopProgress } from './plan';
import { STAGES, type StageName } from './record';

/** Where a stage of a loop stands. */
export interface StageStanding {
  readonly name: StageName;
  readonly state: 'waiting' | 'now' | 'done';
  /** 0 to 1, of the one at work, while it is known. */
  readonly fraction?: number;
  readonly done?: number;
  readonly total?: number;
  /** What it is at: the trainer's stage while it trains. */
  readonly what?: string;
}

/** How many seconds each stage takes as a rule. */
export type Expected = Readonly<Record<StageName, number>>;

/**
 * What a training spends its time with, in the order of its stages: parts of the whole. Measured with the settings of
 * the quick loop; those that a method leaves out count as done.
 */
const TRAINING = { prepare: 0.03, critic: 0.32, candidates: 0.15, ranking: 0.15, policy: 0.33, export: 0.02 };

/** Less says nothing about the rest yet. */
const ENOUGH = 0.05;

/** Follows a loop: which of its stages is at work, how far that is, and how long all of it will take. */
export class Course {
  private readonly stages = new Map<StageName, StageStanding>(
    STAGES.map((name) => [name, { name, state: 'waiting' }]),
  );
  private begun = 0;
  private first = 0;
  /** Seconds that the stages which were done here took, and what they were expected to take. */
  private taken = 0;
  private foreseen = 0;

  /** @param expected seconds, on this machine */
  constructor(private readonly expected: Expected) {}

  get all(): readonly StageStanding[] {
    return [...this.stages.values()];
  }

  /** @param now in milliseconds, of a clock that goes on steadily */
  tell(progress: LoopProgress, now: number): void {
    const { stage: name } = progress;
    switch (progress.state) {
      case 'begun':
        this.begun = now;
        this.first = 0;
        this.stages.set(name, { name, state: 'now' });
        break;
      case 'working': {
        const { what, done, total, already } = progress;
        const before = this.stages.get(name)?.fraction;
        const told = name === 'train' ? trainedPart(what, done, total) : part(done, total);
        // Work within a step of a stage is counted anew: nothing that was reached is taken back.
        const fraction = told === undefined ? before : Math.max(before ?? 0, told);
        // A training that goes on begins where it was; what was played before is counted at once.
        this.first = part(already, total) ?? (before === undefined ? (fraction ?? 0) : this.first);
        this.stages.set(name, { name, state: 'now', what, done, total, fraction });
        break;
      }
      case 'done':
        this.taken += progress.seconds;
        this.foreseen += this.expected[name];
        this.stages.set(name, { name, state: 'done' });
        break;
      case 'skipped':
        this.stages.set(name, { name, state: 'done' });
    }
  }

  /** Seconds until it is over, as far as can be told. */
  left(now: number): number {
    const pace = this.foreseen === 0 ? 1 : this.taken / this.foreseen;
    return this.all.reduce((sum, stage) => sum + this.leftOf(stage, pace, now), 0);
  }

  private leftOf({ name, state, fraction }: StageStanding, pace: number, now: number): number {
    const usual = this.expected[name] * pace;
    if (state !== 'now') return state === 'done' ? 0 : usual;
    const elapsed = (now - this.begun) / 1000;
    // What an earlier call left behind was done in no time.
    const here = (fraction ?? 0) - this.first;
    if (here < ENOUGH) return Math.max(0, usual * (1 - this.first) - elapsed);
    return (elapsed / here) * (1 - (fraction ?? 0));
  }
}

const part = (done: number | undefined, total: number | undefined): number | undefined =>
  done === undefined || total === undefined || total === 0 ? undefined : Math.min(1, done / total);

/** @param what the trainer's stage, and behind it what of it has no steps: `candidates sampling` */
function trainedPart(what: string, done: number | undefined, total: number | undefined): number | undefined {
  const [stage = ''] = what.split(' ');
  const names = Object.keys(TRAINING) as (keyof typeof TRAINING)[];
  const index = names.indexOf(stage.replace(/-\d+$/, '') as keyof typeof TRAINING);
  if (index === -1) return undefined;
  const before = names.slice(0, index).reduce((sum, name) => sum + TRAINING[name], 0);
  return Math.min(1, before + TRAINING[names[index]!] * (part(done, total) ?? 0));
}
