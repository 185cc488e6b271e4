import { join } from 'node:path';
import * as z from 'zod';
import { EventTail } from '../../src/core/training/eventFile';
import { runFiles } from '../../src/core/training/runFolder';
import type { Run } from '../../src/core/training/runs';
import type { TrainingCosts } from './surroundings';

const withTokens = z.object({ tokens: z.number() });

/** Counts what a finished run played, sampled and trained on; a step that was repeated after a stop counts once. */
export async function trainingCosts({
  folder,
  startedAt,
  changedAt,
}: Pick<Run, 'folder' | 'startedAt' | 'changedAt'>): Promise<TrainingCosts> {
  const trained = new Map<string, number>();
  const sampled = new Map<string, number>();
  const played = new Map<string, number>();
  const tail = new EventTail(join(folder, runFiles.events));
  try {
    for await (const event of tail.read()) {
      if (event.event === 'candidates') sampled.set(event.stage, withTokens.parse(event).tokens);
      if (event.event !== 'step') continue;
      trained.set(`${event.stage} ${event.step}`, withTokens.parse(event).tokens);
      if (event.dialogues != null) played.set(event.stage, event.dialogues);
    }
  } finally {
    await tail.close();
  }
  return {
    played: sum(played),
    sampled: sum(sampled),
    trained: sum(trained),
    // Includes the pauses of a stopped run.
    minutes: Math.round((Date.parse(changedAt) - Date.parse(startedAt)) / 600) / 100,
  };
}

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((total, one) => total + one, 0);
