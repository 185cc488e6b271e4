import type { LoopProgress } from './plan';
import { STAGES, type StageName } from './record';
import type { Model } from '../../model/model';
import { QUICK, type LoopSettings } from './settings';

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

type Expected = Readonly<Record<StageName, number>>;

/**
 * Seconds of the quick loop with the starter model, on a machine on which this model writes `TOKENS_PER_SECOND`. For
 * pages too: with their model two loops took 1.2 and 1.6 times as long on a busy machine.
 */
const MEASURED: Expected = { tasks: 1, collect: 76, train: 409, export: 1, evaluate: 62, report: 1 };
/**
 * Seconds for each dialogue that is distilled, measured on 1,200 of them on a machine that plays 2.25 times as slowly
 * (438 s).
 */
const DISTILLATION = 0.142;
const TOKENS_PER_SECOND = 3900;
/** Seconds that the trainer needs to start and end, however little there is to learn from. */
const TRAINER_STARTS = 25;

/** Written at once, with the maximum tokens of each: enough to keep the machine busy for a moment. */
const MESSAGES = 16;
const TOKENS = 64;
/** The quickest repetition counts, since a model that has just been loaded becomes faster. */
const TIMES = 4;

const asked = [
  {
    role: 'user',
    content:
      'I need a Python function that works out the price of a parcel from its weight in grams and its zone.\n\ndef parcel_price(grams: int, zone: int) -> int:',
  },
] as const;

/**
 * How many times slower this machine is with this model than the measured one, by its present writing speed.
 * @throws {Fault} as the model
 */
export async function slownessHere(model: Model): Promise<number> {
  const write = async (seed: number): Promise<number> => {
    const { usage } = await model.generate(asked, { temperature: 1, maxTokens: TOKENS, seed });
    return usage?.completionTokens ?? 0;
  };
  await write(0); // loads the model
  let quickest = 0;
  for (let time = 0; time < TIMES; time += 1) {
    const began = performance.now();
    const written = await Promise.all(Array.from({ length: MESSAGES }, (_, i) => write(i + 1)));
    const seconds = (performance.now() - began) / 1000;
    quickest = Math.max(quickest, written.reduce((sum, tokens) => sum + tokens, 0) / seconds);
  }
  return TOKENS_PER_SECOND / quickest;
}

export function expectedOf(settings: LoopSettings, slowness: number): Expected {
  const played = (settings.trainTasks * settings.rollouts) / (QUICK.trainTasks * QUICK.rollouts);
  const measured =
    (settings.heldOutTasks * (settings.evaluationRollouts + 1)) /
    (QUICK.heldOutTasks * (QUICK.evaluationRollouts + 1));
  const learned =
    settings.training.method === 'distill'
      ? DISTILLATION * settings.trainTasks * settings.rollouts
      : (MEASURED.train - TRAINER_STARTS) * played;
  const here: Expected = {
    ...MEASURED,
    tasks: MEASURED.tasks * played,
    collect: MEASURED.collect * played,
    train: TRAINER_STARTS + learned,
    evaluate: MEASURED.evaluate * measured,
  };
  const slower = Object.entries(here).map(([stage, seconds]) => [stage, seconds * slowness]);
  return Object.fromEntries(slower) as Expected;
}

export const secondsOf = (expected: Expected): number =>
  Object.values(expected).reduce((sum, seconds) => sum + seconds, 0);
