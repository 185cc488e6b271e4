import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { App, CommandRow } from '../app';
import { idOf, type CommandName } from '../contributions';
import { documentUri, openDocument } from '../documents';
import type { Pack, ListedTask, Packs } from '../packs';
import { withoutLinks } from '../words';
import { inform, askPseudonym, askReason, pickSearched, type SearchedRow } from '../inputSteps';
import { skipReasons } from '../reasons';
import { cutTo, MAX_OTHER_PLAYERS, stateWords, stateIcon } from '../tasks/items';
import type { PlayedTasks } from '../tasks/playedTasks';
import { excerpt, searchTasks } from '../../core/task/search';
import { SHIPPED_FOR } from '../../core/model/shippedModels';
import { teaches, WORLDS, worldOf, type World } from '../../core/task/starter/splits';
import { Runs } from '../../core/training/runs';
import { ifThere } from '../../core/trajectory/files';
import type { Engine } from '../engine';

const { t } = vscode.l10n;

/** Opens the guidelines of a row's pack, else of the active session's pack, else of the first pack. */
export async function openGuidelines({ guidelines, panels, packs }: App, row: CommandRow): Promise<void> {
  const ofRow = row?.kind === 'task' ? row.task.pack : row?.kind === 'pack' ? row.pack.file : undefined;
  const pack = ofRow ?? panels.active?.shown.from.pack ?? (await packs.all())[0]?.file;
  if (pack !== undefined) return guidelines.open(pack);
  inform(t('Guidelines belong to a pack, and there is none here yet. Play the first task, or add a pack.'));
}

export async function playFound({ packs, played, panels }: App): Promise<void> {
  const task = await findTask(packs, played);
  if (task !== undefined) await panels.openTask(task);
}

/** Of a row, else of a task that is searched for. */
export async function playAsAgent({ packs, played, panels }: App, row: CommandRow): Promise<void> {
  const task = row?.kind === 'task' ? row.task : await findTask(packs, played);
  if (task === undefined) return;
  if (task.kind === 'page')
    inform(t('Only functions can be played as the agent, and {0} is a web page.', task.title));
  else await panels.openAsAgent(task);
}

/** Packs with a part for the person come first. Without a pseudonym, the person is told of such a part. */
export async function playNextOf(app: App, packs: readonly Pack[]): Promise<void> {
  const { played, tasks, panels } = app;
  await played.read();
  const parts = packs.map((pack) => ({ ...pack, part: played.of(pack.file).part(pack.tasks) }));
  const [assigned, others] = [parts.filter(({ part }) => part), parts.filter(({ part }) => !part)];
  for (const pack of [...assigned, ...others]) {
    const next = await tasks.nextTask(pack.file);
    if (next === undefined) continue;
    await panels.openTask(next);
    await askWhoPlays(app, pack);
    return;
  }
  const said =
    assigned.length === 0
      ? t('There is no task here that has not been played yet.')
      : t('You have played all that is assigned to you here. Click any other task to play it all the same.');
  inform(said);
}

async function askWhoPlays({ engines, played }: App, { file, name, tasks }: Pack): Promise<void> {
  const assignment = played.of(file).assignment(tasks);
  if (assignment === undefined) return;
  const people = withoutLinks(cutTo(MAX_OTHER_PLAYERS, assignment.people, t).join(', '));
  const why = t(
    '{0} is assigned to {1}. Choose your pseudonym, and the list shows your tasks.',
    name,
    people,
  );
  await askPseudonym(engines.of(file), why);
}

/** Adds the packs that ship if there are none; a newcomer's agent knows the first pack. */
export async function playNext(app: App): Promise<void> {
  const { samplePacks, tasks, panels } = app;
  const packs = await packsForAgent(app);
  if (packs === undefined) return;
  if (packs.length > 0) return playNextOf(app, packs);
  const pack = await samplePacks.add();
  const first = pack === undefined ? undefined : await tasks.nextTask(pack);
  if (first !== undefined) await panels.openTask(first);
}

export async function removePack({ packs }: App, { file, name }: Pack): Promise<void> {
  const putBack = await packs.leaveOut(file);
  const undo = t('Undo');
  const pressed = await vscode.window.showInformationMessage(
    t('{0} is no longer in the list. Its file stays.', name),
    undo,
  );
  if (pressed === undo) await putBack();
}

/** @throws {Fault} `editor/no-task` */
export async function openOf(
  { packs }: App,
  kind: 'reference' | 'tests',
  { pack, id }: ListedTask,
): Promise<void> {
  const task = await packs.task(pack, id);
  if (task === undefined)
    throw new Fault('editor/no-task', t('The pack {0} no longer has the task {1}.', path.basename(pack), id));
  await openDocument(documentUri(kind, task, { pack, task: id }));
}

