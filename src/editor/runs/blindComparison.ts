import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { modelOf } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { idOf } from '../contributions';
import type { Engine } from '../engine';
import { beforeAndAfter } from './baseAndTrainedModels';
import { runName } from './words';
import { baseName } from '../words';

const { t } = vscode.l10n;

/**
 * Makes each agent message a blind choice between a run's trained model and its base model.
 * @throws {Fault} `editor/not-playable`
 */
export async function compareBlindly(run: Run, engine: Engine): Promise<void> {
  const { localPlaces, configuration } = engine;
  const { before, after } = beforeAndAfter(run, { localPlaces, servers: engine.servers.all });
  const name = runName(run, t);
  if (after === undefined) {
    const model = vscode.workspace.asRelativePath(modelOf(run));
    throw new Fault(
      'editor/not-playable',
      t(
        'The model of {0} cannot play here, because it has no ONNX graph. Make one with `tandem onnx {1}`, then compare again.',
        name,
        model,
      ),
    );
  }
  if (before === undefined) {
    throw new Fault(
      'editor/not-playable',
      t(
        '{0}, the base model of {1}, cannot play here. Connect a server that serves it, or make an ONNX graph in its folder with `tandem onnx`, then compare again.',
        run.base,
        name,
      ),
    );
  }
  await configuration.set('agent', after);
  await configuration.set('candidates.secondAgent', before);
  await configuration.set('candidates.show', true);
  const play = t('Play Next Task');
  const pressed = await vscode.window.showInformationMessage(
    t(
      'For each message of the agent you now choose between two, unnamed and in random order: one by {0}, one by {1}. The leaderboard in the Models view counts your choices.',
      name,
      baseName(run),
    ),
    play,
  );
  if (pressed === play) await vscode.commands.executeCommand(idOf('playFirst'));
}
