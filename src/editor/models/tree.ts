import * as vscode from 'vscode';
import type { UseByModel } from '../../core/trajectory/use';
import type { FolderSettings } from '../configuration';
import { views } from '../contributions';
import type { Engine } from '../engine';
import type { ShownLog } from '../shownLog';
import { Tree } from '../tree';
import type { Critics } from './critics';
import { editorSpec } from './editorModels';
import { itemOf } from './items';
import type { ModelNode, PlayedRoles } from './nodes';
import { rolesOf } from './roles';
import { specOf } from './server';
import { ModelWatcher } from './watcher';

export type { ModelNode } from './nodes';

const { t } = vscode.l10n;

/** Milliseconds between counts of the models' use while dialogues are played. */
const COUNT_AFTER_MS = 1000;

/**
 * The models that can play: on this machine, behind servers, in the editor; with their states and roles. The critics
 * come below them.
 */
export class ModelTree extends Tree<ModelNode> {
  private uses: UseByModel = {};
  private counting: NodeJS.Timeout | undefined;

  constructor(
    private readonly configuration: FolderSettings,
    private readonly engine: Engine,
    private readonly log: ShownLog,
    private readonly critics: Critics,
  ) {
    super(views.models);
    this.owns(
      configuration.onDidChange(() => this.show()),
      engine.onDidChangeModels(() => this.show()),
      critics.onDidChange(() => this.show()),
      log.onDidChangeDialogues(() => this.countSoon()),
      new ModelWatcher(configuration, () => void this.refresh()),
      new vscode.Disposable(() => clearTimeout(this.counting)),
    );
    this.whenSeen(() => {
      this.show();
      critics.look();
      this.countSoon();
    });
    this.showPlayers();
  }

  protected async children(node?: ModelNode): Promise<ModelNode[]> {
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

  /** Reads the folders again. */
  async refresh(): Promise<void> {
    await this.engine.locals.lookAgain();
    this.show();
    this.critics.look();
    this.countSoon();
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

  private played(spec: string): PlayedRoles {
    return { roles: rolesOf(spec, this.configuration) };
  }

  private show(): void {
    this.showPlayers();
    this.redraw();
  }

  /** Shows the players after the view's title, also when rules or a script plays. */
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

  /** Counts the use of the models and people's agreement with critics; a failure of one does not stop the other. */
  private async count(): Promise<void> {
    const report = (error: unknown): void => this.engine.report(error);
    await this.countUse().catch(report);
    // People may have given verdicts on a critic since.
    await this.critics.follow().catch(report);
    this.counting = undefined;
  }

  private async countUse(): Promise<void> {
    const uses = await (await this.log.engine.logIfAny())?.modelUse();
    if (uses === undefined || JSON.stringify(uses) === JSON.stringify(this.uses)) return;
    this.uses = uses;
    this.redraw();
  }
}
