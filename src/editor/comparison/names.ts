import type { Run } from '../../core/training/runs';
import { runName } from '../runs/words';
import type { Translate } from '../translate';

/** Runs of one name are told apart by the end of their ids. */
export function namesOf(runs: readonly Run[], t: Translate): string[] {
  const names = runs.map((run) => runName(run, t));
  return names.map((name, index) =>
    names.filter((other) => other === name).length === 1 ? name : `${name} (${runs[index]!.id.slice(-4)})`,
  );
}
