import path from 'node:path';
import * as vscode from 'vscode';
import type { BadLine } from '../../core/task/pack';
import { commands, contextValues } from '../contributions';
import { tooltip } from '../tooltip';
import type { PackTask } from './pack';
import type { TaskState } from './progress';
import { standingOf, standingWords, stateWords, type Standing } from './standing';
import type { TaskNode } from './tree';

const { t } = vscode.l10n;

/** More of a description than this belongs into the session, not into a tooltip. */
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
  item.accessibilityInformation = { label: `${task.title}, ${words || standingWords('new', t)}` };
  item.command = { command: commands.playTask, title: t('Play'), arguments: [node] };
  return item;
}

/** The shape tells where the task stands; a colour only repeats that all tests passed. */
export const standingIcons: Readonly<Record<Standing, string>> = {
  new: 'circle-small',
  draft: 'color-mode',
  passed: 'circle-large-filled',
  failed: 'circle-large',
  ungraded: 'question',
  skipped: 'dash',
};

export function stateIcon(state: TaskState): vscode.ThemeIcon {
  const standing = standingOf(state);
  const color = standing === 'passed' ? new vscode.ThemeColor('testing.iconPassed') : undefined;
  return new vscode.ThemeIcon(standingIcons[standing], color);
}

/** What can be done with a task depends on whether a dialogue about it was begun, and whether it is over. */
function contextValueOf({ kind }: TaskState): string {
  if (kind === 'new') return contextValues.newTask;
  return kind === 'draft' ? contextValues.draftTask : contextValues.playedTask;
}

function tooltipOf({ description, tests }: PackTask, words: string): vscode.MarkdownString {
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

export function moreItem(node: Extract<TaskNode, { kind: 'more' }>, page: number): vscode.TreeItem {
  const left = node.total - node.shown;
  const item = new vscode.TreeItem(t('Show {0} more', Math.min(page, left)));
  item.description = t('{0} not shown', left);
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: commands.showMore, title: t('Show more'), arguments: [node] };
  return item;
}
