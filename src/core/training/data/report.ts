import * as z from 'zod';
import { lazily } from '../../lazily';

export const examplesSchema = lazily(() => z.looseObject({ train: z.number(), held_out: z.number() }));

/** Too little to expect a better agent. */
export const shortageSchema = lazily(() =>
  z.object({
    kind: z.enum(['pairs', 'held_out_pairs', 'successes', 'dialogues', 'token_ids', 'tokenizer']),
    /** For `token_ids` the turns with token ids, for `tokenizer` the turns without ids of another tokenizer. */
    have: z.number(),
    /** From this amount on, measurements suggest a gain; for `token_ids` and `tokenizer`, all turns. */
    enough: z.number(),
    /** Includes the remedy, in English. */
    sentence: z.string(),
  }),
);
export type Shortage = z.infer<ReturnType<typeof shortageSchema>>;

/** Counted after the trainer has read and paired the data. */
export const trainedOnSchema = lazily(() =>
  z.object({
    turns: z.number(),
    turns_as_sampled: z.number(),
    /** Their token ids belong to another tokenizer than the model's; their text is tokenised instead. */
    turns_of_another_tokenizer: z.number(),
    critic: examplesSchema(),
    policy: examplesSchema(),
    shortages: z.array(shortageSchema()),
  }),
);
export type TrainedOn = z.infer<ReturnType<typeof trainedOnSchema>>;

/** `data/selection.json` in the folder of a run that took trajectories from a log. */
export const selectionReportSchema = lazily(() =>
  z.object({
    log: z.string(),
    /** ISO 8601, UTC. */
    at: z.string(),
    trajectories: z.number().int(),
    tasks: z.number().int(),
    successes: z.number().int(),
    left_out: z.record(z.string(), z.number().int()),
    /** Trajectories played with another agent.md than their messages were rendered with. */
    other_prompts: z.number().int(),
    /** Trajectories with the sampled token ids of every turn. */
    with_token_ids: z.number().int(),
    /** Trajectories in which a participant keeps their data on this machine; absent in older reports. */
    kept_local: z.number().int().optional(),
    /** Rows of what people left on turns, by signal; absent where there are none. */
    feedback: z.record(z.string(), z.number().int()).optional(),
    /** Counted by the trainer before the start; absent in older reports. */
    trained_on: trainedOnSchema().optional(),
  }),
);

export type SelectionReport = z.infer<ReturnType<typeof selectionReportSchema>>;
