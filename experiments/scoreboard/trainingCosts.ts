import { join } from 'node:path';
import * as z from 'zod';
import { lastEvent } from '../../src/core/training/eventFile';
import { runFiles } from '../../src/core/training/runFolder';
import type { Run } from '../../src/core/training/runs';
import type { TrainingCosts } from './surroundings';

/** Figures of a stage: one with steps trains, one with histories samples candidates; that of GRPO plays dialogues. */
const stageSchema = z.looseObject({
  tokens: z.number().default(0),
  steps: z.number().optional(),
  histories: z.number().optional(),
  dialogues: z.number().default(0),
});
const resultSchema = z.looseObject({ stages: z.record(z.string(), stageSchema) });

/**
 * What a finished run played, sampled and trained on. It includes a critic and candidates that the run took from an
 * earlier one, so that the costs of a method do not depend on which of its runs came first.
 */
export async function trainingCosts({
  folder,
  startedAt,
  changedAt,
}: Pick<Run, 'folder' | 'startedAt' | 'changedAt'>): Promise<TrainingCosts> {
  const result = resultSchema.parse(await lastEvent(join(folder, runFiles.events), 'result'));
  const stages = Object.values(result.stages);
  const total = (figure: 'tokens' | 'dialogues', of: 'steps' | 'histories'): number =>
    stages.filter((stage) => stage[of] !== undefined).reduce((sum, stage) => sum + stage[figure], 0);
  return {
    played: total('dialogues', 'steps'),
    sampled: total('tokens', 'histories'),
    trained: total('tokens', 'steps'),
    // Includes the pauses of a stopped run.
    minutes: Math.round((Date.parse(changedAt) - Date.parse(startedAt)) / 600) / 100,
  };
}
