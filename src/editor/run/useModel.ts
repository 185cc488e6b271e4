import * as vscode from 'vscode';
import { modelOf } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { idOf, VENDOR } from '../contributions';
import type { Engine } from '../engine';
import { runName } from './words';
import { Fault } from '../../core/fault';

const { t } = vscode.l10n;

const askTandem = (spec: string): object => ({
  ...{ mode: 'ask', query: '@tandem ', isPartialQuery: true },
  modelSelector: { vendor: VENDOR, id: spec },
});

/** A trained collaborator becomes the simulator, another model the agent. */
export async function useModel(run: Run, where: 'play' | 'chat', engine: Engine): Promise<void> {
  const model = modelOf(run);
  const place = engine.localPlaces.find((one) => one.folder === model);
  // This folder's list lacks the models of another folder's log.
  const spec = place?.spec ?? `local:${model}`;
  await useAs(run.role === 'collaborator' ? 'simulator' : 'agent', spec, runName(run), engine);
  if (where === 'play') await vscode.commands.executeCommand(idOf('playNext'));
  else await vscode.commands.executeCommand('workbench.action.chat.open', askTandem(spec));
}

async function useAs(role: 'agent' | 'simulator', spec: string, name: string, engine: Engine): Promise<void> {
  const { configuration } = engine;
  const before = configuration[role];
  if (before === spec) return;
  await configuration.set(role, spec);
  const undo = t('Undo');
  const tell = async (): Promise<void> => {
    const sentence =
      role === 'agent'
        ? t('{0} now plays in the chat and in new dialogues.', name)
        : t('{0} now replies in new dialogues.', name);
    const pressed = await vscode.window.showInformationMessage(sentence, undo);
    // Another model may have been chosen since.
    if (pressed === undo && configuration[role] === spec) await configuration.set(role, before);
  };
  tell().catch((error: unknown) => engine.report(error));
}

/**
 * A model of another role has learned another prompt than that of an agent.
 * @throws {Fault} `editor/not-playable`
 */
export function refuseOtherRoles(runs: readonly Run[]): void {
  const one = runs.find(({ role }) => role !== undefined);
  if (one === undefined) return;
  const name = runName(one);
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
