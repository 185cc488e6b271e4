import type { Run } from '../../core/training/runs';
import { runName } from './words';
import type { Translate } from '../translate';

/** Equal names get the end of the run's id. */
export function namesOf(runs: readonly Run[], t: Translate): string[] {
  const names = runs.map((run) => runName(run, t));
  return names.map((name, index) =>
    names.filter((other) => other === name).length === 1 ? name : `${name} (${runs[index]!.id.slice(-4)})`,
  );
}