/** Skips a task. A skip is logged, so a person without consent is sent to the session, which asks for it. */
export async function skip({ engines, panels }: App, task: ListedTask): Promise<void> {
  if (engines.of(task.pack).consent.given === undefined) {
    await panels.openTask(task);
    inform(t('A skip is logged with its reason. Agree in the dialogue first, then skip.'));
    return;
  }
  const reason = await askReason(t('Skip {0}', task.title), skipReasons(t));
  if (reason !== undefined) await panels.skip(task, reason);
}

export async function addPack({ samplePacks }: App): Promise<void> {
  const run = (command: CommandName) => () => vscode.commands.executeCommand(idOf(command));
  const ways = [
    {
      label: `$(file-add) ${t('From a File…')}`,
      detail: t('A file of tasks in ColBench’s format (.jsonl); you can also drop it on the list'),
      add: run('addPackFile'),
    },
    {
      label: `$(cloud-download) ${t('Download ColBench…')}`,
      detail: t('The published functions and web pages, after you accept their license'),
      add: run('downloadPack'),
    },
    {
      label: `$(sparkle) ${t('Generate Tasks…')}`,
      detail: t('As many tasks of the starter world as you like, to collect dialogues of and to learn from'),
      add: run('generateTasks'),
    },
    {
      label: `$(rocket) ${t('Sample Packs')}`,
      detail: t('Tasks that come with Tandem, and an agent that plays on this machine'),
      add: () => samplePacks.add(),
    },
  ];
  const way = await vscode.window.showQuickPick(ways, { title: t('Add Tasks') });
  await way?.add();
}

const MAX_ROWS = 200;

/** The rows are searched here: the picker would need all descriptions, and shows only one line of each. */
async function findTask(packs: Packs, played: PlayedTasks): Promise<ListedTask | undefined> {
  const [all] = await Promise.all([packs.all(), played.read()]);
  const names = new Map(all.map(({ file, name }) => [file, name]));
  const tasks = all.flatMap((pack) => pack.tasks);
  const head = { title: t('Find Task'), placeholder: t('Search in titles and descriptions') };
  return pickSearched(head, (query) => {
    const found = searchTasks(tasks, query, MAX_ROWS);
    const rows = found.tasks.map((task) => row(task, query, names.get(task.pack) ?? '', played));
    return [...rows, ...restOf(found.total, rows.length, query)];
  });
}

function row(task: ListedTask, query: string, pack: string, played: PlayedTasks): SearchedRow<ListedTask> {
  const state = played.state(task);
  return {
    label: task.title,
    iconPath: stateIcon(state),
    description: [pack, stateWords(state, task, t)].filter(Boolean).join(' · '),
    detail: excerpt(task.description, query),
    alwaysShow: true,
    value: task,
  };
}

function restOf(total: number, shown: number, query: string): vscode.QuickPickItem[] {
  if (total > shown) return [{ label: t('{0} more: type more words', total - shown), alwaysShow: true }];
  if (total > 0) return [];
  return [{ label: t('No task has all of these words: {0}', query.trim()), alwaysShow: true }];
}

/**
 * Packs to play next with the agent. One that learned from web pages, or from twenty questions, plays no others, so these
 * are generated where there are none.
 * @returns undefined when the person cancelled that
 * @throws {Fault} as `generateTasks`
 */
export async function packsForAgent({
  engine,
  packs,
}: Pick<App, 'engine' | 'packs'>): Promise<readonly Pack[] | undefined> {
  const world = await worldOfAgent(engine);
  const all = await packs.all();
  const isOfWorld = ({ tasks }: Pack): boolean => tasks.some((task) => worldOf(task) === world);
  if (world === undefined) return all;
  if (world === 'functions') return all.toSorted((a, b) => Number(isOfWorld(b)) - Number(isOfWorld(a)));
  const heldOut = all.filter((pack) => isOfWorld(pack) && !pack.tasks.some(teaches));
  if (heldOut.length > 0) return heldOut;
  const { generateHeldOut } = await import('../tasks/adding/generateTasks');
  const file = await generateHeldOut(world, packs);
  return file === undefined ? undefined : (await packs.all()).filter((pack) => pack.file === file);
}

/** Undefined for an agent that has not learned from a world. */
async function worldOfAgent(engine: Engine): Promise<World | undefined> {
  const { agentName } = engine;
  const shipped = WORLDS.find((world) => SHIPPED_FOR[world] === agentName);
  // The data of a run name files, which an untrusted workspace must not have read.
  if (shipped !== undefined || !vscode.workspace.isTrusted) return shipped;
  const id = engine.runOf(agentName)?.id;
  const run = id === undefined ? undefined : await new Runs(engine.dataFolder).read(id);
  if (run === undefined) return undefined;
  const { worldOfRun } = await import('../../core/evaluation/comparison/heldOut');
  return ifThere(() => worldOfRun(run));
}
