import * as vscode from 'vscode';
import { Judgements, leaderboardOf } from '../../core/evaluation/leaderboard/leaderboard';
import { lazily } from '../../core/lazily';
import type { UseByModel } from '../../core/trajectory/modelUsage';
import type { FolderSettings } from '../configuration';
import { views } from '../contributions';
import type { Engine } from '../engine';
import type { ShownLog } from '../engines';
import { Tree } from '../tree';
import { watch, afterActivation } from '../background';
import type { Critics } from './critics';
import { editorSpec } from '../editorModels';
import { itemOf, type ModelNode } from './items';
import { leaderboardRow, type RankingRow } from './leaderboard';
import { rolesOf } from '../roles';
import { specOf } from '../servers';

const { t } = vscode.l10n;

/** Milliseconds between counts while dialogues are played. */
const COUNT_AFTER_MS = 1000;

export class ModelTree extends Tree<ModelNode> {
  private readonly judgements = lazily(() => new Judgements());
  private uses: UseByModel = {};
  private leaderboard: RankingRow | undefined;
  private counting: NodeJS.Timeout | undefined;
  private isCounting = false;
  private isOutdated = false;

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
      log.onDidChangeDialogues((episodes) => {
        this.judgements().forget(episodes);
        this.countSoon();
      }),
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
    if (node?.kind === 'critics') return [...node.critics];
    if (node?.kind === 'ranking') return (node.row.below ?? []).map(rankingNode);
    if (node !== undefined) return [];
    const rows = [...(await this.locals()), ...this.servers(), ...(await this.ofTheEditor())];
    const isNew = rows.length === 1;
    const { node: critics } = this.critics;
    return [
      ...rows,
      ...(critics === undefined ? [] : [critics]),
      ...(this.leaderboard === undefined ? [] : [rankingNode(this.leaderboard)]),
      ...(isNew ? (['server', 'folder'] as const).map((what) => ({ kind: 'add' as const, what })) : []),
    ];
  }

  getTreeItem(node: ModelNode): vscode.TreeItem {
    return itemOf(node);
  }

  async refresh(): Promise<void> {
    await this.engine.locals.lookAgain();
    this.show();
    this.critics.look();
    this.countSoon();
  }

  private locals(): Promise<ModelNode[]> {
    return Promise.all(
      this.engine.localPlaces.map(async (place): Promise<ModelNode> => {
        const row = {
          roles: rolesOf(place.spec, this.configuration),
          ...(await this.engine.locals.look(place.folder)),
        };
        return { kind: 'model', place, row, use: this.uses[place.spec] };
      }),
    );
  }

  private servers(): ModelNode[] {
    const { servers } = this.engine;
    return [
      ...servers.all.map((server): ModelNode => {
        const spec = specOf(server);
        const row = { roles: rolesOf(spec, this.configuration), state: servers.state(server) };
        return { kind: 'server', server, row, use: this.uses[spec] };
      }),
      ...servers.problems.map((sentence): ModelNode => ({ kind: 'problem', sentence })),
    ];
  }

  private async ofTheEditor(): Promise<ModelNode[]> {
    const chats = await this.engine.editorModels.all();
    return chats.map((chat): ModelNode => {
      const spec = editorSpec(chat);
      return {
        kind: 'editorModel',
        chat,
        row: { roles: rolesOf(spec, this.configuration) },
        use: this.uses[spec],
      };
    });
  }

  private show(): void {
    this.showPlayers();
    this.redraw();
  }

  /** Rules and scripts, which have no row, are shown, too. */
  private showPlayers(): void {
    const { agent, secondAgent, simulator, showsCandidates } = this.configuration;
    const { localPlaces, servers } = this.engine;
    const named = (spec: string): string =>
      localPlaces.find((place) => place.spec === spec)?.name ??
      servers.find(spec)?.name ??
      (spec === '' ? t('none') : spec);
    const simulates = simulator === '' ? t('none') : this.engine.calledBy(simulator);
    this.view.description =
      showsCandidates && secondAgent !== ''
        ? t('agents: {0}, {1} · simulator: {2}', named(agent), named(secondAgent), simulates)
        : t('agent: {0} · simulator: {1}', named(agent), simulates);
  }

  private countSoon(): void {
    if (!this.view.visible) return;
    // Changes during the read may be missing from the figures.
    if (this.isCounting) this.isOutdated = true;
    else this.counting ??= setTimeout(() => void this.count(), COUNT_AFTER_MS);
  }

  /** A failure of one count does not stop the others. */
  private async count(): Promise<void> {
    this.counting = undefined;
    this.isCounting = true;
    const report = (error: unknown): void => this.engine.report(error);
    await this.countUse().catch(report);
    await this.countChoices().catch(report);
    // People may have given verdicts on a critic since.
    await this.critics.follow().catch(report);
    this.isCounting = false;
    if (this.isOutdated) this.countSoon();
    this.isOutdated = false;
  }

  private async countUse(): Promise<void> {
    const uses = await (await this.log.engine.logIfAny())?.modelUse();
    if (uses === undefined || JSON.stringify(uses) === JSON.stringify(this.uses)) return;
    this.uses = uses;
    this.redraw();
  }

  private async countChoices(): Promise<void> {
    const { engine, name } = this.log;
    const log = await engine.logIfAny();
    const choices = log === undefined ? [] : await this.judgements().of(log);
    const row = leaderboardRow(leaderboardOf(choices), engine, name);
    if (JSON.stringify(row) === JSON.stringify(this.leaderboard)) return;
    this.leaderboard = row;
    this.redraw();
  }
}

const rankingNode = (row: RankingRow): ModelNode => ({ kind: 'ranking', row });

/** Models that training leaves in the data folder, with the names of their runs. */
const TRAINED = '{runs/*/model/**,loops/*/model/**,runs/*/notes.json}';
const ON_THE_WAY = '{runs,loops,runs/*,loops/*,runs/*/model,loops/*/model}';
/** Milliseconds without a change: a model is many files, written one after another. */
const QUIET_MS = 400;

/** Reports that a local model may have appeared, vanished or been replaced. */
class ModelWatcher implements vscode.Disposable {
  private watched = '';
  private watchers: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly registrations: readonly vscode.Disposable[];

  constructor(
    private readonly configuration: FolderSettings,
    private readonly changed: () => void,
  ) {
    this.registrations = [configuration.onDidChange(() => this.watch()), afterActivation(() => this.watch())];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.registrations, ...this.watchers).dispose();
  }

  private watch(): void {
    const { dataFolder, modelFolders } = this.configuration;
    const folders = modelFolders.flatMap((folder) => this.configuration.resolve(folder) ?? []);
    const wanted = JSON.stringify([dataFolder, folders]);
    if (wanted === this.watched) return;
    this.watched = wanted;
    vscode.Disposable.from(...this.watchers).dispose();
    const soon = (): void => this.soon();
    this.watchers = [
      ...(dataFolder === undefined
        ? []
        : [watch(dataFolder, TRAINED, soon), watch(dataFolder, ON_THE_WAY, soon, { changes: false })]),
      ...folders.map((folder) => watch(folder, '**', soon)),
    ];
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.changed, QUIET_MS);
  }
}
