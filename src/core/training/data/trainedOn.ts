import * as z from 'zod';
import { lazily } from '../../lazily';

/** How many examples a stage learns from, and on how many it is measured. */
export const examplesSchema = lazily(() => z.looseObject({ train: z.number(), held_out: z.number() }));

/** What there is too little of to expect a better agent. */
export const shortageSchema = lazily(() =>
  z.object({
    kind: z.enum(['pairs', 'held_out_pairs', 'successes', 'dialogues', 'token_ids', 'tokenizer']),
    /** Of turns, those that have token ids, or none of another tokenizer. */
    have: z.number(),
    /** From how many on a gain can be expected, by what was measured; of turns all. */
    enough: z.number(),
    /** In English, with what to do. */
    sentence: z.string(),
  }),
);
export type Shortage = z.infer<ReturnType<typeof shortageSchema>>;

/** What the data of a run come to, after the trainer has read and paired them. */
export const trainedOnSchema = lazily(() =>
  z.object({
    turns: z.number(),
    turns_as_sampled: z.number(),
    /** Turns whose token ids are another tokenizer's than the model's, so that their text is tokenised instead. */
    turns_of_another_tokenizer: z.number(),
    critic: examplesSchema(),
    policy: examplesSchema(),
    shortages: z.array(shortageSchema()),
  }),
);
export type TrainedOn = z.infer<ReturnType<typeof trainedOnSchema>>;
