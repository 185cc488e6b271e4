import * as vscode from 'vscode';
import { idOf, contextValues } from '../contributions';
import type { ModelUse } from '../../core/trajectory/modelUsage';
import { tooltip } from '../tree';
import { figureWords, type CriticFigures } from '../credit/critics';
import { agreementWords, heldOutSentence } from '../credit/words';
import { editorSpec } from '../editorModels';
import type { CriticNode, CriticsNode } from './critics';
import type { RankingRow } from './leaderboard';
import type { LocalPlace } from '../localModels';
import {
  servedDetails,
  servedWords,
  modelDetails,
  modelWords,
  roleWords,
  spokenModel,
  useWords,
  type ModelRow,
  type ServedRow,
} from './words';
import { specOf, type Server } from '../servers';

const { t } = vscode.l10n;

export type ModelNode =
  | { readonly kind: 'model'; readonly place: LocalPlace; readonly row: ModelRow; readonly use?: ModelUse }
  | { readonly kind: 'server'; readonly server: Server; readonly row: ServedRow; readonly use?: ModelUse }
  | {
      readonly kind: 'editorModel';
      readonly chat: vscode.LanguageModelChat;
      readonly row: Pick<ServedRow, 'roles'>;
      readonly use?: ModelUse;
    }
  | CriticsNode
  | CriticNode
  | { readonly kind: 'ranking'; readonly row: RankingRow }
  | { readonly kind: 'problem'; readonly sentence: string }
  | { readonly kind: 'add'; readonly what: 'server' | 'folder' };

type NodeOf<K extends ModelNode['kind']> = Extract<ModelNode, { kind: K }>;

export function itemOf(node: ModelNode): vscode.TreeItem {
  switch (node.kind) {
    case 'model':
      return localItem(node);
    case 'server':
      return serverItem(node);
    case 'editorModel':
      return editorItem(node);
    case 'critics':
      return criticsItem(node);
    case 'critic':
      return criticItem(node);
    case 'ranking':
      return rankingItem(node.row);
    case 'problem':
      return problemItem(node);
    case 'add':
      return node.what === 'server' ? connectItem() : addFolderItem();
  }
}

function localItem({ place, row, use }: NodeOf<'model'>): vscode.TreeItem {
  const item = new vscode.TreeItem(place.name);
  item.id = place.folder;
  // The row's label names the model already.
  item.description = modelWords(row).replace(`${place.folder} `, '');
  item.iconPath = iconOf(row.state.kind);
  item.contextValue = localContext(place);
  const used = use === undefined ? [] : [t('{0} in this log', useWords(use))];
  item.tooltip = tooltip(place.name, [...modelDetails(place, row), ...used]);
  item.accessibilityInformation = { label: spokenModel(place.name, row) };
  return item;
}

/** Only models that a person added can be removed. */
function localContext({ from }: LocalPlace): string {
  if (from === 'tandem') return contextValues.starterModel;
  return from === 'list' ? contextValues.modelFolder : contextValues.trainedModel;
}

function serverItem({ server, row, use }: NodeOf<'server'>): vscode.TreeItem {
  const item = new vscode.TreeItem(server.name);
  item.id = specOf(server);
  item.description = servedWords(server, row, use);
  item.iconPath = iconOf(row.state.kind);
  item.contextValue = contextValues.server;
  item.tooltip = tooltip(server.name, servedDetails(server, row, use));
  const why = row.state.kind === 'fails' ? [row.state.why] : [];
  item.accessibilityInformation = { label: [spoken(server.name, item.description), ...why].join(', ') };
  return item;
}

