import * as z from 'zod';
import { lazily } from '../lazily';
import { isTooDeep } from '../nesting';

/**
 * The events of a run, `events.jsonl` in its folder: one JSON object a line, written by the trainer alone, but for the
 * line with which Tandem begins a run that continues another. Fields that are not named here are kept; kinds that are
 * not known, and known ones of another shape, are kept as `other`, so that an older Tandem survives a newer trainer.
 */
export const EVENTS_VERSION = 1;

const schemas = lazily(() => {
  /** On every line. `at`: ISO 8601, UTC. */
  const head = { version: z.number().int(), at: z.string() };
  /** JSON knows no NaN and no infinity: the trainer writes null. */
  const figure = z.number().nullable().optional();

  const known = z.discriminatedUnion('event', [
    z.looseObject({
      event: z.literal('state'),
      ...head,
      state: z.enum(['preparing', 'running', 'stopping', 'stopped', 'done', 'failed']),
      stage: z.string().optional(),
      message: z.string().optional(),
    }),
    z.looseObject({
      event: z.literal('step'),
      ...head,
      stage: z.string(),
      /** From 1. */
      step: z.number().int(),
      steps: z.number().int(),
      epoch: figure,
      loss: figure,
      /** Of the pairs of this step: mean margin, and the fraction that is in the right order. */
      margin: figure,
      accuracy: figure,
      log_ratio_chosen: figure,
      log_ratio_rejected: figure,
      kl: figure,
      nll: figure,
      gradient_norm: figure,
      learning_rate: figure,
      tokens: figure,
      tokens_per_second: figure,
      /** Fraction of the device's peak arithmetic; null where the peak is not known. */
      mfu: figure,
      /** Fraction of the last moment in which the GPU computed anything; null where its driver does not tell. */
      gpu_use: figure,
      memory_mb: figure,
      /** Of the whole run. */
      seconds_left: figure,
      /** Mean absolute difference between the log-probabilities of the sampler and of the trainer. */
      sampler_difference: figure,
    }),
    z.looseObject({
      event: z.literal('evaluation'),
      ...head,
      stage: z.string(),
      step: z.number().int(),
      loss: figure,
      margin: figure,
      accuracy: figure,
      best: z.boolean().optional(),
    }),
    /** The untrained score on the held-out pairs of a critic: what of them it has in order, and how many they are. */
    z.looseObject({
      event: z.literal('control'),
      ...head,
      stage: z.string(),
      accuracy: figure,
      examples: z.number().int(),
    }),
    z.looseObject({
      event: z.literal('sample'),
      ...head,
      stage: z.string().optional(),
      group: z.string(),
      /** The dialogue before the turn, as the agent saw it. */
      history: z.array(z.looseObject({ role: z.string(), content: z.string() })).optional(),
      /** Different texts, `times`: how often each was sampled. */
      candidates: z.array(
        z.looseObject({
          text: z.string(),
          times: z.number().int().optional(),
          score: figure,
          untrained: figure,
          good: z.boolean().nullish(),
        }),
      ),
    }),
    /** Of work that has no steps, e.g. sampling. `seconds_left`: of this part. */
    z.looseObject({
      event: z.literal('progress'),
      ...head,
      stage: z.string(),
      part: z.string(),
      done: z.number(),
      total: z.number(),
      seconds_left: figure,
    }),
    z.looseObject({ event: z.literal('notice'), ...head, message: z.string() }),
    /** What was chosen and what it takes; the fields of `Plan`. */
    z.looseObject({ event: z.literal('plan'), ...head }),
    /** What the data come to, after the trainer has read and paired them. */
    z.looseObject({
      event: z.literal('data'),
      ...head,
      tasks: z.number(),
      trajectories: z.number(),
      successes: z.number(),
      turns: z.number(),
      turns_as_sampled: z.number(),
      left_out: z.record(z.string(), z.number()),
      bad_lines: z.number(),
    }),
    z.looseObject({
      event: z.literal('candidates'),
      ...head,
      stage: z.string(),
      histories: z.number(),
      candidates: z.number(),
      sampler_difference: figure,
    }),
    /** `spread`: standard deviation of the scores of a history, the mean over histories; `untrained_spread`: the control's. */
    z.looseObject({
      event: z.literal('ranking'),
      ...head,
      stage: z.string(),
      histories: z.number(),
      candidates: z.number(),
      rank_correlation: figure,
      spread: figure,
      untrained_spread: figure,
    }),
    /** The run is done. `model`: the folder of the result. `ended`: its policy was ended by request, before its last step. */
    z.looseObject({
      event: z.literal('result'),
      ...head,
      model: z.string().optional(),
      ended: z.object({ stage: z.string(), step: z.number().int(), steps: z.number().int() }).optional(),
    }),
  ]);

  return { known, any: z.looseObject({ event: z.string(), ...head }) };
});

type KnownEvent = z.infer<ReturnType<typeof schemas>['known']>;

/** An event that this Tandem cannot interpret, with everything it says. */
export interface OtherEvent {
  readonly event: 'other';
  readonly version: number;
  readonly at: string;
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type TrainerEvent = KnownEvent | OtherEvent;
export type TrainerEventOf<K extends TrainerEvent['event']> = Extract<TrainerEvent, { event: K }>;

/** The states that the trainer tells. Whether its process still lives is another matter: see `runs.ts`. */
export type ToldState = TrainerEventOf<'state'>['state'];

/** @returns undefined for a line that is no event, such as the torn one of a trainer that was killed */
export function parseEvent(line: string): TrainerEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (isTooDeep(value)) return undefined;
  const event = schemas().known.safeParse(value).data;
  if (event !== undefined && event.version <= EVENTS_VERSION) return event;
  const other = schemas().any.safeParse(value).data;
  if (other === undefined) return undefined;
  const { version, at, event: kind, ...fields } = other;
  return { event: 'other', version, at, kind, fields };
}
