import * as z from 'zod';

/**
 * Results that the stages between tasks and evaluation, and the report, leave in `loop.json`. Paths are relative to
 * the loop's folder.
 */

export const collectedSchema = z.object({
  /** Its name in the log. */
  collection: z.string(),
  dialogues: z.number(),
  successes: z.number(),
});
export type Collected = z.infer<typeof collectedSchema>;

export const trainedSchema = z.object({ run: z.string() });
export type TrainedRun = z.infer<typeof trainedSchema>;

export const exportedSchema = z.object({ precision: z.enum(['fp32', 'int8', 'int4']) });
export type Exported = z.infer<typeof exportedSchema>;

export const reportedSchema = z.object({ report: z.string() });
export type Reported = z.infer<typeof reportedSchema>;
