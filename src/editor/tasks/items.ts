import path from 'node:path';
import * as vscode from 'vscode';
import type { BadLine } from '../../core/task/pack';
import { idOf, contextValues } from '../contributions';
import { tooltip } from '../tooltip';
import type { MoreRow } from '../tree';
import type { ListedTask, Pack } from './packs';
import type { TaskState } from './progress';
import { taskStatusOf, taskStatusWords, stateWords, type TaskStatus } from './status';

export type TaskNode =
  | { readonly kind: 'pack'; readonly pack: Pack }
  | { readonly kind: 'task'; readonly task: ListedTask }
  | { readonly kind: 'bad'; readonly bad: BadLine }
  | (MoreRow & { readonly pack: Pack });

const { t } = vscode.l10n;

/** Maximum number of characters of a description in a tooltip; the session shows all of it. */
const TOOLTIP_LENGTH = 600;

export function taskItem(node: Extract<TaskNode, { kind: 'task' }>, state: TaskState): vscode.TreeItem {
  const { task } = node;
  const words = stateWords(state, task.tests, t);
  const item = new vscode.TreeItem(task.title);
  item.id = `${task.pack}#${task.id}`;
  item.description = words;
  item.iconPath = stateIcon(state);
  item.contextValue = contextValueOf(state);
  item.tooltip = tooltipOf(task, words);
  item.accessibilityInformation = { label: `${task.title}, ${words || taskStatusWords('new', t)}` };
  item.command = { command: idOf('playTask'), title: t('Play'), arguments: [node] };
  return item;
}

/** Icons of the task states. The shape tells the state; colour only repeats that all tests passed. */
export const statusIcons: Readonly<Record<TaskStatus, string>> = {
  new: 'circle-small',
  draft: 'color-mode',
  passed: 'circle-large-filled',
  failed: 'circle-large',
  ungraded: 'question',
  skipped: 'dash',
};

export function stateIcon(state: TaskState): vscode.ThemeIcon {
  const status = taskStatusOf(state);
  const color = status === 'passed' ? new vscode.ThemeColor('testing.iconPassed') : undefined;
  return new vscode.ThemeIcon(statusIcons[status], color);
}

/** Returns the menu context of a task: its actions depend on whether a dialogue was begun, and whether it is over. */
function contextValueOf({ kind }: TaskState): string {
  if (kind === 'new') return contextValues.newTask;
  return kind === 'draft' ? contextValues.draftTask : contextValues.playedTask;
}

function tooltipOf({ description, tests }: ListedTask, words: string): vscode.MarkdownString {
  const begin =
    description.length > TOOLTIP_LENGTH ? `${description.slice(0, TOOLTIP_LENGTH)}…` : description;
  const facts = [tests === 1 ? t('1 test') : t('{0} tests', tests), words].filter(Boolean).join(' · ');
  return tooltip('', [begin, facts]);
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
