import * as z from 'zod';
import { lazily } from '../../lazily';
import { trainedOnSchema } from './trainedOn';

/** What of a log went into the data of a run, `data/selection.json` in its folder. */
export const selectionReportSchema = lazily(() =>
  z.object({
    /** The data folder. */
    log: z.string(),
    /** When it was read: ISO 8601, UTC. */
    at: z.string(),
    trajectories: z.number().int(),
    tasks: z.number().int(),
    successes: z.number().int(),
    /** How many trajectories were left out, by the reason. */
    left_out: z.record(z.string(), z.number().int()),
    /** Of the trajectories that are in: played with another agent.md than the one the messages were rendered with. */
    other_prompts: z.number().int(),
    /** Of the trajectories that are in: those whose every turn has the token ids that were sampled. */
    with_token_ids: z.number().int(),
    /** Of the trajectories that are in: those in which somebody took part who keeps them on this machine; absent in older reports. */
    kept_local: z.number().int().optional(),
    /** The trainer made this of them before the start, and says what of it is too little; absent in older reports. */
    trained_on: trainedOnSchema().optional(),
  }),
);

export type SelectionReport = z.infer<ReturnType<typeof selectionReportSchema>>;
