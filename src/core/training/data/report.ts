import * as z from 'zod';
import { lazily } from '../../lazily';
import { trainedOnSchema } from './trainingExamples';

/** `data/selection.json` in the folder of a run that took trajectories from a log. */
export const selectionReportSchema = lazily(() =>
  z.object({
    log: z.string(),
    /** ISO 8601, UTC. */
    at: z.string(),
    trajectories: z.number().int(),
    tasks: z.number().int(),
    successes: z.number().int(),
    /** By reason. */
    left_out: z.record(z.string(), z.number().int()),
    /** Trajectories played with another agent.md than their messages were rendered with. */
    other_prompts: z.number().int(),
    /** Trajectories with the sampled token ids of every turn. */
    with_token_ids: z.number().int(),
    /** Trajectories in which a participant keeps their data on this machine; absent in older reports. */
    kept_local: z.number().int().optional(),
    /** Counted by the trainer before the start; absent in older reports. */
    trained_on: trainedOnSchema().optional(),
  }),
);

export type SelectionReport = z.infer<ReturnType<typeof selectionReportSchema>>;
