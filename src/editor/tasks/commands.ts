import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { App, CommandRow } from '../app';
import { idOf } from '../contributions';
import { documentUri, openDocument } from '../documents';
import { findTask } from './find';
import type { Pack, ListedTask } from './packs';
import { askSkipReason } from './skip';

const { t } = vscode.l10n;

/** Opens the guidelines of a row's pack, else of the active session's pack, else of the first pack. */
export async function openGuidelines({ guidelines, panels, packs }: App, row: CommandRow): Promise<void> {
  const ofRow = row?.kind === 'task' ? row.task.pack : row?.kind === 'pack' ? row.pack.file : undefined;
  const pack = ofRow ?? panels.active?.shown.from.pack ?? (await packs.all())[0]?.file;
  if (pack !== undefined) return guidelines.open(pack);
  void vscode.window.showInformationMessage(
    t('Guidelines belong to a pack, and there is none here yet. Play the first task, or add a pack.'),
  );
}

/** Asks for a task by words of its title or description, and opens it. */
export async function playFound({ packs, played, panels }: App): Promise<void> {
  const task = await findTask(packs, played);
  if (task !== undefined) await panels.openTask(task);
}

/** Opens the first unplayed task of some packs. */
export async function playNextOf({ tasks, panels }: App, packs: readonly Pack[]): Promise<void> {
  for (const { file } of packs) {
    const next = await tasks.nextTask(file);
    if (next === undefined) continue;
    await panels.openTask(next);
    return;
  }
  void vscode.window.showInformationMessage(t('There is no task here that has not been played yet.'));
}

/** Adds the packs that ship if there are none, and opens the next task; a newcomer's agent knows the first pack. */
export async function playFirst(app: App): Promise<void> {
  const { samplePacks, packs, tasks, panels } = app;
  const all = await packs.all();
  if (all.length > 0) return playNextOf(app, all);
  const pack = await samplePacks.add();
  const first = pack === undefined ? undefined : await tasks.nextTask(pack);
  if (first !== undefined) await panels.openTask(first);
}

/** Excludes the pack in the setting; its file stays. */
export async function removePack({ packs }: App, { file, name }: Pack): Promise<void> {
  const putBack = await packs.leaveOut(file);
  const undo = t('Undo');
  const pressed = await vscode.window.showInformationMessage(
    t('{0} is no longer in the list. Its file stays.', name),
    undo,
  );
  if (pressed === undo) await putBack();
}

/**
 * Opens the reference or the tests of a task.
 * @throws {Fault} `editor/no-task`
 */
export async function openOf(
  { packs }: App,
  kind: 'reference' | 'tests',
  { pack, id }: ListedTask,
): Promise<void> {
  const task = await packs.task(pack, id);
  if (task === undefined) {
    throw new Fault('editor/no-task', t('The pack {0} no longer has the task {1}.', path.basename(pack), id));
  }
  await openDocument(documentUri(kind, task, { pack, task: id }));
}

/** Skips a task. A skip is logged, so a person without consent is sent to the session, which asks for it. */
export async function skip({ engines, panels }: App, task: ListedTask): Promise<void> {
  if (engines.of(task.pack).consent.given === undefined) {
    await panels.openTask(task);
    void vscode.window.showInformationMessage(
      t('A skip goes into the log, with its reason. Agree in the session first, then skip.'),
    );
    return;
  }
  const reason = await askSkipReason(task.title);
  if (reason !== undefined) await panels.skip(task, reason);
}

/** Asks in which of four ways a pack is added. */
export async function addPack(): Promise<void> {
  const ways = [
    {
      label: `$(file-add) ${t('From a File…')}`,
      detail: t('A file of tasks in ColBench’s format (.jsonl); you can also drop it on the list'),
      command: idOf('addPackFile'),
    },
    {
      label: `$(cloud-download) ${t('Download ColBench…')}`,
      detail: t('The published tasks, after you have accepted their licence'),
      command: idOf('downloadPack'),
    },
    {
      label: `$(sparkle) ${t('Generate Tasks…')}`,
      detail: t('As many tasks of the starter world as you like, to collect dialogues of and to learn from'),
      command: idOf('generateTasks'),
    },
    {
      label: `$(rocket) ${t('Sample Packs')}`,
      detail: t('Tasks that come with Tandem, and an agent that plays on this machine'),
      command: idOf('addStarterPack'),
    },
  ];
  const way = await vscode.window.showQuickPick(ways, { title: t('Add Pack') });
  if (way !== undefined) await vscode.commands.executeCommand(way.command);
}
