import * as vscode from 'vscode';
import { withModel } from '../../core/dialogue/specification/specificationSpec';
import { Fault } from '../../core/fault';
import type { App, CommandRow, RowOrSelected } from '../app';
import { revealFolder } from '../documents';
import { editorSpec } from '../editorModels';
import { cancellable } from '../progress';
import { inUse, namedFor, rolesOf, settingOf, type Role } from '../roles';
import { specOf, type Server } from '../servers';
import { inform } from '../inputSteps';

const { t } = vscode.l10n;

export async function use({ candidates, configuration }: App, role: Role, row: CommandRow): Promise<void> {
  const spec = specOfRow(row);
  if (spec === undefined) return;
  if (role === 'secondAgent') await candidates.show(spec);
  else await configuration.set(role, spec);
}

function specOfRow(row: CommandRow): string | undefined {
  switch (row?.kind) {
    case 'model':
      return row.place.spec;
    case 'server':
      return specOf(row.server);
    case 'editorModel':
      return editorSpec(row.chat);
    default:
      return undefined;
  }
}

export async function reveal({ folders }: App, row: CommandRow): Promise<void> {
  if (row?.kind === 'model') return folders.reveal(row.place);
  if (row?.kind !== 'critic') return undefined;
  const { folder } = row.critic;
  return revealFolder(folder, 'critic.json', t('The critic is in {0}.', folder));
}

export async function remove(app: App, pressed: RowOrSelected): Promise<unknown> {
  const row = pressed === 'selected' ? (await app.models.selection())[0] : pressed;
  if (row?.kind === 'server') return removeServer(app, row.server);
  return row?.kind === 'model' ? app.folders.remove(row.place) : undefined;
}

export async function connectAndUse({ connect, configuration }: App): Promise<void> {
  const connected = await connect.add();
  if (connected?.as !== undefined) await configuration.set(settingOf[connected.as], specOf(connected.server));
}

/** Its roles stay with it under the new name. */
export async function edit({ connect, configuration }: App, server: Server): Promise<void> {
  const edited = await connect.edit(server);
  if (edited === undefined) return;
  for (const role of namedFor(specOf(server), configuration)) {
    const named = role === 'simulator' ? withModel(configuration.simulator, specOf(edited)) : specOf(edited);
    await configuration.set(settingOf[role], named);
  }
}

export async function test(app: App, server: Server): Promise<void> {
  const { engine } = app;
  const title = t('Testing {0}', server.name);
  const trial = await cancellable(title, (signal) => engine.servers.test(server, signal));
  if (trial === undefined) return;
  if (!trial.works) {
    const mend = t('Edit Connection…');
    const pressed = await vscode.window.showErrorMessage(`${trial.what} ${trial.remedy}`, mend);
    return pressed === mend ? edit(app, server) : undefined;
  }
  const seconds = (trial.milliseconds / 1000).toFixed(1);
  inform(t('{0} works: it answered in {1} s.', server.name, seconds));
}

async function removeServer({ engine, configuration }: App, server: Server): Promise<void> {
  const [role] = rolesOf(specOf(server), configuration);
  if (role !== undefined) {
    throw new Fault('editor/model-in-use', inUse(server.name, role, t));
  }
  await engine.servers.remove(server);
  await configuration.forgetSecondAgent(specOf(server));
}
