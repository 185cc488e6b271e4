import path from 'node:path';
import * as vscode from 'vscode';
import { z } from 'zod';
import { Fault } from '../../core/fault';
import type { Configuration } from '../configuration';
import { sessionViewType } from '../contributions';
import type { Engine } from '../engine';
import type { Packs, PackTask } from '../tasks/packs';
import type { TaskTree } from '../tasks/tree';
import { Drafts } from './drafts';
import { SessionPanel, type PanelOwner } from './panel';
import type { Session } from './session';

/** What VS Code keeps of a panel over a reload; the log knows the rest. */
const panelStateSchema = z.object({
  episode: z.string().optional(),
  source: z.object({ pack: z.string(), task: z.string() }).optional(),
});

/** A quarter of a second apart. */
const TRIES_AFTER_RELOAD = 12;

/** The open sessions: one panel for each dialogue, brought back after a reload of the window. */
export class SessionPanels implements vscode.WebviewPanelSerializer, PanelOwner, vscode.Disposable {
  private readonly panels = new Set<SessionPanel>();
  private readonly drafts: Drafts;
  private readonly changed = new vscode.EventEmitter<SessionPanel>();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangePanel = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly configuration: Configuration,
    private readonly engine: Engine,
    private readonly packs: Packs,
    private readonly tree: TaskTree,
  ) {
    const storage = context.storageUri?.fsPath;
    this.drafts = new Drafts(storage === undefined ? undefined : path.join(storage, 'drafts'));
    this.disposables = [
      this.changed,
      vscode.window.registerWebviewPanelSerializer(sessionViewType, this),
      configuration.onDidChange(() => this.refresh()),
    ];
  }

  /** The session that has the focus, or had it last in its group. */
  get active(): SessionPanel | undefined {
    return this.open.find(({ isActive }) => isActive);
  }

  get open(): readonly SessionPanel[] {
    return [...this.panels];
  }

  /** Opens a task: its newest dialogue if there is one, else a new one that begins when the person says so. */
  async openTask(task: PackTask): Promise<SessionPanel> {
    const state = await this.tree.state(task.id);
    if (state.kind !== 'new') return this.openTrajectory(state.episode);
    const there = this.open.find(({ shown }) => shown.id === undefined && shown.task.id === task.id);
    if (there !== undefined) {
      there.reveal();
      return there;
    }
    return this.openPanel(await this.fresh(task.pack, task.id));
  }

  /** Plays a task once more, whatever was played of it. */
  async replay(panel: SessionPanel): Promise<void> {
    const { pack, task } = panel.shown.from;
    panel.show(await this.fresh(pack, task.id));
  }

  async openTrajectory(episode: string): Promise<SessionPanel> {
    const there = this.open.find(({ shown }) => shown.id === episode);
    if (there !== undefined) {
      there.reveal();
      return there;
    }
    const session = await this.logged(episode);
    await session.hold();
    return this.openPanel(session);
  }

  async nextTask(panel: SessionPanel): Promise<void> {
    const { pack, task } = panel.shown.from;
    const next = pack === undefined ? undefined : await this.tree.nextTask(pack, task.id);
    if (next === undefined) {
      void vscode.window.showInformationMessage('Every task of this pack has been played.');
      return;
    }
    panel.show(await this.fresh(next.pack, next.id));
    if (this.configuration.opensReference) await panel.openBeside('reference', true);
  }

  /** Called by VS Code for each panel that was open before the reload. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    try {
      const { episode, source } = panelStateSchema.parse(state);
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
      void session.hold(TRIES_AFTER_RELOAD);
      // The editor does not bring back documents that have no file.
      if (panel.visible && this.configuration.opensReference) await restored.openBeside('reference', true);
    } catch (error) {
      panel.dispose();
      this.engine.show(error);
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

  dispose(): void {
    for (const panel of this.panels) panel.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async openPanel(session: Session): Promise<SessionPanel> {
    const panel = vscode.window.createWebviewPanel(sessionViewType, '', vscode.ViewColumn.One);
    const opened = this.adopt(panel, session);
    if (this.configuration.opensReference) await opened.openBeside('reference', true);
    return opened;
  }

  private adopt(panel: vscode.WebviewPanel, session: Session): SessionPanel {
    const opened = new SessionPanel(
      panel,
      session,
      this.engine,
      this,
      this.drafts,
      this.context.extensionUri,
    );
    this.panels.add(opened);
    // While the person reads what is there.
    if (['ready', 'choosing', 'developer'].includes(session.state.phase)) this.engine.warmAgents();
    return opened;
  }

  /** The editor may not have kept that a dialogue has begun; the log has. */
  private async newestOrFresh(pack: string, task: string): Promise<Session> {
    const state = await this.tree.state(task);
    return state.kind === 'draft' ? this.logged(state.episode) : this.fresh(pack, task);
  }

  private async fresh(pack: string | undefined, id: string): Promise<Session> {
    const task = pack === undefined ? undefined : await this.packs.task(pack, id);
    if (task === undefined || pack === undefined) {
      throw new Fault('editor/no-task', `No pack of this workspace has the task ${id} any more.`);
    }
    const { Session } = await import('./session');
    const title = await this.packs.title(pack, id);
    return Session.ofTask(this.engine, { task, pack, packName: path.basename(pack), title });
  }

  private async logged(episode: string): Promise<Session> {
    const trajectory = await (await this.engine.log()).trajectory(episode);
    if (trajectory === undefined) {
      throw new Fault(
        'editor/no-trajectory',
        `The log has no dialogue ${episode}; it may have been deleted.`,
      );
    }
    const pack = await this.packOf(trajectory.task.id, trajectory.started.pack);
    const { Session } = await import('./session');
    const title = await this.packs.title(pack, trajectory.task.id);
    return Session.ofTrajectory(this.engine, trajectory, pack, title);
  }

  /** The pack in this workspace that holds the task of a dialogue, for "Next task". */
  private async packOf(task: string, name: string | undefined): Promise<string | undefined> {
    const packs = await this.packs.all();
    const holding = packs.filter((pack) => pack.tasks.some((one) => one.id === task));
    return (holding.find((pack) => path.basename(pack.file) === name) ?? holding[0])?.file;
  }
}
