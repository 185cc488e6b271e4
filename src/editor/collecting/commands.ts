import * as vscode from 'vscode';
import { commands, views } from '../contributions';
import type { Engines } from '../engines';
import { pickOne, valueOf } from '../steps';
import type { Pack } from '../tasks/pack';
import type { Packs } from '../tasks/packs';
import { dialogues } from '../trajectories/words';

const { t } = vscode.l10n;

export interface CollectionCommandContext {
  readonly engines: Engines;
  readonly packs: Packs;
}

/** Has the simulator play tasks of a pack with the agent, and says what can be done with the dialogues. */
export async function collectPack(
  { engines, packs }: CollectionCommandContext,
  chosen: Pack | undefined,
): Promise<void> {
  const pack = chosen ?? (await choosePack(await packs.all()));
  if (pack === undefined) return;
  const { collectHere } = await import('./collect');
  const { askExtent } = await import('./ask');
  const result = await collectHere(engines.of(pack.file), packs, pack.tasks, (played) =>
    askExtent(pack, played),
  );
  if (result === undefined) return;
  const more = result.done - result.already;
  const [show, train] = [t('Show Trajectories'), t('New Run…')];
  const pressed = await vscode.window.showInformationMessage(
    more === 0
      ? t('These dialogues were already played. Choose more tasks, or more dialogues per task.')
      : t('Played and graded: {0} of {1}.', dialogues(more, t), pack.name),
    show,
    train,
  );
  if (pressed === show) await vscode.commands.executeCommand(`${views.trajectories}.focus`);
  if (pressed === train) await vscode.commands.executeCommand(commands.newRun);
}

async function choosePack(packs: readonly Pack[]): Promise<Pack | undefined> {
  if (packs.length < 2) return packs[0];
  const picked = await pickOne({
    ...{ title: t('Collect dialogues'), placeholder: t('Tasks of which pack?') },
    items: packs.map((pack) => ({
      label: pack.name,
      description: vscode.workspace.asRelativePath(pack.file),
      pack,
    })),
  });
  return valueOf(picked)?.pack;
}
