import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { collectPack } from '../collecting/commands';
import type { CommandContext, Target } from '../commands';
import { commands } from '../contributions';
import { documentUri } from '../documents';
import { chooseDialogue } from './dialogues';
import { askFilter } from './filter';
import { findTask } from './find';
import type { Pack, PackTask } from './packs';
import { askSkipReason } from './skip';

const { t } = vscode.l10n;

/** What is done in the Tasks view and with its rows. */
export function taskCommands(on: CommandContext) {
  const { adder, configuration, download, samplePacks, guidelines, packs, panels, played, tasks } = on;
  return {
    [commands.playTask]: (target: Target) =>
      target?.kind === 'task' ? panels.openTask(target.task) : undefined,
    [commands.playNext]: () => playNext(on),
    [commands.playFirst]: () => playFirst(on),
    [commands.playNextOfPack]: (target: Target) =>
      target?.kind === 'pack' ? playNextOf(on, [target.pack]) : undefined,
    [commands.collect]: (target: Target) =>
      collectPack(on, target?.kind === 'pack' ? target.pack : undefined),
    [commands.removePack]: (target: Target) =>
      target?.kind === 'pack' ? removePack(on, target.pack) : undefined,
    [commands.openPack]: (target: Target) =>
      target?.kind === 'pack' ? open(vscode.Uri.file(target.pack.file)) : undefined,
    [commands.openReference]: (target: Target) => openDocument(on, 'reference', target),
    [commands.openTests]: (target: Target) => openDocument(on, 'tests', target),
    [commands.openGuidelines]: async (target: Target) => {
      const pack = packOf(target) ?? panels.active?.shown.from.pack ?? (await packs.all())[0]?.file;
      if (pack !== undefined) return guidelines.open(pack);
      void vscode.window.showInformationMessage(
        t('Guidelines belong to a pack, and there is none here yet. Play the first task, or add a pack.'),
      );
    },
    [commands.copyTaskId]: (target: Target) =>
      target?.kind === 'task' ? vscode.env.clipboard.writeText(target.task.id) : undefined,
    [commands.showDialogues]: (target: Target) => withTask(target, (task) => showDialogues(on, task)),
    [commands.skipTask]: (target: Target) => withTask(target, (task) => skip(on, task)),
    [commands.findTask]: async () => {
      const task = await findTask(packs, played);
      if (task !== undefined) await panels.openTask(task);
    },
    [commands.filterTasks]: () => askFilter(tasks),
    [commands.clearTaskFilter]: () => {
      tasks.filter = undefined;
      return undefined;
    },
    [commands.addPack]: () => addPack(),
    [commands.addPackFile]: () => adder.ask(),
    [commands.downloadPack]: () => download.ask(),
    [commands.addStarterPack]: () => samplePacks.add(),
    [commands.generateTasks]: async () => {
      const { generateTasks } = await import('./adding/generate');
      await generateTasks(configuration, packs);
    },
  };
}

function packOf(target: Target): string | undefined {
  if (target?.kind === 'task') return target.task.pack;
  return target?.kind === 'pack' ? target.pack.file : undefined;
}

function withTask<Result>(target: Target, act: (task: PackTask) => Result): Result | undefined {
  return target?.kind === 'task' ? act(target.task) : undefined;
}

async function playNext(on: CommandContext): Promise<void> {
  return playNextOf(on, await on.packs.all());
}

async function playNextOf({ tasks, panels }: CommandContext, packs: readonly Pack[]): Promise<void> {
  for (const { file } of packs) {
    const next = await tasks.nextTask(file);
    if (next === undefined) continue;
    await panels.openTask(next);
    return;
  }
  void vscode.window.showInformationMessage(t('There is no task here that has not been played yet.'));
}

/** For a newcomer: the packs that ship, and the first task of the first one, which their agent knows. */
async function playFirst(on: CommandContext): Promise<void> {
  const { samplePacks, packs, tasks, panels } = on;
  if ((await packs.all()).length > 0) return playNext(on);
  const pack = await samplePacks.add();
  const first = pack === undefined ? undefined : await tasks.nextTask(pack);
  if (first !== undefined) await panels.openTask(first);
}

/** Has the setting leave the pack out; its file stays. */
async function removePack({ packs }: CommandContext, { file, name }: Pack): Promise<void> {
  const putBack = await packs.leaveOut(file);
  const undo = t('Undo');
  const pressed = await vscode.window.showInformationMessage(
    t('{0} is no longer in the list. Its file stays.', name),
    undo,
  );
  if (pressed === undo) await putBack();
}

async function openDocument(
  { packs }: CommandContext,
  kind: 'reference' | 'tests',
  target: Target,
): Promise<void> {
  if (target?.kind !== 'task') return;
  const { pack, id } = target.task;
  const task = await packs.task(pack, id);
  if (task === undefined) {
    throw new Fault('editor/no-task', t('The pack {0} no longer has the task {1}.', path.basename(pack), id));
  }
  await open(documentUri(kind, task, { pack, task: id }));
}

async function showDialogues({ engines, panels }: CommandContext, task: PackTask): Promise<void> {
  const episode = await chooseDialogue(engines.of(task.pack), task);
  if (episode !== undefined) await panels.openTrajectory(episode);
}

/** A skip is logged, so nobody skips before having agreed to be logged; the session asks for that. */
async function skip({ engines, panels }: CommandContext, task: PackTask): Promise<void> {
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

/** The four ways to come to a pack. */
async function addPack(): Promise<void> {
  const ways = [
    {
      label: `$(file-add) ${t('From a File…')}`,
      detail: t('A file of tasks in ColBench’s format (.jsonl); you can also drop it on the list'),
      command: commands.addPackFile,
    },
    {
      label: `$(cloud-download) ${t('Download ColBench…')}`,
      detail: t('The published tasks, after you have accepted their licence'),
      command: commands.downloadPack,
    },
    {
      label: `$(sparkle) ${t('Generate Tasks…')}`,
      detail: t('As many tasks of the starter world as you like, to collect dialogues of and to learn from'),
      command: commands.generateTasks,
    },
    {
      label: `$(rocket) ${t('Sample Packs')}`,
      detail: t('Tasks that come with Tandem, and an agent that plays on this machine'),
      command: commands.addStarterPack,
    },
  ];
  const way = await vscode.window.showQuickPick(ways, { title: t('Add Pack') });
  if (way !== undefined) await vscode.commands.executeCommand(way.command);
}

async function open(uri: vscode.Uri): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
}
