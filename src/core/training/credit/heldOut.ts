import { dirname, join } from 'node:path';
import * as z from 'zod';
import { lastEvent } from '../eventFile';
import { runFiles } from '../runFolder';

/** How often a critic has the better of two dialogues ahead, of tasks that nothing was trained on. */
export interface HeldOut {
  readonly accuracy: number;
  readonly pairs: number;
  /** The control's, on the same pairs; absent in runs of an older trainer. */
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

/** What the run of a critic has told of it; undefined of a critic that stands in no run, or whose run held nothing out. */
export async function heldOutOf(criticFolder: string): Promise<HeldOut | undefined> {
  const result = await lastEvent(join(dirname(criticFolder), runFiles.events), 'result');
  const critic = resultSchema.safeParse(result).data?.stages.critic;
  if (critic === undefined) return undefined;
  const { held_out_accuracy: accuracy, held_out_examples: pairs } = critic;
  const untrained = critic.held_out_untrained_accuracy;
  return { accuracy, pairs, ...(untrained !== undefined && { untrained }) };
}
