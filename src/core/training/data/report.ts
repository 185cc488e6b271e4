import * as z from 'zod';
import { lazily } from '../../lazily';
import { trainedOnSchema } from './trainingExamples';

/** Report on the trajectories that a run took from a log, `data/selection.json` in its folder. */
export const selectionReportSchema = lazily(() =>
  z.object({
    /** The data folder. */
    log: z.string(),
    /** Time of reading. ISO 8601, UTC. */
    at: z.string(),
    trajectories: z.number().int(),
    tasks: z.number().int(),
    successes: z.number().int(),
    /** Number of trajectories left out, by reason. */
    left_out: z.record(z.string(), z.number().int()),
    /** Number of trajectories taken that were played with another agent.md than their messages were rendered with. */
    other_prompts: z.number().int(),
    /** Number of trajectories taken whose turns all have the token ids that were sampled. */
    with_token_ids: z.number().int(),
    /**
     * Number of trajectories taken in which a participant keeps their data on this machine; absent in older reports.
     */
    kept_local: z.number().int().optional(),
    /** The trainer's count of examples and shortages before the start; absent in older reports. */
    trained_on: trainedOnSchema().optional(),
  }),
);

export type SelectionReport = z.infer<ReturnType<typeof selectionReportSchema>>;
