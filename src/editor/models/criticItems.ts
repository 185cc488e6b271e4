import * as vscode from 'vscode';
import { idOf, contextValues } from '../contributions';
import { figureWords, type CriticFigures } from '../credit/criticOptions';
import { agreementWords, heldOutSentence } from '../credit/words';
import type { CriticNode, CriticsNode } from './nodes';
import { tooltip } from '../tooltip';

const { t } = vscode.l10n;

/** Collapsed: one row for people who only play. */
export function criticsItem({ critics }: CriticsNode): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Critics'), vscode.TreeItemCollapsibleState.Collapsed);
  item.id = 'critics';
  const shown = critics.find(({ isShown }) => isShown);
  item.description = [
    String(critics.length),
    ...(shown === undefined ? [] : [t('replays show {0}', shown.critic.name)]),
  ].join(' · ');
  // Without a label, a screen reader would read the tooltip.
  item.accessibilityInformation = { label: [t('Critics'), item.description].join(', ') };
  item.tooltip = t(
    'A critic reads a dialogue and scores how much each turn helped. SWEET-RL runs train critics.',
  );
  return item;
}

/**
 * A click opens the run that trained it. Runs of a loop or a scoreboard do not open:
 * their panel would queue runs in a folder that no queue watches.
 */
export function criticItem(node: CriticNode): vscode.TreeItem {
  const { critic, isShown } = node;
  const { folder, name, from, figures } = critic;
  const item = new vscode.TreeItem(name);
  item.id = folder;
  item.description = [...(isShown ? [t('shown in replays')] : []), figureWords(critic)].join(' · ');
  item.iconPath =
    'problem' in figures ? warningIcon() : new vscode.ThemeIcon(isShown ? 'pass-filled' : 'law');
  item.contextValue = isShown ? contextValues.shownCritic : contextValues.critic;
  item.tooltip = tooltipOf(node);
  item.accessibilityInformation = {
    label: [name, t('critic'), ...item.description.split(' · ')].join(', '),
  };
  if (from === 'run')
    item.command = { command: idOf('openRun'), title: t('Open the run'), arguments: [node] };
  return item;
}

const warningIcon = (): vscode.ThemeIcon =>
  new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));

function tooltipOf({ critic: { name, about, folder, figures } }: CriticNode): vscode.MarkdownString {
  const lines = [about, ...('problem' in figures ? [figures.problem] : figureLines(figures)), folder];
  return tooltip(name, lines);
}

function figureLines({ critic, agreement, heldOut }: CriticFigures): string[] {
  return [
    critic.about.score === 'value-head'
      ? t('It predicts the reward after each turn.')
      : t('Its score compares the likelihood of a turn with that under its base model.'),
    ...(heldOut === undefined ? [] : [heldOutSentence(heldOut, t)]),
    ...agreementWords(agreement, t),
    critic.runner === 'onnx'
      ? t('It scores on this machine, in a moment.')
      : t('The trainer scores with it, because it has no graphs for this machine.'),
  ];
}
