import { dirname, join } from 'node:path';
import * as z from 'zod';
import { lastEvent } from '../eventFile';
import { runFiles } from '../runFolder';

/** The fraction of held-out pairs that a critic puts in the right order. */
export interface HeldOut {
  readonly accuracy: number;
  readonly pairs: number;
  /** The untrained baseline on the same pairs; absent in runs of an older trainer. */
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

/** As reported by the critic's run; undefined when there is no run, or it held nothing out. */
export async function heldOutOf(criticFolder: string): Promise<HeldOut | undefined> {
  const result = await lastEvent(join(dirname(criticFolder), runFiles.events), 'result');
  const critic = resultSchema.safeParse(result).data?.stages.critic;
  if (critic === undefined) return undefined;
  const { held_out_accuracy: accuracy, held_out_examples: pairs } = critic;
  const untrained = critic.held_out_untrained_accuracy;
  return { accuracy, pairs, ...(untrained !== undefined && { untrained }) };
}
