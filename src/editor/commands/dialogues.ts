import * as vscode from 'vscode';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { App, CommandRow } from '../app';
import { documentUri, openDocument } from '../documents';
import type { Engine } from '../engine';
import { noTrajectory } from '../logs';
import { collaboratorCalled, simulatorCalled, type Namer } from '../displayNames';
import {
  inform,
  askPseudonym,
  askText,
  pickOne,
  pickSearched,
  type SearchedRow,
  valueOf,
} from '../inputSteps';
import type { ListedTask } from '../packs';
import { pickFilter } from '../trajectories/filterPicker';
import { groupingName, groupings, groupingWords } from '../trajectories/grouping';
import { givenTitle, outcomeWords, tagsInShort } from '../dialogue/words';
import { ago, dialogues } from '../words';
import { shortened } from '../../../webview/dialogue/protocol';
import type { Engines } from '../engines';
import type { TrajectoryLog, TrajectoryFilter } from '../../core/trajectory/log';
import { grouped } from '../../core/text';
import { canJudge, nextToJudge } from '../judging/panel';
import { idOf } from '../contributions';
import type { MessageRow } from '../forking';
import { isFiltered } from '../dialogue/filter';

const { t } = vscode.l10n;

export async function filter({ engines, trajectories }: App): Promise<void> {
  const { engine } = engines.shown;
  const log = await engine.log();
  await pickFilter(log, engine, trajectories);
}

export async function search({ engines, trajectories, replays }: App): Promise<void> {
  const { engine } = engines.shown;
  const log = await engine.log();
  // The search is large, so a window without searches does not load it.
  const { searchDialogues } = await import('../trajectories/searching');
  await searchDialogues({
    ...{ log, engine },
    titlesOf: (rows) => trajectories.titlesOf(log, rows),
    open: (episode, found) => replays.replay(episode, false, found),
  });
}

export async function group({ trajectories }: App): Promise<void> {
  const chosen = valueOf(
    await pickOne({
      title: t('Group Dialogues By'),
      items: groupings.map((grouping) => ({
        label: groupingName(grouping, t),
        description: groupingWords(grouping, t),
        grouping,
      })),
      active: ({ grouping }) => grouping === trajectories.grouping,
    }),
  );
  if (chosen !== undefined) trajectories.grouping = chosen.grouping;
}

/** Without a row, that of the active session. @throws {Fault} `editor/no-trajectory` */
export async function openTranscript({ engines, panels }: App, row: CommandRow): Promise<void> {
  if (row?.kind !== 'trajectory') return panels.active?.openTranscript();
  const { id } = row.summary;
  const trajectory = await (await (await engines.withEpisode(id)).log()).trajectory(id);
  if (trajectory === undefined) throw noTrajectory(id);
  await openDocument(documentUri('dialogue', trajectory.task, { episode: id }));
}

export async function openOneOf({ engines, panels }: App, task: ListedTask): Promise<void> {
  const episode = await chooseDialogue(engines.of(task.pack), task);
  if (episode !== undefined) await panels.openTrajectory(episode);
}

/** Whoever played them. @returns its id; undefined when the person cancelled, or there is none */
async function chooseDialogue(engine: Engine, task: ListedTask): Promise<string | undefined> {
  const log = await engine.log();
  const { total } = log.list({ filter: { task: task.id }, offset: 0, limit: 0 });
  if (total === 0) {
    inform(t('Nobody has played {0} yet.', task.title));
    return undefined;
  }
  return pickDialogue({
    ...{ log, engine, task: task.id, tests: task.tests },
    title: t('Dialogues About {0}', task.title),
    placeholder: total === 1 ? t('1 dialogue') : t('{0} dialogues, newest first', total),
  });
}

/** Asks who plays on, and opens the fork. */
export async function continueOtherwise(app: App, row: CommandRow): Promise<void> {
  if (row?.kind === 'message') await askAndFork(app, row);
}

/** @param seed a new one by default */
async function askAndFork(
  { engines, panels }: Pick<App, 'engines' | 'panels'>,
  row: MessageRow,
  seed?: number,
): Promise<void> {
  const engine = await engines.withEpisode(row.episode);
  const agent = engine.calledBy(engine.agentName);
  const simulator = simulatorCalled(engine.simulatorName, engine, t);
  const chosen = valueOf(
    await pickOne({
      title: t('Continue from Here'),
      placeholder: t('The agent is {0}. Who replies to it?', agent),
      items: [
        { label: t('You'), player: 'developer' as const },
        { label: t('Simulator'), description: simulator, player: 'simulator' as const },
        { label: t('Choose another agent…'), command: 'chooseAgent' as const },
        { label: t('Choose another simulator…'), command: 'chooseSimulator' as const },
        {
          label: t('Choose a seed…'),
          description: seed?.toString() ?? t('a new one'),
          player: 'seed' as const,
        },
      ],
    }),
  );
  if (chosen === undefined) return;
  if (chosen.player === 'seed') {
    const given = await askSeed(seed);
    return given === undefined ? undefined : askAndFork({ engines, panels }, row, given.seed);
  }
  if (chosen.command !== undefined) {
    await vscode.commands.executeCommand(idOf(chosen.command));
    return askAndFork({ engines, panels }, row, seed);
  }
  const why = t('Your replies are logged. Choose a pseudonym first, and how your data may be shared.');
  if (chosen.player === 'developer' && (await askPseudonym(engine, why)) === undefined) return;
  await panels.fork(row.episode, row.at, chosen.player, seed);
}

