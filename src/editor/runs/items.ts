import * as vscode from 'vscode';
import { mayFinish } from '../../core/training/finish';
import type { Run } from '../../core/training/runs';
import { idOf, contextValues } from '../contributions';
import { resultInShort } from './evaluationResults';
import type { RunResult } from '../../core/evaluation/comparison/latestResults';
import { isAtWork, isUnstarted, runDetails, runName, spokenRun, runStatus, tagWords } from './words';
import { tooltip } from '../tooltip';

export interface RunNode {
  readonly kind: 'run';
  readonly run: Run;
}

const { t } = vscode.l10n;

/** Last lines of the trainer's log in a hover. */
const MAX_LINES = 6;

/** @param halted why the queue is halted */
export function itemOf(node: RunNode, halted?: string, evaluation?: RunResult): vscode.TreeItem {
  const { run } = node;
  const now = Date.now();
  const result = evaluation && resultInShort(evaluation, t);
  const item = new vscode.TreeItem(runName(run, t));
  item.id = run.folder;
  item.description = [runStatus(run, now, t, halted, result), ...tagWords(run)].join(' · ');
  item.iconPath = iconOf(run, halted);
  item.contextValue = contextOf(run);
  item.tooltip = tooltipOf(run, halted);
  item.accessibilityInformation = { label: spokenRun(run, now, t, halted, result) };
  item.command = { command: idOf('openRun'), title: t('Open the run'), arguments: [node] };
  return item;
}

function contextOf(run: Run): string {
  if (isAtWork(run)) return mayFinish(run) ? contextValues.liveRunWithPolicy : contextValues.liveRun;
  if (run.state === 'queued') return contextValues.queuedRun;
  return run.canResume ? contextValues.restingRun : contextValues.doneRun;
}

/** Shape distinguishes the states; colour only repeats it. */
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
  if (run.lastLines.length > 0) text.appendCodeblock(run.lastLines.slice(-MAX_LINES).join('\n'), 'text');
  if (run.canResume && run.state !== 'queued' && !isUnstarted(run))
    text.appendMarkdown(`\n\n${t('“Resume Run” goes on from its last checkpoint.')}`);
  return text;
}
