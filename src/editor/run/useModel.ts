import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { keptOf } from '../../core/evaluation/loop/evaluationCache';
import { modelOf } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { idOf, VENDOR } from '../contributions';
import type { Engine } from '../engine';
import { runName, worseWords } from './words';
import { Fault } from '../../core/fault';
import { baseName } from '../words';
import type { LocalPlace } from '../localModels';
import { specOf, type Server } from '../servers';

const { t } = vscode.l10n;

/**
 * A trained collaborator becomes the simulator, another model the agent, after a question where its success or habits
 * were measured to be worse.
 */
export async function useModel(run: Run, where: 'play' | 'chat', engine: Engine): Promise<void> {
  const spec = specOfRun(run, engine);
  const role = run.role === 'collaborator' ? 'simulator' : 'agent';
  if (engine.configuration[role] !== spec && !(await mayUse(run, where))) return;
  await useAs(role, spec, runName(run), engine);
  if (where === 'play') await vscode.commands.executeCommand(idOf('playNext'));
  else
    // Ask mode, because Agent mode offers only models that call tools.
    await vscode.commands.executeCommand('workbench.action.chat.open', {
      ...{ mode: 'ask', query: '@tandem ', isPartialQuery: true },
      modelSelector: { vendor: VENDOR, id: spec },
    });
}

/** This folder's list lacks the models of another folder's log. */
export function specOfRun(run: Run, { localPlaces }: Pick<Engine, 'localPlaces'>): string {
  const model = modelOf(run);
  return localPlaces.find(({ folder }) => folder === model)?.spec ?? `local:${model}`;
}

async function mayUse(run: Run, where: 'play' | 'chat'): Promise<boolean> {
  const worse = worseWords(await keptOf(run.folder));
  if (worse.length === 0) return true;
  const use = where === 'play' ? t('Play Anyway') : t('Use Anyway');
  const question = t('Training made {0} worse at something. Use it as the agent?', runName(run));
  const options = { modal: true, detail: worse.join('\n') };
  return (await vscode.window.showWarningMessage(question, options, use)) === use;
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

/**
 * Makes each agent message a blind choice between a run's trained model and its base model.
 * @throws {Fault} `editor/not-playable`
 */
export async function compareBlindly(run: Run, engine: Engine): Promise<void> {
  refuseOtherRoles([run]);
  const { localPlaces, configuration } = engine;
  const { before, after } = beforeAndAfter(run, { localPlaces, servers: engine.servers.all });
  const name = runName(run);
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
      'In dialogues about tasks you now choose each message of the agent from two, unnamed and in random order: one by {0}, one by {1}. The leaderboard in the Models view counts your choices.',
      name,
      baseName(run),
    ),
    play,
  );
  if (pressed === play) await vscode.commands.executeCommand(idOf('playNext'));
}

interface PlayableModels {
  readonly localPlaces: readonly LocalPlace[];
  readonly servers: readonly Server[];
}

/** Names both models as the settings do; undefined where one cannot play here. */
export function beforeAndAfter(
  { folder, base }: Pick<Run, 'folder' | 'base'>,
  { localPlaces, servers }: PlayableModels,
): { readonly before: string | undefined; readonly after: string | undefined } {
  const server = servers.find(({ model }) => model === base);
  const before =
    localPlaces.find((place) => path.relative(place.folder, base) === '')?.spec ??
    (path.isAbsolute(base) && existsSync(path.join(base, 'onnx')) ? `local:${base}` : undefined) ??
    (server && specOf(server));
  return { before, after: localPlaces.find((place) => path.dirname(place.folder) === folder)?.spec };
}
