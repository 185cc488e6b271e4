import * as z from 'zod';
import { lazily } from '../../lazily';

/** Number of examples on which a stage is trained, and on which it is measured. */
export const examplesSchema = lazily(() => z.looseObject({ train: z.number(), held_out: z.number() }));

/** A quantity that is too small to expect a better agent. */
export const shortageSchema = lazily(() =>
  z.object({
    kind: z.enum(['pairs', 'held_out_pairs', 'successes', 'dialogues', 'token_ids', 'tokenizer']),
    /**
     * The present amount; for `token_ids` the turns with token ids, for `tokenizer` the turns without ids of another
     * tokenizer.
     */
    have: z.number(),
    /** The amount from which measurements suggest a gain; for `token_ids` and `tokenizer`, all turns. */
    enough: z.number(),
    /** Description and remedy, in English. */
    sentence: z.string(),
  }),
);
export type Shortage = z.infer<ReturnType<typeof shortageSchema>>;

/** Size of a run's data after the trainer has read and paired them. */
export const trainedOnSchema = lazily(() =>
  z.object({
    turns: z.number(),
    turns_as_sampled: z.number(),
    /** Turns whose token ids belong to another tokenizer than the model's; their text is tokenised instead. */
    turns_of_another_tokenizer: z.number(),
    critic: examplesSchema(),
    policy: examplesSchema(),
    shortages: z.array(shortageSchema()),
  }),
);
export type TrainedOn = z.infer<ReturnType<typeof trainedOnSchema>>;
