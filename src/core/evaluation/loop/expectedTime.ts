import type { Model } from '../../model/model';
import type { StageName } from './record';
import { QUICK, type LoopSettings } from './settings';

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
  const { tasks, collect, train, evaluate, report } = MEASURED;
  const learned =
    settings.training.method === 'distill'
      ? DISTILLATION * settings.trainTasks * settings.rollouts
      : (train - TRAINER_STARTS) * played;
  return {
    tasks: tasks * slowness * played,
    collect: collect * slowness * played,
    train: slowness * (TRAINER_STARTS + learned),
    export: MEASURED.export * slowness,
    evaluate: evaluate * slowness * measured,
    report: report * slowness,
  };
}

export const secondsOf = (expected: Expected): number =>
  Object.values(expected).reduce((sum, seconds) => sum + seconds, 0);
