import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { guidelinesOf } from '../../core/task/guidelines';
import type { Task } from '../../core/task/task';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Configuration } from '../configuration';
import { sessionViewType } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import type { Guidelines } from '../tasks/guidelines';
import type { Packs, PackTask } from '../tasks/packs';
import { logSkipped } from '../tasks/skip';
import type { TaskTree } from '../tasks/tree';
import { Drafts } from './drafts';
import { Opening } from './opening';
import { SessionPanel, type PanelOwner } from './panel';
import type { Session } from './session';
import { searchable } from '../panelPage';

const { t } = vscode.l10n;

/** What VS Code keeps of a panel over a reload; the log knows the rest. */
const panelStateSchema = lazily(() =>
  z.object({
    episode: z.string().optional(),
    source: z.object({ pack: z.string(), task: z.string() }).optional(),
  }),
);

/** A quarter of a second apart. */
const TRIES_AFTER_RELOAD = 12;

/** The open sessions: one panel for each dialogue, brought back after a reload of the window. */
export class SessionPanels implements vscode.WebviewPanelSerializer, PanelOwner, vscode.Disposable {
  private readonly panels = new Set<SessionPanel>();
  private readonly opening = new Opening<SessionPanel>();
  readonly drafts: Drafts;
  private readonly changed = new vscode.EventEmitter<SessionPanel>();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangePanel = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    configuration: Configuration,
    private readonly engines: Engines,
    private readonly packs: Packs,
    private readonly tree: TaskTree,
    private readonly guidelines: Guidelines,
  ) {
    const storage = context.storageUri?.fsPath;
    this.drafts = new Drafts(storage && path.join(storage, 'drafts'), (error) => engines.first.report(error));
    this.disposables = [
      this.changed,
      vscode.window.registerWebviewPanelSerializer(sessionViewType, this),
      configuration.onDidChange(() => this.refresh()),
      engines.onDidChangeLog(({ episodes }) => this.follow(episodes)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
      tree.onDidChangeTreeData(
        () => void this.followTasks().catch((error: unknown) => this.engines.first.report(error)),
      ),
    ];
  }

  get open(): readonly SessionPanel[] {
    return [...this.panels];
  }

  /** The panel that has the focus, or had it last of all editors. */
  get active(): SessionPanel | undefined {
    return this.open.find((panel) => panel.isActive);
  }

  /** Opens a task: its newest dialogue if there is one, else a new one that begins when the person says so. */
  openTask(task: PackTask): Promise<SessionPanel> {
    return this.opening.once(JSON.stringify([task.pack, task.id]), async () => {
      const state = await this.tree.state(task);
      if (state.kind !== 'new') return this.openTrajectory(state.episode);
      const there = this.open.find(({ shown }) => shown.id === undefined && isOf(shown, task));
      return there === undefined ? this.openPanel(await this.fresh(task.pack, task.id)) : revealed(there);
    });
  }

  /** Plays a task once more, whatever was played of it. */
  async replay(panel: SessionPanel): Promise<void> {
    const { pack, task } = panel.shown.from;
    panel.show(await this.fresh(pack, task.id));
  }

  /** Opens a task that is a developer's own function, beside its file. Nothing is logged before the person starts. */
  async openOwn(task: Task, file: string, title: string): Promise<SessionPanel> {
    const { Session } = await import('./session');
    const session = Session.ofTask(this.engines.of(file), { task, file, title });
    return this.openPanel(session, vscode.ViewColumn.Beside);
  }

  openTrajectory(episode: string): Promise<SessionPanel> {
    return this.opening.once(episode, async () => {
      const there = this.open.find(({ shown }) => shown.id === episode);
      if (there !== undefined) return revealed(there);
      const session = await this.logged(episode);
      await session.look();
      return this.openPanel(session);
    });
  }

  /** Closes the session of a dialogue. @returns whether there was one */
  close(episode: string): boolean {
    const there = this.open.find(({ shown }) => shown.id === episode);
    there?.dispose();
    return there !== undefined;
  }

  async nextTask(panel: SessionPanel): Promise<void> {
    const { pack, task } = panel.shown.from;
    const next = pack === undefined ? undefined : await this.tree.nextTask(pack, task.id);
    if (next === undefined) {
      void vscode.window.showInformationMessage(t('Every other task of this pack has been played.'));
      return;
    }
    const session = await this.newestOrFresh(next.pack, next.id);
    const there = this.open.find(
      ({ shown }) => shown.id === session.id && (session.id !== undefined || isOf(shown, next)),
    );
    if (there !== undefined) {
      session.dispose();
      there.reveal();
      return;
    }
    await session.look();
    panel.show(session);
    await this.openBeside(panel);
  }

  /** Logs that the person leaves a task: in its session when one is open, else without opening one. */
  async skip(task: PackTask, reason: string): Promise<void> {
    const state = await this.tree.state(task);
    if (state.kind === 'new') return this.skipNew(task, reason);
    const there = this.open.find(({ shown }) => shown.id === state.episode);
    const session = there?.shown ?? (await this.logged(state.episode));
    try {
      await session.stop();
      await session.look();
      await session.skip(reason);
      const { phase, notice } = session.state;
      if (there === undefined && phase !== 'skipped' && notice !== undefined) {
        throw new Fault('session/not-skipped', notice.message);
      }
    } finally {
      if (there === undefined) session.dispose();
    }
  }

  /** Called by VS Code for each panel that was open before the reload. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    try {
      // A panel that was left before it drew anything has kept nothing.
      const { episode, source } = panelStateSchema().safeParse(state).data ?? {};
      const session =
        episode !== undefined
          ? await this.logged(episode)
          : source && (await this.newestOrFresh(source.pack, source.task));
      if (session === undefined) {
        panel.dispose();
        return;
      }
      const restored = this.adopt(panel, session);
      // The window before the reload may still be closing.
      void session.look(TRIES_AFTER_RELOAD);
      // The editor does not bring back documents that have no file.
      if (panel.visible) await this.openBeside(restored);
    } catch (error) {
      panel.dispose();
      this.engines.first.show(error);
    }
  }

  onDidChange(panel: SessionPanel): void {
    this.changed.fire(panel);
  }

  onDidDispose(panel: SessionPanel): void {
    this.panels.delete(panel);
    this.changed.fire(panel);
  }

  /** Settings or consent have changed. */
  refresh(): void {
    for (const { shown } of this.panels) shown.refresh();
  }

  /** Closes the sessions whose dialogue has begun; resolves when nothing of them is written any more. */
  async closeBegun(): Promise<void> {
    const begun = this.open.filter(({ shown }) => shown.id !== undefined);
    for (const panel of begun) panel.dispose();
    await Promise.all(begun.map(({ shown }) => shown.settled()));
  }

  dispose(): void {
    for (const panel of this.panels) panel.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async openPanel(session: Session, column = vscode.ViewColumn.One): Promise<SessionPanel> {
    const panel = vscode.window.createWebviewPanel(sessionViewType, '', column, searchable);
    const opened = this.adopt(panel, session);
    await this.openBeside(opened);
    return opened;
  }

  /** The guidelines of a pack that is new to the person, and in front of them the reference. */
  private async openBeside(panel: SessionPanel): Promise<void> {
    const { pack } = panel.shown.from;
    if (pack !== undefined && (await this.guidelines.openFirst(pack))) panel.reveal();
    if (this.engines.of(pack).configuration.opensReference) await panel.openBeside('reference', true);
  }

  /** @param episodes that changed in a log; none: any may have */
  private follow(episodes: readonly string[]): void {
    for (const { shown } of this.panels) {
      const isMeant = shown.id !== undefined && (episodes.length === 0 || episodes.includes(shown.id));
      if (isMeant) shown.follow().catch((error: unknown) => this.engines.first.report(error));
    }
  }

  /** With every dialogue the number of tasks that are left to play may change. */
  private async followTasks(): Promise<void> {
    for (const { shown } of this.panels) await this.tellOffer(shown);
  }

  private async tellOffer(session: Session): Promise<Session> {
    const { pack, task } = session.from;
    session.offer({
      hasNext: pack !== undefined && (await this.tree.nextTask(pack, task.id)) !== undefined,
      hasGuidelines: pack !== undefined && (await guidelinesOf(pack)) !== undefined,
    });
    return session;
  }

  private async skipNew({ pack, id }: PackTask, reason: string): Promise<void> {
    const engine = this.engines.of(pack);
    const task = await this.wholeTask(pack, id);
    await logSkipped(engine, { task, pack: path.basename(pack), reason });
    this.open.find(({ shown }) => shown.id === undefined && isOf(shown, { pack, id }))?.dispose();
  }

  private adopt(panel: vscode.WebviewPanel, session: Session): SessionPanel {
    const engine = this.engines.of(session.from.pack ?? session.from.file);
    const opened = new SessionPanel(panel, session, engine, this, this.drafts, this.context.extensionUri);
    this.panels.add(opened);
    this.changed.fire(opened);
    // While the person reads what is there.
    if (['ready', 'choosing', 'developer'].includes(session.state.phase)) engine.warmAgents();
    return opened;
  }

  /** The editor may not have kept that a dialogue has begun; the log has. */
  private async newestOrFresh(pack: string, task: string): Promise<Session> {
    const state = await this.tree.state({ pack, id: task });
    return state.kind === 'draft' ? this.logged(state.episode) : this.fresh(pack, task);
  }

  private async fresh(pack: string | undefined, id: string): Promise<Session> {
    const task = await this.wholeTask(pack, id);
    const { Session } = await import('./session');
    const title = await this.packs.title(pack, id);
    const from = { task, pack, packName: pack && path.basename(pack), title };
    return this.tellOffer(Session.ofTask(this.engines.of(pack), from));
  }

  private async wholeTask(pack: string | undefined, id: string): Promise<Task> {
    const task = pack === undefined ? undefined : await this.packs.task(pack, id);
    if (task !== undefined) return task;
    throw new Fault('editor/no-task', t('No pack of this workspace has the task {0} any more.', id));
  }

  private async logged(episode: string): Promise<Session> {
    const engine = await this.engines.withEpisode(episode);
    const trajectory = await (await engine.log()).trajectory(episode);
    if (trajectory === undefined) {
      throw new Fault(
        'editor/no-trajectory',
        t('The log has no dialogue {0}; it may have been deleted.', episode),
      );
    }
    const pack = await this.packOf(trajectory, engine);
    // Folders may share a log: the dialogue goes on with the settings of the one that holds its pack.
    const parts = pack === undefined ? engine : this.engines.of(pack);
    const { Session } = await import('./session');
    const title = await this.packs.title(pack, trajectory.task.id);
    return this.tellOffer(Session.ofTrajectory(parts, trajectory, pack, title));
  }

  /** The pack that holds the task of a dialogue, for "Next task": of a folder that logs where the dialogue is. */
  private async packOf({ task, started }: Trajectory, engine: Engine): Promise<string | undefined> {
    const packs = await this.packs.all();
    const holding = packs.filter(
      ({ file, tasks }) =>
        this.engines.of(file).dataFolder === engine.dataFolder && tasks.some(({ id }) => id === task.id),
    );
    return (holding.find(({ file }) => path.basename(file) === started.pack) ?? holding[0])?.file;
  }
}

function revealed(panel: SessionPanel): SessionPanel {
  panel.reveal();
  return panel;
}

/** Two folders may have tasks of the same id. */
function isOf({ task, from }: Session, { pack, id }: Pick<PackTask, 'pack' | 'id'>): boolean {
  return task.id === id && from.pack === pack;
}