function editorItem({ chat, row, use }: NodeOf<'editorModel'>): vscode.TreeItem {
  const item = new vscode.TreeItem(chat.name);
  item.id = editorSpec(chat);
  item.description = [
    ...row.roles.map((role) => roleWords[role]),
    t('VS Code model'),
    chat.vendor,
    ...(use === undefined ? [] : [useWords(use)]),
  ].join(' · ');
  item.iconPath = new vscode.ThemeIcon('vscode');
  item.contextValue = contextValues.editorModel;
  item.tooltip = tooltip(chat.name, [
    t('The editor offers it: {0}, {1}, version {2}', chat.vendor, chat.family, chat.version),
    t('At most {0} tokens in a dialogue', chat.maxInputTokens.toLocaleString('en')),
    t(
      'What it writes is tagged in the log and stays out of training data, because its terms may forbid that.',
    ),
    ...(use === undefined ? [] : [t('{0} in this log', useWords(use))]),
  ]);
  item.accessibilityInformation = { label: spoken(chat.name, item.description) };
  return item;
}

/** Collapsed: one row for people who only play. */
function rankingItem({ label, description, tooltip: lines, icon, below }: RankingRow): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  if (below !== undefined) {
    item.id = `ranking ${label}`;
    item.collapsibleState = vscode.TreeItemCollapsibleState.Collapsed;
  }
  item.description = description;
  item.tooltip = lines;
  item.iconPath = new vscode.ThemeIcon(icon);
  item.accessibilityInformation = {
    label: below === undefined ? lines.replaceAll('\n', ', ') : spoken(label, description),
  };
  return item;
}

function problemItem({ sentence }: NodeOf<'problem'>): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Settings'));
  item.description = sentence;
  item.tooltip = sentence;
  item.iconPath = iconOf('problem');
  item.command = {
    command: 'workbench.action.openSettingsJson',
    title: t('Open the settings'),
    arguments: [{ revealSetting: { key: 'tandem.servers' } }],
  };
  return item;
}

function connectItem(): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Connect a model…'));
  item.description = t('on any server with an OpenAI-compatible API');
  item.iconPath = new vscode.ThemeIcon('plug');
  item.command = { command: idOf('connectModel'), title: t('Connect a model') };
  return item;
}

function addFolderItem(): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Add a model folder…'));
  item.description = t('one that you trained, or any ONNX model');
  item.iconPath = new vscode.ThemeIcon('add');
  item.command = { command: idOf('addModelFolder'), title: t('Add a model folder') };
  return item;
}

/** Shape distinguishes the states; colour only repeats it. */
const icons = {
  'not-loaded': ['circle-large'],
  untested: ['server'],
  loading: ['loading~spin'],
  testing: ['loading~spin'],
  ready: ['pass-filled', 'testing.iconPassed'],
  works: ['pass-filled', 'testing.iconPassed'],
  failed: ['error', 'list.errorForeground'],
  fails: ['error', 'list.errorForeground'],
  problem: ['warning', 'list.warningForeground'],
} as const;

function iconOf(state: keyof typeof icons): vscode.ThemeIcon {
  const [icon, color] = icons[state];
  return new vscode.ThemeIcon(icon, color && new vscode.ThemeColor(color));
}

function spoken(name: string, description: string): string {
  return [name, ...description.split(' · ')].join(', ');
}

/** Collapsed: one row for people who only play. */
function criticsItem({ critics }: CriticsNode): vscode.TreeItem {
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
function criticItem(node: CriticNode): vscode.TreeItem {
  const { critic, isShown } = node;
  const { folder, name, about, from, figures } = critic;
  const item = new vscode.TreeItem(name);
  item.id = folder;
  item.description = [...(isShown ? [t('shown in replays')] : []), figureWords(critic)].join(' · ');
  item.iconPath =
    'problem' in figures ? iconOf('problem') : new vscode.ThemeIcon(isShown ? 'pass-filled' : 'law');
  item.contextValue = isShown ? contextValues.shownCritic : contextValues.critic;
  item.tooltip = tooltip(name, [
    about,
    ...('problem' in figures ? [figures.problem] : figureLines(figures)),
    folder,
  ]);
  item.accessibilityInformation = { label: spoken(`${name}, ${t('critic')}`, item.description) };
  if (from === 'run')
    item.command = { command: idOf('openRun'), title: t('Open the run'), arguments: [node] };
  return item;
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
      : t('The trainer scores, because the critic has no graphs for this machine.'),
  ];
}
