import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Configuration } from '../configuration';
import type { CriticChoice } from '../credit/choice';
import { commands } from '../contributions';
import { useUri } from '../documents';
import type { Engine } from '../engine';
import type { CandidateChoice } from './candidates';
import type { ModelChoice } from './choice';
import type { Connect } from './connect/connect';
import { revealFolder } from '../reveal';
import { editorSpec } from './editorModels';
import type { ModelFolders } from './folders';
import type { CriticNode, ModelNode } from './nodes';
import type { LocalPlace } from './places';
import { namedFor, rolesOf, settingOf, type Role } from './roles';
import { specOf, type Server } from './server';
import type { ModelTree } from './tree';
import { inUse } from './words';

const { t } = vscode.l10n;

export interface ModelCommandContext {
  readonly configuration: Configuration;
  readonly engine: Engine;
  readonly choice: ModelChoice;
  readonly candidates: CandidateChoice;
  readonly connect: Connect;
  readonly folders: ModelFolders;
  readonly models: ModelTree;
  readonly critics: CriticChoice;
}

/** What a menu or the view passes; other things when the command was called elsewhere. */
type Target = ModelNode | { readonly kind: string } | undefined;

type Run = (target: Target) => Promise<unknown> | undefined;

/** Every command that is about models. */
export function modelCommands(on: ModelCommandContext) {
  return {
    [commands.chooseAgent]: () => on.choice.choose('agent'),
    [commands.chooseSimulator]: () => on.choice.choose('simulator'),
    [commands.chooseCandidates]: () => on.candidates.choose(),
    [commands.setApiKey]: (target) => on.choice.setKey(serverOfRow(target)?.baseUrl),
    [commands.connectModel]: () => connectAndUse(on),
    [commands.editConnection]: (target) => withServer(target, (server) => edit(on, server)),
    [commands.testConnection]: (target) => withServer(target, (server) => test(on, server)),
    [commands.showUse]: async () =>
      vscode.window.showTextDocument(await vscode.workspace.openTextDocument(useUri)),
    [commands.addModelFolder]: () => on.folders.addAndOffer(),
    [commands.useAsAgent]: (target) => use(on, 'agent', target),
    [commands.useAsSecondAgent]: (target) => use(on, 'secondAgent', target),
    [commands.useAsSimulator]: (target) => use(on, 'simulator', target),
    [commands.useCritic]: (target) => withCritic(target, ({ critic }) => on.critics.use(critic)),
    [commands.revealModelFolder]: (target) =>
      withCritic(target, ({ critic: { folder } }) =>
        revealFolder(folder, 'critic.json', t('The critic is in {0}.', folder)),
      ) ?? withFolder(target, (place) => on.folders.reveal(place)),
    // The Delete key names no row.
    [commands.removeModel]: (target = on.models.selected) =>
      withServer(target, (server) => remove(on, server)) ??
      withFolder(target, (place) => on.folders.remove(place)),
  } satisfies Record<string, Run>;
}

/** The name of the model of a row, as the settings write it. */
function specOfRow(target: Target): string | undefined {
  if (!isRow(target)) return undefined;
  switch (target.kind) {
    case 'model':
      return target.place.spec;
    case 'server':
      return specOf(target.server);
    case 'editorModel':
      return editorSpec(target.chat);
    case 'critics':
    case 'critic':
    case 'problem':
    case 'add':
      return undefined;
  }
}

const KINDS: readonly string[] = [
  'model',
  'server',
  'editorModel',
  'critics',
  'critic',
  'problem',
  'add',
] satisfies ModelNode['kind'][];

function isRow(target: Target): target is ModelNode {
  return target !== undefined && KINDS.includes(target.kind);
}

function serverOfRow(target: Target): Server | undefined {
  return isRow(target) && target.kind === 'server' ? target.server : undefined;
}

function withServer<T>(target: Target, act: (server: Server) => Promise<T>): Promise<T> | undefined {
  const server = serverOfRow(target);
  return server && act(server);
}

function withCritic<T>(target: Target, act: (node: CriticNode) => Promise<T>): Promise<T> | undefined {
  return isRow(target) && target.kind === 'critic' ? act(target) : undefined;
}

function withFolder<T>(target: Target, act: (place: LocalPlace) => Promise<T>): Promise<T> | undefined {
  return isRow(target) && target.kind === 'model' ? act(target.place) : undefined;
}

async function use(on: ModelCommandContext, role: Role, target: Target): Promise<void> {
  const spec = specOfRow(target);
  if (spec === undefined) return;
  if (role === 'secondAgent') await on.candidates.show(spec);
  else await on.configuration.set(role, spec);
}

async function connectAndUse({ connect, configuration }: ModelCommandContext): Promise<void> {
  const connected = await connect.add();
  if (connected?.as !== undefined) await configuration.set(settingOf[connected.as], specOf(connected.server));
}

/** Who plays goes on to play, under the new address or name. */
async function edit({ connect, configuration }: ModelCommandContext, server: Server): Promise<void> {
  const edited = await connect.edit(server);
  if (edited === undefined) return;
  for (const role of namedFor(specOf(server), configuration)) {
    await configuration.set(settingOf[role], specOf(edited));
  }
}

async function test({ engine }: ModelCommandContext, server: Server): Promise<void> {
  const title = t('Testing {0}', server.name);
  const location = vscode.ProgressLocation.Notification;
  const trial = await vscode.window.withProgress({ location, title, cancellable: true }, async (_, token) => {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort());
    try {
      return await engine.servers.test(server, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    }
  });
  if (trial === undefined) return;
  if (!trial.works) {
    void vscode.window.showErrorMessage(`${trial.what} ${trial.remedy}`);
    return;
  }
  const seconds = (trial.milliseconds / 1000).toFixed(1);
  void vscode.window.showInformationMessage(t('{0} works: it answered in {1} s.', server.name, seconds));
}

async function remove({ engine, configuration }: ModelCommandContext, server: Server): Promise<void> {
  const [role] = rolesOf(specOf(server), configuration);
  if (role !== undefined) {
    throw new Fault('editor/model-in-use', inUse(server.name, role, t));
  }
  await engine.servers.remove(server);
  await configuration.forgetSecondAgent(specOf(server));
}