/** @returns undefined if the person cancelled */
async function askSeed(seed: number | undefined): Promise<{ readonly seed: number | undefined } | undefined> {
  const isWhole = (text: string): boolean => /^\d*$/.test(text) && Number.isSafeInteger(Number(text));
  const given = valueOf(
    await askText({
      title: t('Continue from Here'),
      prompt: t('Seed of what is drawn from here on; empty for a new one'),
      value: seed?.toString(),
      validate: (text) => (isWhole(text.trim()) ? undefined : t('Enter a whole number from 0.')),
    }),
  );
  return given === undefined ? undefined : { seed: given === '' ? undefined : Number(given) };
}

export async function compareWith(
  { engines, replays, trajectories }: App,
  summary: TrajectorySummary,
): Promise<void> {
  const { id, taskId } = summary;
  const engine = await engines.withEpisode(id);
  const log = await engine.log();
  if (log.list({ filter: { task: taskId }, offset: 0, limit: 0 }).total < 2) {
    inform(t('There is no other dialogue of this task in the log.'));
    return;
  }
  const { tests } = (await trajectories.titlesOf(log, [summary])).get(taskId) ?? {};
  const chosen = await pickDialogue({
    ...{ log, engine, task: taskId, except: id, tests },
    title: t('Compare With'),
    placeholder: t('Another dialogue of this task, newest first'),
  });
  if (chosen !== undefined) await replays.compare(id, chosen);
}

export async function chooseLog({ logs, shown }: Engines): Promise<void> {
  const items = await Promise.all(
    logs.map(async (log) => ({
      label: log.name,
      description: await countOf(log.engine),
      detail: vscode.workspace.asRelativePath(log.engine.dataFolder),
      iconPath: new vscode.ThemeIcon(log.engine === shown.engine ? 'check' : 'blank'),
      log,
    })),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: t('Switch Log'),
    placeHolder: t('Choose the log whose dialogues are listed, counted, exported, imported and deleted'),
    matchOnDetail: true,
  });
  if (chosen !== undefined) await shown.show(chosen.log);
}

async function countOf(engine: Engine): Promise<string> {
  try {
    return dialogues((await engine.log()).count().total, t);
  } catch (error) {
    // The others can be chosen all the same; the output channel says why, and so do the views when this log is shown.
    engine.report(error);
    return t('cannot be read');
  }
}

const MAX_ROWS = 200;

interface DialogueChoice {
  readonly log: Pick<TrajectoryLog, 'list'>;
  readonly engine: Namer;
  readonly task: string;
  readonly tests: number | undefined;
  readonly except?: string;
  readonly title: string;
  readonly placeholder: string;
}

const pickDialogue = (choice: DialogueChoice): Promise<string | undefined> =>
  pickSearched(choice, (query) => dialogueItems(choice, query));

/** While all dialogues fit, the picker filters them. Otherwise the log searches names and ids for the typed text. */
export function dialogueItems(choice: DialogueChoice, query: string): SearchedRow<string>[] {
  const { log, task, tests, except } = choice;
  const all = log.list({ filter: { task }, offset: 0, limit: MAX_ROWS + 1 });
  const isWhole = all.rows.length <= MAX_ROWS;
  const { rows, total } = isWhole
    ? all
    : log.list({ filter: { task, text: query }, offset: 0, limit: MAX_ROWS });
  const differences = differencesOf(rows, choice.engine);
  const items = rows
    .map((row, index) => {
      const label = outcomeWords(row, tests, t);
      return { label, description: differences[index]!, alwaysShow: !isWhole, value: row.id };
    })
    .filter(({ value }) => value !== except);
  if (rows.length < total) {
    const label = t('{0} more: type the name of an agent or of a collaborator', grouped(total - rows.length));
    return [...items, { label, alwaysShow: true }];
  }
  if (items.length > 0 || isWhole) return items;
  return [
    { label: t('No agent, collaborator or id of these dialogues has: {0}', query.trim()), alwaysShow: true },
  ];
}

/** Returns of each dialogue of a task what is not the same in all of them; of a single one everything. */
function differencesOf(rows: readonly TrajectorySummary[], namer: Namer): string[] {
  const now = Date.now();
  const agoOf = rows.map(({ startedAt }) => ago(startedAt, now, t));
  const facts = rows.map((row, index) => [
    givenTitle(row) ?? '',
    tagsInShort(row).join(' · '),
    shortened(namer.calledBy(row.agent)),
    shortened(collaboratorCalled(row.collaborator, namer, t)),
    agoOf.filter((words) => words === agoOf[index]).length > 1
      ? new Date(row.startedAt).toLocaleString()
      : agoOf[index]!,
    row.turns === 1 ? t('1 turn') : t('{0} turns', row.turns),
    t('seed {0}', row.seed),
  ]);
  const differ = (column: number): boolean =>
    rows.length === 1 || facts.some((fact) => fact[column] !== facts[0]![column]);
  return facts.map((fact) => fact.filter((words, column) => words !== '' && differ(column)).join(' · '));
}

