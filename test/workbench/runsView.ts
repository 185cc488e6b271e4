import type { FrameLocator } from 'playwright-core';

import { realTrainer } from '../fixtures/trainer';
import type { Runs } from '../../src/core/training/runs';
import type { WorkbenchDriver } from './driver';
import { signal } from '../fixtures/processes';

/** Environment variables that make the extension host use the real trainer with the packages of its tests. */
export const trainerEnvironment = (): Readonly<Record<string, string>> => ({
  TANDEM_TRAINER_PYTHON: realTrainer().python,
});

/** Opens the Runs view and closes Tandem's other views, because a tree draws only the rows that fit. */
export async function showRuns(workbench: WorkbenchDriver): Promise<void> {
  await workbench.showTandem();
  await workbench.openViews('Runs');
}

/** Works in the settings behind the gear of the chart, which the keyboard opens and closes. */
export async function inChartSettings(view: FrameLocator, work: () => Promise<unknown>): Promise<void> {
  const gear = view.getByRole('button', { name: 'Chart settings' });
  const settings = view.getByRole('dialog', { name: 'Chart settings' });
  await gear.press('Enter');
  await settings.waitFor();
  await work();
  await gear.press('Escape');
  await settings.waitFor({ state: 'hidden' });
}

/** Kills the trainers of all runs, because a trainer outlives its workbench. */
export async function killTrainers(runs: Runs): Promise<void> {
  for (const { process: trainer, isLive } of await runs.list())
    if (isLive && trainer) signal(trainer.pid, 'SIGKILL');
}
