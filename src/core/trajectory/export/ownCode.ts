import { isOwnFunction } from '../../task/own';
import { isProgram } from '../../task/task';
import type { Consents } from '../consent';
import type { Trajectory } from '../trajectory';
import type { LeftOutReason } from './selection';

/** Nothing else says what the developer wanted: a pack's task without tests has a reference. */
export const isAboutOwnCode = ({ task }: Pick<Trajectory, 'task'>): boolean =>
  isProgram(task) && isOwnFunction(task) && task.hiddenInformation === '';

/** Undefined if a run may learn from a dialogue about own code. */
export function whyNotOwnCode({ outcome }: Trajectory, consents: Consents): LeftOutReason | undefined {
  if (outcome?.code === undefined) return 'about own code that was not logged';
  return consents.covers(outcome.by, 'own-code')
    ? undefined
    : 'about own code, without consent to train on it';
}

/** The hidden information of a dialogue about own code is, in hindsight, the function as the developer left it. */
export function inHindsight(trajectory: Trajectory): Trajectory {
  const { task, outcome } = trajectory;
  if (!isProgram(task) || !isAboutOwnCode(trajectory) || outcome?.code === undefined) return trajectory;
  return { ...trajectory, task: { ...task, hiddenInformation: outcome.code } };
}

/** True for what `inHindsight` made. */
export const holdsOwnCode = ({ task, outcome }: Trajectory): boolean =>
  isProgram(task) && outcome?.code !== undefined && task.hiddenInformation === outcome.code;
