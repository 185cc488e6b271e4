import * as vscode from 'vscode';
import type { Kept } from '../../core/loop/kept';
import { mayFinish } from '../../core/training/finish';
import type { Run } from '../../core/training/runs';
import { commands, contextValues } from '../contributions';
import { resultInShort } from './measured';
import type { RunNode } from './tree';
import { isAtWork, runDetails, runName, spokenRun, standingWords } from './words';
import { tooltip } from '../tooltip';

const { t } = vscode.l10n;

/** How many of the trainer's last lines a hover shows. */
const MOST_LINES = 6;

/**
 * How a row of the Runs view looks and sounds.
 * @param halted why no run that waits begins
 * @param evaluation the latest of it
 */
export function itemOf(node: RunNode, halted?: string, evaluation?: Kept): vscode.TreeItem {
  const { run } = node;
  const now = Date.now();
  const result = evaluation && resultInShort(evaluation, t);
  const item = new vscode.TreeItem(runName(run, t));
  item.id = run.folder;
  item.description = standingWords(run, now, t, halted, result);
  item.iconPath = iconOf(run, halted);
  item.contextValue = contextOf(run);
  item.tooltip = tooltipOf(run, halted);
  item.accessibilityInformation = { label: spokenRun(run, now, t, halted, result) };
  item.command = { command: commands.openRun, title: t('Open the run'), arguments: [node] };
  return item;
}

function contextOf(run: Run): string {
  if (isAtWork(run)) return mayFinish(run) ? contextValues.liveRunWithPolicy : contextValues.liveRun;
  if (run.state === 'queued') return contextValues.queuedRun;
  return run.canResume ? contextValues.restingRun : contextValues.doneRun;
}

/** The shape tells the state; a colour only repeats it. */
function iconOf({ state }: Run, halted: string | undefined): vscode.ThemeIcon {
  switch (state) {
    case 'preparing':
    case 'running':
    case 'stopping':
    case 'finishing':
      return new vscode.ThemeIcon('loading~spin');
    case 'stopped':
      return new vscode.ThemeIcon('debug-pause');
    case 'queued':
      return new vscode.ThemeIcon(halted === undefined ? 'clock' : 'warning');
    case 'done':
      return new vscode.ThemeIcon('pass-filled', new vscode.ThemeColor('testing.iconPassed'));
    case 'lost':
      return new vscode.ThemeIcon('question', new vscode.ThemeColor('list.warningForeground'));
    case 'failed':
    case 'died':
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  }
}

function tooltipOf(run: Run, halted: string | undefined): vscode.MarkdownString {
  const text = tooltip(runName(run, t), [
    ...runDetails(run, t, halted),
    ...(run.lastLines.length > 0 ? [t('The trainer said last:')] : []),
  ]);
  if (run.lastLines.length > 0) text.appendCodeblock(run.lastLines.slice(-MOST_LINES).join('\n'), 'text');
  if (run.canResume && run.state !== 'queued')
    text.appendMarkdown(`\n\n${t('“Resume Run” goes on from its last checkpoint.')}`);
  return text;
}
