import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Run } from '../../core/training/runs';
import { runName } from './words';

const { t } = vscode.l10n;

/**
 * A model of another role has learned another prompt than that of an agent.
 * @throws {Fault} `editor/not-playable`
 */
export function refuseOtherRoles(runs: readonly Run[]): void {
  const one = runs.find(({ role }) => role !== undefined);
  if (one === undefined) return;
  const name = runName(one, t);
  throw new Fault(
    'editor/not-playable',
    one.role === 'collaborator'
      ? t('{0} trained a collaborator, which plays no agent. Play with it as the simulator.', name)
      : t(
          '{0} trained the {1} of an agent that runs its drafts, which does not play alone.',
          name,
          one.role!,
        ),
  );
}
