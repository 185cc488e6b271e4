import path from 'node:path';
import * as vscode from 'vscode';
import type { BadLine } from '../../core/task/pack';
import { idOf, contextValues } from '../contributions';
import { tooltip, type MoreRow } from '../tree';
import type { ListedTask, Pack } from '../packs';
import type { TaskState } from '../../core/dialogue/taskProgress';
import {
  cutTo,
  MAX_OTHER_PLAYERS,
  numberOfTasks,
  personWords,
  stateWords,
  taskStatusOf,
  taskStatusWords,
  type TaskStatus,
} from './status';

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

/** Maximum number of characters of a description in a tooltip; the session shows all of it. */
const TOOLTIP_LENGTH = 600;

/** @param others states of the task for the other people who have begun a dialogue about it */
export function taskItem(
  node: Extract<TaskNode, { kind: 'task' }>,
  state: TaskState,
  others: ReadonlyMap<string, TaskState>,
): vscode.TreeItem {
  const { task } = node;
  const words = stateWords(state, task, t);
  const ofOthers = [...others].map(([person, theirs]) => personWords(person, theirs, task, t));
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
