import { realTrainer } from '../fixtures/trainer';
import type { Runs } from '../../src/core/training/runs';
import type { WorkbenchDriver } from './driver';

/** What the extension host is told, so that it starts the real trainer with the packages of its own tests. */
export const trainerEnvironment = (): Readonly<Record<string, string>> => ({
  TANDEM_TRAINER_PYTHON: realTrainer().python,
});

/** Opens Tandem's side bar with room for the runs: it draws only the rows that fit, so the other views are closed. */
export async function showRuns(workbench: WorkbenchDriver): Promise<void> {
  await workbench.activityBar('Tandem').click();
  await workbench.openViews('Runs');
}

/** A trainer outlives its workbench. */
export async function killTrainers(runs: Runs): Promise<void> {
  for (const { process: trainer, isLive } of await runs.list())
    if (isLive && trainer) process.kill(trainer.pid, 'SIGKILL');
}
