import path from 'node:path';
import * as vscode from 'vscode';
import type { BadLine } from '../../core/task/pack';
import { idOf, contextValues } from '../contributions';
import { tooltip, type MoreRow } from '../tree';
import type { ListedTask, Pack } from '../packs';
import type { TaskState } from '../../core/dialogue/taskProgress';
import type { PackAssignment } from '../../core/dialogue/packAssignment';
import { verdictOf } from '../../core/grading/grade';
import { lowerFirst } from '../words';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';

export type TaskNode =
  /** Leads to the first lesson while the view of runs is hidden. */
  | { readonly kind: 'teach' }
  | { readonly kind: 'pack'; readonly pack: Pack }
  | { readonly kind: 'task'; readonly task: ListedTask }
  | { readonly kind: 'bad'; readonly bad: BadLine }
  /** The tasks of an assigned pack that others are to play. */
  | { readonly kind: 'others'; readonly pack: Pack; readonly tasks: readonly ListedTask[] }
  | TaskMoreRow;

export type TaskList = 'own' | 'others';

export type TaskMoreRow = MoreRow & { readonly pack: Pack; readonly list: TaskList };

const { t } = vscode.l10n;

const TOOLTIP_LENGTH = 600;

export function taskItem(
  node: Extract<TaskNode, { kind: 'task' }>,
  state: TaskState,
  others: ReadonlyMap<string, TaskState>,
): vscode.TreeItem {
  const { task } = node;
  const words = stateWords(state, task, t);
  const ofOthers = [...others].map(([person, theirs]) => t('{0}: {1}', person, stateWords(theirs, task, t)));
  const item = new vscode.TreeItem(task.title);
  item.id = `${task.pack}#${task.id}`;
  const kind = task.kind === 'page' ? [t('page')] : [];
  item.description = [...kind, words].filter(Boolean).join(' · ');
  item.iconPath = stateIcon(state);
  item.contextValue = contextValueOf(state, others.size > 0);
  item.tooltip = tooltipOf(task, words, ofOthers);
  const said = [
    task.title,
    ...kind,
    words || taskStatusWords('new', t),
    ...ofOthers.slice(0, MAX_OTHER_PLAYERS),
  ];
  item.accessibilityInformation = { label: said.join(', ') };
  item.command = { command: idOf('playTask'), title: t('Play'), arguments: [node] };
  return item;
}

export function teachItem(): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Teach Agent…'));
  item.id = 'teach';
  item.description = t('train it on this machine');
  item.iconPath = new vscode.ThemeIcon('mortar-board');
  item.command = { command: idOf('teachAgent'), title: t('Teach the agent') };
  return item;
}

export function othersItem({ pack, tasks }: Extract<TaskNode, { kind: 'others' }>): vscode.TreeItem {
  const label = t('Assigned to Others');
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  const words = numberOfTasks(tasks.length, t);
  item.id = `others of ${pack.file}`;
  item.description = words;
  item.accessibilityInformation = { label: `${label}, ${words}` };
  item.iconPath = new vscode.ThemeIcon('organization');
  item.tooltip = t('You may play these too; what you finish, others need not play.');
  return item;
}

/** Icons of the task states. The shape tells the state; colour only repeats that all tests passed. */
export const statusIcons: Readonly<Record<TaskStatus, string>> = {
  new: 'circle-small',
  draft: 'color-mode',
  redo: 'redo',
  passed: 'circle-large-filled',
  partial: 'pie-chart',
  failed: 'circle-large',
  ungraded: 'question',
  skipped: 'dash',
};

export function stateIcon(state: TaskState): vscode.ThemeIcon {
  const status = taskStatusOf(state);
  const color = status === 'passed' ? new vscode.ThemeColor('testing.iconPassed') : undefined;
  return new vscode.ThemeIcon(statusIcons[status], color);
}

function contextValueOf({ kind }: TaskState, hasOthers: boolean): string {
  if (kind === 'done' || kind === 'skipped') return contextValues.playedTask;
  return kind === 'new' && !hasOthers ? contextValues.newTask : contextValues.draftTask;
}

function tooltipOf(
  { description, tests, kind }: ListedTask,
  words: string,
  ofOthers: readonly string[],
): vscode.MarkdownString {
  const begin =
    description.length > TOOLTIP_LENGTH ? `${description.slice(0, TOOLTIP_LENGTH)}…` : description;
  const size = kind === 'page' ? t('web page') : tests === 1 ? t('1 test') : t('{0} tests', tests);
  const facts = [size, words].filter(Boolean).join(' · ');
  const said = cutTo(MAX_OTHER_PLAYERS, ofOthers, t).join('\n');
  return tooltip('', [begin, facts, ...(said === '' ? [] : [said])]);
}

