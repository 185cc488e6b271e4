import type { LoopProgress } from './plan';
import { STAGES, type StageName } from './record';

export interface StageState {
  readonly name: StageName;
  readonly state: 'waiting' | 'now' | 'done';
  /** 0 to 1, of the stage at work; absent while it is unknown. */
  readonly fraction?: number;
  readonly done?: number;
  readonly total?: number;
  /** The trainer's stage while it trains. */
  readonly what?: string;
}

type Fractions = Readonly<Record<string, number>>;

/**
 * Fractions of a training's time by stage, in order, measured with the settings of the quick loop; stages that a run
 * leaves out count as done.
 */
const SWEET_RL: Fractions = {
  ...{ prepare: 0.03, critic: 0.32, candidates: 0.15 },
  ...{ ranking: 0.15, policy: 0.33, export: 0.02 },
};
const DISTILLING: Fractions = { prepare: 0.1, policy: 0.85, export: 0.05 };

/** Below this fraction of a stage its pace says nothing about the rest: the shortest dialogues end first. */
const MIN_FRACTION = 0.1;

export class LoopCourse {
  private readonly stages = new Map<StageName, StageState>(
    STAGES.map((name) => [name, { name, state: 'waiting' }]),
  );
  private begun = 0;
  /** Fraction of the stage at work that an earlier call did. */
  private first = 0;
  /** The work's own estimate of the stage at work, and when it was made. */
  private estimate: { readonly seconds: number; readonly at: number } | undefined;

  /** @param method of the training; SWEET-RL where it is not named */
  constructor(private readonly method?: string) {}

  get all(): readonly StageState[] {
    return [...this.stages.values()];
  }

  tell(progress: LoopProgress, now: number): void {
    const { stage: name } = progress;
    switch (progress.state) {
      case 'begun':
        this.begun = now;
        this.first = 0;
        this.estimate = undefined;
        this.stages.set(name, { name, state: 'now' });
        break;
      case 'working': {
        const { what, done, total, already, secondsLeft } = progress;
        const before = this.stages.get(name)?.fraction;
        const told = name === 'train' ? this.trainedPart(what, done, total) : part(done, total);
        // Counts start from zero in each step of a stage, so the fraction must not fall.
        const fraction = told === undefined ? before : Math.max(before ?? 0, told);
        // A resumed training begins where it was; dialogues played before are counted at once.
        this.first = part(already, total) ?? (before === undefined ? (fraction ?? 0) : this.first);
        if (secondsLeft !== undefined) this.estimate = { seconds: secondsLeft, at: now };
        this.stages.set(name, { name, state: 'now', what, done, total, fraction });
        break;
      }
      case 'done':
      case 'skipped':
        this.stages.set(name, { name, state: 'done' });
    }
  }

  /** Seconds left of the stage at work, by its pace in this call; undefined while that is unknown. */
  left(now: number): number | undefined {
    const stage = this.all.find(({ state }) => state === 'now');
    if (stage === undefined) return undefined;
    const { name, fraction = 0 } = stage;
    if (name !== 'train') {
      const here = fraction - this.first;
      return here < MIN_FRACTION ? undefined : ((now - this.begun) / 1000 / here) * (1 - fraction);
    }
    if (this.estimate === undefined) return undefined;
    const left = this.estimate.seconds - (now - this.estimate.at) / 1000;
    return left > 0 ? left : undefined;
  }

  /** @param what the trainer's stage, perhaps followed by a part of it that has no steps: `candidates sampling` */
  private trainedPart(what: string, done?: number, total?: number): number | undefined {
    const fractions = this.method === 'distill' ? DISTILLING : SWEET_RL;
    const stage = what.split(' ')[0]!.replace(/-\d+$/, '');
    const names = Object.keys(fractions);
    const index = names.indexOf(stage);
    if (index === -1) return undefined;
    const before = names.slice(0, index).reduce((sum, name) => sum + fractions[name]!, 0);
    return Math.min(1, before + fractions[stage]! * (part(done, total) ?? 0));
  }
}

const part = (done: number | undefined, total: number | undefined): number | undefined =>
  done === undefined || total === undefined || total === 0 ? undefined : Math.min(1, done / total);