export async function judge(
  { engines, judging, replays }: App,
  { id, state }: TrajectorySummary,
): Promise<void> {
  if (state !== 'answered') {
    inform(t('A dialogue is judged when it is finished, with an answer. Choose another one.'));
    return;
  }
  const engine = await engines.withEpisode(id);
  const own = await pseudonym(engine);
  if (own === undefined) return;
  const trajectory = await (await engine.log()).trajectory(id);
  if (trajectory === undefined) return;
  if (!canJudge(trajectory, own)) {
    inform(t('You took part in this dialogue, so others judge it. Choose one that others played.'));
    return;
  }
  await open(id, { judging, replays });
}

/** Dialogues with candidates first. */
export async function judgeNext({ engines, trajectories, judging, replays }: App): Promise<void> {
  const { engine } = engines.shown;
  const own = await pseudonym(engine);
  if (own === undefined) return;
  const log = await engine.log();
  await log.refresh();
  const next = await nextToJudge(log, await trajectories.namedFilter(log), own);
  if (next !== undefined) return open(next, { judging, replays });
  inform(t('Nothing is left to judge: you judged every finished dialogue of the list that others played.'));
}

const pseudonym = (engine: Engine): Promise<string | undefined> =>
  askPseudonym(
    engine,
    t('Judgments are logged under a pseudonym. Choose one first, and how your data may be shared.'),
  );

/** Closes the replay, which shows what others said. */
async function open(episode: string, { judging, replays }: Pick<App, 'judging' | 'replays'>): Promise<void> {
  for (const replay of replays.all) if (replay.episodes.includes(episode)) replay.dispose();
  await judging.judge(episode);
}

type Wanted = 'failed' | 'unreviewed';
type Direction = 'next' | 'previous';

/** Replays the next or the previous dialogue of this kind in the list, as it is filtered and grouped now. */
export async function openBeside(
  { engines, trajectories, replays }: App,
  wanted: Wanted,
  direction: Direction,
): Promise<void> {
  const log = await engines.shown.engine.log();
  const list = narrowed(await trajectories.inOrder(log), wanted);
  const found = dialogueBeside(log, list, replays.single, direction);
  if (found !== undefined) {
    await replays.replay(found, true);
    // The list may be redrawn at this moment; then the editor does not find the row.
    await trajectories.select(found).catch((error: unknown) => engines.first.report(error));
    return;
  }
  const clear = isFiltered(trajectories.filter) ? [t('Clear Filter')] : [];
  const pressed = await vscode.window.showInformationMessage(noneWords(wanted, direction), ...clear);
  if (pressed !== undefined) await vscode.commands.executeCommand(idOf('clearTrajectoryFilter'));
}

function noneWords(wanted: Wanted, direction: Direction): string {
  if (wanted === 'unreviewed') return t('No dialogue that is not reviewed follows in the list.');
  return direction === 'next'
    ? t('No failed dialogue follows in the list.')
    : t('No failed dialogue comes before this one in the list.');
}

/** A part of a list, and those of its dialogues that are wanted; undefined when it can have none. */
interface Part {
  readonly all: TrajectoryFilter;
  readonly wanted: TrajectoryFilter | undefined;
}

/** @param list filters in the order of the list; each gives its dialogues, newest first */
export const narrowed = (list: readonly TrajectoryFilter[], wanted: Wanted): Part[] =>
  list.map((all) => {
    if (wanted === 'failed') return { all, wanted: { ...all, state: 'answered', success: false } };
    const isReviewed = all.review !== undefined && all.review !== 'none';
    return { all, wanted: isReviewed ? undefined : { ...all, state: 'answered', review: 'none' } };
  });

/** @param episode where to begin; without one that the list has, at its beginning or its end */
export function dialogueBeside(
  log: Pick<TrajectoryLog, 'list'>,
  list: readonly Part[],
  episode: string | undefined,
  direction: Direction,
): string | undefined {
  const parts = direction === 'next' ? list : list.toReversed();
  const sort = direction === 'next' ? 'newest' : 'oldest';
  const one = { offset: 0, limit: 1 } as const;
  const here =
    episode === undefined
      ? -1
      : parts.findIndex(({ all }) => log.list({ ...one, filter: { ...all, id: episode } }).rows.length > 0);
  for (const [index, { wanted: filter }] of parts.entries()) {
    if (index < here || filter === undefined) continue;
    const after = index === here ? episode : undefined;
    const [found] = log.list({ ...one, filter, sort, ...(after !== undefined && { after }) }).rows;
    if (found !== undefined) return found.id;
  }
  return undefined;
}
