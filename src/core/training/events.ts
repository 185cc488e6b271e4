import * as z from 'zod';
import { figures } from '../../../media/events.schema.json';
import { lazily } from '../lazily';

/**
 * `events.jsonl` in the folder of a run: one JSON object per line. The trainer writes them all, except the line with
 * which Tandem begins a run that continues another. Unknown fields are kept; events of an unknown kind or shape are
 * kept as `other`, so that an older Tandem can read the events of a newer trainer.
 */
export const EVENTS_VERSION = 1;

/** Drawn as curves; the trainer declares them (`events.py`). */
export type FigureName = keyof typeof figures;

interface Figure {
  /** Kinds of the events that have it. */
  readonly events: readonly string[];
  /** True if the command line prints it, too. */
  readonly terminal?: boolean;
}

/** In the order of the charts. */
export const figureNames = Object.keys(figures) as readonly FigureName[];

const declared: Readonly<Record<FigureName, Figure>> = figures;

export const figuresOf = (event: 'step' | 'evaluation'): readonly FigureName[] =>
  figureNames.filter((name) => declared[name].events.includes(event));

export const figuresInTerminal = figureNames.filter((name) => declared[name].terminal === true);

/** The fields that Tandem reads. A test compares them with all that the trainer declares (`events.py`). */
export const eventSchemas = lazily(() => {
  /** `at`: ISO 8601, UTC. */
  const head = { version: z.number().int(), at: z.string() };
  /** JSON has no NaN and no infinity; the trainer writes null. */
  const figure = z.number().nullable().optional();
  const figureFields = (event: 'step' | 'evaluation') =>
    Object.fromEntries(figuresOf(event).map((name) => [name, figure])) as Record<FigureName, typeof figure>;

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
      tokens: figure,
      /** Until the end of the whole run. */
      seconds_left: figure,
      /** Dialogues played until the end of this step. */
      dialogues: figure,
      ...figureFields('step'),
    }),
    z.looseObject({
      event: z.literal('evaluation'),
      ...head,
      stage: z.string(),
      step: z.number().int(),
      best: z.boolean().optional(),
      ...figureFields('evaluation'),
    }),
    /** The untrained baseline on a critic's held-out pairs: its pair accuracy, and the number of pairs. */
    z.looseObject({
      event: z.literal('control'),
      ...head,
      stage: z.string(),
      accuracy: figure,
      examples: z.number().int(),
    }),
    /**
     * Rank correlation of a critic's turn credits with the gains of the drafts of held-out pages, its 95 % interval,
     * and the untrained baseline's: means over dialogues.
     */
    z.looseObject({
      event: z.literal('gains'),
      ...head,
      stage: z.string(),
      dialogues: z.number().int(),
      rank_correlation: figure,
      low: figure,
      high: figure,
      untrained_rank_correlation: figure,
    }),
    z.looseObject({
      event: z.literal('sample'),
      ...head,
      stage: z.string().optional(),
      group: z.string(),
      /** The dialogue before the turn, as the agent saw it. */
      history: z.array(z.looseObject({ role: z.string(), content: z.string() })).optional(),
      /** Distinct texts; `times` is how often each was sampled. */
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
    /** Work without steps, e.g. sampling. `seconds_left` covers this part only. */
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
    /** Written on a Ray cluster when its workers were started; `asked` is the number of workers it may have. */
    z.looseObject({
      event: z.literal('nodes'),
      ...head,
      nodes: z.array(
        z.looseObject({
          host: z.string(),
          workers: z.number().int(),
          gpus: z.array(z.string()),
          state: z.enum(['works', 'back', 'lost', 'idle']),
        }),
      ),
      asked: z.number().int(),
    }),
    /** The other fields are those of `Plan`. */
    z.looseObject({ event: z.literal('plan'), ...head }),
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
    /**
     * `spread`: standard deviation of the scores within a history, averaged over histories; `untrained_spread` for the
     * untrained baseline.
     */
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
    /** `model`: the folder of the result. `ended`: set if the policy was ended by request, before its last step. */
    z.looseObject({
      event: z.literal('result'),
      ...head,
      model: z.string().optional(),
      ended: z.object({ stage: z.string(), step: z.number().int(), steps: z.number().int() }).optional(),
    }),
  ]);

  return { known, any: z.looseObject({ event: z.string(), ...head }) };
});

type KnownEvent = z.infer<ReturnType<typeof eventSchemas>['known']>;

/** Unknown to this Tandem, with all its fields. */
interface OtherEvent {
  readonly event: 'other';
  readonly version: number;
  readonly at: string;
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type TrainerEvent = KnownEvent | OtherEvent;
export type TrainerEventOf<K extends TrainerEvent['event']> = Extract<TrainerEvent, { event: K }>;

/** True if the data are tasks that the run plays, without any dialogue. */
export const playsItself = ({ trajectories, tasks }: TrainerEventOf<'data'>): boolean =>
  trajectories === 0 && tasks > 0;

/** `runs.ts` checks that the process is alive. */
export type ReportedState = TrainerEventOf<'state'>['state'];
