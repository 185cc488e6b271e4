import { dirname, join } from 'node:path';
import * as z from 'zod';
import { lastEvent } from '../eventFile';
import { runFiles } from '../runFolder';

/** Held-out pair accuracy of a critic: the fraction of held-out pairs that it puts in the right order. */
export interface HeldOut {
  readonly accuracy: number;
  readonly pairs: number;
  /** Accuracy of the untrained baseline on the same pairs; absent in runs of an older trainer. */
  readonly untrained?: number;
}

const resultSchema = z.object({
  stages: z.object({
    critic: z.object({
      held_out_accuracy: z.number(),
      held_out_examples: z.number().int(),
      held_out_untrained_accuracy: z.number().optional(),
    }),
  }),
});

/**
 * Returns the result that the critic's run reported; undefined when the critic belongs to no run, or its run held
 * nothing out.
 */
export async function heldOutOf(criticFolder: string): Promise<HeldOut | undefined> {
  const result = await lastEvent(join(dirname(criticFolder), runFiles.events), 'result');
  const critic = resultSchema.safeParse(result).data?.stages.critic;
  if (critic === undefined) return undefined;
  const { held_out_accuracy: accuracy, held_out_examples: pairs } = critic;
  const untrained = critic.held_out_untrained_accuracy;
  return { accuracy, pairs, ...(untrained !== undefined && { untrained }) };
}
