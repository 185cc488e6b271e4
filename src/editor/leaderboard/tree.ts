import * as vscode from 'vscode';
import { Judgements } from '../../core/evaluation/leaderboard/judgements';
import {
  leaderboardOf,
  type LeaderboardPlace,
  type Leaderboard,
} from '../../core/evaluation/leaderboard/leaderboard';
import { lazily } from '../../core/lazily';
import { views } from '../contributions';
import type { ShownLog } from '../shownLog';
import { Tree } from '../tree';
import { placeRow, remarkRows, type LeaderboardRow } from './words';

const { t } = vscode.l10n;

type LeaderboardNode =
  | { readonly kind: 'place'; readonly place: LeaderboardPlace }
  | { readonly kind: 'group'; readonly group: number; readonly places: readonly LeaderboardPlace[] }
  | { readonly kind: 'remark'; readonly row: LeaderboardRow };

/** Ranks the models by people's choices between two candidates, strongest first. */
export class LeaderboardTree extends Tree<LeaderboardNode> {
  private readonly judgements = lazily(() => new Judgements());

  constructor(private readonly log: ShownLog) {
    super(views.standing);
    this.owns(
      log.onDidChangeDialogues((episodes) => {
        this.judgements().forget(episodes);
        this.redraw();
      }),
    );
  }

  /** Called only while the view is visible. */
  protected async children(node?: LeaderboardNode): Promise<LeaderboardNode[]> {
    if (node?.kind === 'group') return node.places.map(placeNode);
    if (node !== undefined) return [];
    const { name, engine } = this.log;
    this.view.description = name;
    const log = await engine.logIfAny();
    if (log === undefined) return [];
    const standing = leaderboardOf(await this.judgements().of(log));
    if (standing.choices === 0) return [];
    const notes = remarkRows(standing, t).map((row): LeaderboardNode => ({ kind: 'remark', row }));
    return [...placeNodes(standing), ...notes];
  }

  getTreeItem(node: LeaderboardNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node);
      case 'place':
        return item(placeRow(node.place, this.log.engine.calledBy(node.place.model), t), 'hubot');
      case 'remark':
        return item(node.row, 'info');
    }
  }
}

/** Puts models that no choices connect into separate groups, so that nobody compares them. */
function placeNodes({ places, groups }: Leaderboard): LeaderboardNode[] {
  if (groups === 1) return places.map(placeNode);
  return [...Map.groupBy(places, ({ group }) => group)].map(([group, members]) => ({
    kind: 'group',
    group,
    places: members,
  }));
}

const placeNode = (place: LeaderboardPlace): LeaderboardNode => ({ kind: 'place', place });

function groupItem({ group, places }: Extract<LeaderboardNode, { kind: 'group' }>): vscode.TreeItem {
  const made = new vscode.TreeItem(t('Group {0}', group + 1), vscode.TreeItemCollapsibleState.Expanded);
  made.description = t('{0} of its own, not compared with the others', places.length);
  made.iconPath = new vscode.ThemeIcon('list-tree');
  return made;
}

function item({ label, description, tooltip }: LeaderboardRow, icon: string): vscode.TreeItem {
  const made = new vscode.TreeItem(label);
  made.description = description;
  made.tooltip = tooltip;
  made.iconPath = new vscode.ThemeIcon(icon);
  made.accessibilityInformation = { label: tooltip.replaceAll('\n', ', ') };
  return made;
}
