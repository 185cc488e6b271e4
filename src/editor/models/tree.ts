import * as vscode from 'vscode';
import type { UseByModel } from '../../core/trajectory/use';
import type { Configuration } from '../configuration';
import { views } from '../contributions';
import type { Engine } from '../engine';
import type { ShownLog } from '../shownLog';
import type { Critics } from './critics';
import { editorSpec } from './editorModels';
import { itemOf } from './items';
import type { ModelNode, Played } from './nodes';
import { rolesOf } from './roles';
import { specOf } from './server';
import { ModelWatcher } from './watcher';

export type { ModelNode } from './nodes';

const { t } = vscode.l10n;

/** How often the use of the models is counted at most, while dialogues are played. */
const COUNT_AFTER_MS = 1000;

/**
 * The models that can play: on this machine, behind servers, in the editor; what each is doing, and who plays what. Below
 * them the critics.
 */
export class ModelTree implements vscode.TreeDataProvider<ModelNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<ModelNode>;
  private readonly disposables: { dispose(): unknown }[];
  private uses: UseByModel = {};
  private counting: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly configuration: Configuration,
    private readonly engine: Engine,
    private readonly log: ShownLog,
    private readonly critics: Critics,
  ) {
    this.view = vscode.window.createTreeView(views.models, { treeDataProvider: this });
    this.disposables = [
      this.changed,
      this.view,
      configuration.onDidChange(() => this.show()),
      engine.onDidChangeModels(() => this.show()),
      critics.onDidChange(() => this.show()),
      log.onDidChangeDialogues(() => this.countSoon()),
      new ModelWatcher(configuration, () => void this.refresh()),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (!visible) return;
        this.show();
        this.critics.look();
        this.countSoon();
      }),
      new vscode.Disposable(() => clearTimeout(this.counting)),
    ];
    this.showPlayers();
  }

  /** The row that the keyboard is on. */
  get selected(): ModelNode | undefined {
    return this.view.selection[0];
  }

  async getChildren(node?: ModelNode): Promise<ModelNode[]> {
    if (node !== undefined) return node.kind === 'critics' ? [...node.critics] : [];
    const rows = [...(await this.locals()), ...this.servers(), ...(await this.ofTheEditor())];
    const isNew = rows.length === 1;
    const { node: critics } = this.critics;
    return [
      ...rows,
      ...(critics === undefined ? [] : [critics]),
      ...(isNew ? (['server', 'folder'] as const).map((what) => ({ kind: 'add' as const, what })) : []),
    ];
  }

  getTreeItem(node: ModelNode): vscode.TreeItem {
    return itemOf(node);
  }

  /** Looks at the folders anew. */
  async refresh(): Promise<void> {
    await this.engine.locals.lookAgain();
    this.show();
    this.critics.look();
    this.countSoon();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private locals(): Promise<ModelNode[]> {
    return Promise.all(
      this.engine.localPlaces.map(async (place): Promise<ModelNode> => {
        const row = { ...this.played(place.spec), ...(await this.engine.locals.look(place.folder)) };
        return { kind: 'model', place, row, use: this.uses[place.spec] };
      }),
    );
  }

  private servers(): ModelNode[] {
    const { servers } = this.engine;
    return [
      ...servers.all.map((server): ModelNode => {
        const spec = specOf(server);
        const row = { ...this.played(spec), state: servers.state(server) };
        return { kind: 'server', server, row, use: this.uses[spec] };
      }),
      ...servers.problems.map((sentence): ModelNode => ({ kind: 'problem', sentence })),
    ];
  }

  private async ofTheEditor(): Promise<ModelNode[]> {
    const chats = await this.engine.editorModels.all();
    return chats.map((chat): ModelNode => {
      const spec = editorSpec(chat);
      return { kind: 'editorModel', chat, row: this.played(spec), use: this.uses[spec] };
    });
  }

  private played(spec: string): Played {
    return { roles: rolesOf(spec, this.configuration) };
  }

  private show(): void {
    this.showPlayers();
    this.changed.fire(undefined);
  }

  /** Behind the view's title, also when rules or a script plays. */
  private showPlayers(): void {
    const { agent, secondAgent, simulator, showsCandidates } = this.configuration;
    const { localPlaces, servers } = this.engine;
    const named = (spec: string): string =>
      localPlaces.find((place) => place.spec === spec)?.name ??
      servers.find(spec)?.name ??
      (spec === '' ? t('none') : spec);
    this.view.description =
      showsCandidates && secondAgent !== ''
        ? t('agents: {0}, {1} · simulator: {2}', named(agent), named(secondAgent), named(simulator))
        : t('agent: {0} · simulator: {1}', named(agent), named(simulator));
  }

  private countSoon(): void {
    if (!this.view.visible || this.counting !== undefined) return;
    this.counting = setTimeout(() => void this.count(), COUNT_AFTER_MS);
  }

  /** Critics that cannot be read leave the use counted. */
  private async count(): Promise<void> {
    const report = (error: unknown): void => this.engine.report(error);
    await this.countUse().catch(report);
    // People may have said what they think of a critic.
    await this.critics.follow().catch(report);
    this.counting = undefined;
  }

  private async countUse(): Promise<void> {
    const uses = await (await this.log.engine.logIfAny())?.modelUse();
    if (uses === undefined || JSON.stringify(uses) === JSON.stringify(this.uses)) return;
    this.uses = uses;
    this.changed.fire(undefined);
  }
}