export function badItem({ file, line, reason }: BadLine): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Line {0}', line));
  item.description = reason;
  item.tooltip = t('{0}, line {1}: {2}', path.basename(file), line, reason);
  item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  item.command = {
    command: 'vscode.open',
    title: t('Open the line'),
    arguments: [vscode.Uri.file(file), { selection: at }],
  };
  return item;
}

export const MAX_OTHER_PLAYERS = 20;

type Assigned = PackAssignment<{ readonly id: string }>;

/** States of a task for the list's filter; a finished dialogue counts by its result. */
export const taskStatuses = [
  'new',
  'draft',
  'redo',
  'passed',
  'partial',
  'failed',
  'ungraded',
  'skipped',
] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export function taskStatusOf(state: TaskState): TaskStatus {
  if (state.kind !== 'done') return state.kind;
  return verdictOf({ reward: state.reward ?? null, success: state.reward === 1 }) ?? 'ungraded';
}

export const taskStatusWords = (status: TaskStatus, t: Translate): string =>
  ({
    new: t('new'),
    draft: t('draft'),
    redo: t('to be redone'),
    passed: t('done: all tests passed'),
    partial: t('done: some tests passed'),
    failed: t('done: no test passed'),
    ungraded: t('done: not graded'),
    skipped: t('skipped'),
  })[status];

/** Returns for example `12 done · 1 draft`; empty while nothing was played. */
export function counted(states: readonly TaskState[], t: Translate): string {
  const counts = { new: 0, done: 0, draft: 0, redo: 0, skipped: 0 };
  for (const { kind } of states) counts[kind] += 1;
  const { done, draft, redo, skipped } = counts;
  const parts = [
    done > 0 && t('{0} done', done),
    draft > 0 && t('{0} draft', draft),
    redo > 0 && t('{0} to be redone', redo),
    skipped > 0 && t('{0} skipped', skipped),
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Returns for example `yours 12 of 40` and `all 55 of 120`; only the second for a person without a part. */
export function assignedWords(assignment: Assigned, person: string | undefined, t: Translate): string[] {
  const all = assignment.progress;
  const hasPart = person !== undefined && assignment.people.includes(person);
  const own = hasPart ? assignment.progressOf(person) : undefined;
  return [
    ...(own === undefined ? [] : [t('yours {0} of {1}', own.done, own.of)]),
    t('all {0} of {1}', all.done, all.of),
  ];
}

export function assignmentWords(assignment: Assigned, t: Translate): string[] {
  const { people, perTask } = assignment;
  const each = people.map((person) => {
    const { done, of } = assignment.progressOf(person);
    return t('{0}: {1} of {2} done', person, done, of);
  });
  const begin = t('People who play each task: {0}.', perTask);
  return [begin, cutTo(MAX_OTHER_PLAYERS, each, t).join('\n')];
}

export const numberOfTasks = (count: number, t: Translate): string =>
  count === 1 ? t('1 task') : t('{0} tasks', count);

export function cutTo(most: number, lines: readonly string[], t: Translate): string[] {
  const left = lines.length - most;
  return left > 0 ? [...lines.slice(0, most), t('… and {0} more', left)] : [...lines];
}

export type TaskSize = Pick<ListedTask, 'tests' | 'kind'>;

export function stateWords(state: TaskState, { tests, kind }: TaskSize, t: Translate): string {
  switch (state.kind) {
    case 'new':
      return '';
    case 'draft':
      if (state.turns === 0) return t('draft');
      return state.turns === 1 ? t('draft, 1 turn') : t('draft, {0} turns', state.turns);
    case 'redo':
    case 'skipped': {
      const words = taskStatusWords(state.kind, t);
      return state.reason === undefined
        ? words
        : t('{0}: {1}', words, lowerFirst(reasonWords(state.reason, t)));
    }
    case 'done':
      if (state.reward === undefined) return t('not graded yet');
      if (state.reward === null) return t('not gradable here');
      if (kind === 'page') return t('score {0}', state.reward.toFixed(2));
      return t('{0}/{1} tests', Math.round(state.reward * tests), tests);
  }
}

const UNFINISHED: ReadonlySet<TaskState['kind']> = new Set(['new', 'draft', 'redo']);

/** After a given task first, then from the beginning. Tasks to be redone count as unfinished, skipped ones do not. */
export function nextUnfinished<T extends { readonly id: string }>(
  tasks: readonly T[],
  after: string | undefined,
  state: (task: T) => TaskState,
): T | undefined {
  const start = tasks.findIndex(({ id }) => id === after) + 1;
  const inOrder = [...tasks.slice(start), ...tasks.slice(0, start)];
  return inOrder.find((task) => task.id !== after && UNFINISHED.has(state(task).kind));
}
