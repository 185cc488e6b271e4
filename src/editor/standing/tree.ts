import * as vscode from 'vscode';
import { Judgements } from '../../core/evaluation/standing/judgements';
import { standingOf, type Place, type Standing } from '../../core/evaluation/standing/standing';
import { lazily } from '../../core/lazily';
import { views } from '../contributions';
import type { ShownLog } from '../shownLog';
import { placeRow, remarkRows, type StandingRow } from './words';

const { t } = vscode.l10n;

export type StandingNode =
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'group'; readonly group: number; readonly places: readonly Place[] }
  | { readonly kind: 'remark'; readonly row: StandingRow };

/** The models by what people chose of two candidates, from the strongest. */
export class StandingTree implements vscode.TreeDataProvider<StandingNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly judgements = lazily(() => new Judgements());
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;

  private readonly view: vscode.TreeView<StandingNode>;

  constructor(private readonly log: ShownLog) {
    this.view = vscode.window.createTreeView(views.standing, { treeDataProvider: this });
    this.disposables = [
      this.changed,
      this.view,
      log.onDidChangeDialogues((episodes) => {
        this.judgements().forget(episodes);
        this.changed.fire(undefined);
      }),
    ];
  }

  /** Asked only while the view can be seen. */
  async getChildren(node?: StandingNode): Promise<StandingNode[]> {
    if (node?.kind === 'group') return node.places.map(placeNode);
    if (node !== undefined) return [];
    const { name, engine } = this.log;
    this.view.description = name;
    const log = await engine.logIfAny();
    if (log === undefined) return [];
    const standing = standingOf(await this.judgements().of(log));
    if (standing.choices === 0) return [];
    const notes = remarkRows(standing, t).map((row): StandingNode => ({ kind: 'remark', row }));
    return [...placeNodes(standing), ...notes];
  }

  getTreeItem(node: StandingNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node);
      case 'place':
        return item(placeRow(node.place, this.log.engine.calledBy(node.place.model), t), 'hubot');
      case 'remark':
        return item(node.row, 'info');
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }
}

/** Models that no choices connect stand apart, so that nobody compares them. */
function placeNodes({ places, groups }: Standing): StandingNode[] {
  if (groups === 1) return places.map(placeNode);
  return [...Map.groupBy(places, ({ group }) => group)].map(([group, members]) => ({
    kind: 'group',
    group,
    places: members,
  }));
}

const placeNode = (place: Place): StandingNode => ({ kind: 'place', place });

function groupItem({ group, places }: Extract<StandingNode, { kind: 'group' }>): vscode.TreeItem {
  const made = new vscode.TreeItem(t('Group {0}', group + 1), vscode.TreeItemCollapsibleState.Expanded);
  made.description = t('{0} of its own, not compared with the others', places.length);
  made.iconPath = new vscode.ThemeIcon('list-tree');
  return made;
}

function item({ label, description, tooltip }: StandingRow, icon: string): vscode.TreeItem {
  const made = new vscode.TreeItem(label);
  made.description = description;
  made.tooltip = tooltip;
  made.iconPath = new vscode.ThemeIcon(icon);
  made.accessibilityInformation = { label: tooltip.replaceAll('\n', ', ') };
  return made;
}
