import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runsFolderOf } from '../../../training/runFolder';
import { writeAtomically } from '../../../trajectory/files';
import type { TrajectoryLog } from '../../../trajectory/log';
import type { LoopPlan, LoopResult } from '../plan';
import type { Reported } from '../results';
import type { Example } from './example';
import { storyOf } from './learning';
import { pageOf } from './page';
import { habitsPicture, PICTURES, successPicture } from './pictures';

/** Name of the report's file in the loop's folder. */
const REPORT = 'report.md';

/** Writes `report.md` and its pictures into the loop's folder. */
export async function writeReport(
  result: Omit<LoopResult, 'report'>,
  plan: LoopPlan,
  log: TrajectoryLog,
): Promise<Reported> {
  const { folder, data, run, comparisons } = result;
  const story = await storyOf(join(runsFolderOf(data), run));
  const example = await exampleOf(comparisons.greedy.example, log);
  const pictures: Readonly<Record<string, string>> = {
    success: successPicture(comparisons),
    habits: habitsPicture(comparisons),
    ...Object.fromEntries(story.learnings.map(({ stage, picture }) => [stage, picture])),
  };
  await rm(join(folder, PICTURES), { recursive: true, force: true });
  await mkdir(join(folder, PICTURES), { recursive: true });
  for (const [name, svg] of Object.entries(pictures)) {
    await writeAtomically(join(folder, PICTURES, `${name}.svg`), (file) => file.writeFile(svg));
  }
  const page = pageOf({ ...result, plan, story, ...(example && { example }) });
  await writeAtomically(join(folder, REPORT), (file) => file.writeFile(page));
  return { report: REPORT };
}

async function exampleOf(
  chosen: LoopResult['comparisons']['greedy']['example'],
  log: TrajectoryLog,
): Promise<Example | undefined> {
  if (chosen === undefined) return undefined;
  const before = await log.trajectory(chosen.before);
  const after = await log.trajectory(chosen.after);
  return before && after && { before, after };
}
