import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import type { TaskState } from '../../core/dialogue/taskProgress';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { deriveSeed } from '../../core/seed';
import { isOwnFunction, ownTaskOf } from '../../core/task/own';
import { guidelinesOf } from '../../core/task/guidelines';
import { isProgram, type Task } from '../../core/task/task';
import type { Parting } from '../../core/trajectory/event';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { OwnFunction } from '../../../webview/session/protocol';
import type { FolderSettings } from '../configuration';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { OwnFunctions, ownFunctionSchema } from '../ownFunctions';
import { Panels } from '../panels';
import type { Packs, ListedTask } from '../packs';
import { Drafts } from './drafts';
import { SessionPanel, type SessionContext } from './panel';
import { notices } from './notices';
import type { Session } from './session';
import { closeReferences } from '../documents';
import { noTrajectory } from '../logs';
import { inform } from '../inputSteps';
import { Owner } from '../background';

const { t } = vscode.l10n;

/** State that the page keeps over a reload; the rest is in the log. */
const keptSchema = lazily(() =>
  z.object({
    episode: z.string().optional(),
    source: z.object({ pack: z.string(), task: z.string(), asAgent: z.boolean().optional() }).optional(),
    own: z.object({ place: ownFunctionSchema(), description: z.string() }).optional(),
  }),
);

const TRIES_AFTER_RELOAD = 12;

interface TaskList {
  readonly onDidChangeTreeData: vscode.Event<unknown>;
  state(task: Pick<ListedTask, 'pack' | 'id'>): Promise<TaskState>;
  nextTask(pack: string, after: string): Promise<ListedTask | undefined>;
}

/** The open sessions: one panel for each dialogue; they come back after a reload of the window. */
export class Sessions extends Owner implements SessionContext {
  readonly drafts: Drafts;
  readonly extension: vscode.Uri;
  private readonly panels: Panels<Session, SessionPanel>;
  private readonly opening = new Opening<SessionPanel>();
  private readonly changed = new vscode.EventEmitter<SessionPanel>();
  private readonly ownFunctions: OwnFunctions;

  readonly onDidChangePanel = this.changed.event;

  constructor(
    context: vscode.ExtensionContext,
    configuration: FolderSettings,
    private readonly engines: Engines,
    private readonly packs: Packs,
    private readonly tasks: TaskList,
    private readonly guidelines: { openFirst(pack: string): Promise<void> },
  ) {
    super();
    const report = (error: unknown): void => engines.first.report(error);
    const storage = context.storageUri?.fsPath;
    this.drafts = new Drafts(storage && path.join(storage, 'drafts'), report);
    this.extension = context.extensionUri;
    this.ownFunctions = new OwnFunctions(context.workspaceState);
    this.panels = new Panels({
      name: 'session',
      errors: engines.first,
      shows: ({ shown }, session) => shown === session,
      restore: (kept) => this.restore(kept),
      load: () => (panel, session) => new SessionPanel(panel, session, this.engineOf(session), this),
      onOpened: (panel) => this.opened(panel),
      onRestored: (panel) => this.restored(panel),
      onClosed: (panel) => this.changed.fire(panel),
    });
    this.owns(
      this.panels,
      this.changed,
      configuration.onDidChange(() => this.refresh()),
      engines.onDidChangeLog(({ episodes }) => this.follow(episodes)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
      tasks.onDidChangeTreeData(() => void this.followTasks().catch(report)),
    );
  }

  get open(): readonly SessionPanel[] {
    return this.panels.all;
  }

  get active(): SessionPanel | undefined {
    return this.panels.active;
  }

  /** Opens the person's newest dialogue, else a new one; a new one also of a task that is to be redone. */
  openTask(task: ListedTask): Promise<SessionPanel> {
    return this.opening.once(JSON.stringify([task.pack, task.id]), async () => {
      const state = await this.tasks.state(task);
      if (!isToBegin(state)) return this.openTrajectory(state.episode);
      const there = this.open.find(({ shown }) => shown.id === undefined && isOf(shown, task));
      return there === undefined ? this.openPanel(await this.fresh(task.pack, task.id)) : revealed(there);
    });
  }

  /** Opens a new dialogue in which the person is the agent; references that other dialogues have opened are closed. */
  openAsAgent(task: ListedTask): Promise<SessionPanel> {
    return this.opening.once(JSON.stringify([task.pack, task.id, 'agent']), async () => {
      await closeReferences(() => true);
      const there = this.open.find(({ shown }) => shown.id === undefined && isOf(shown, task, true));
      return there === undefined
        ? this.openPanel(await this.fresh(task.pack, task.id, true))
        : revealed(there);
    });
  }

  async replay(panel: SessionPanel): Promise<void> {
    const { pack, task, asAgent } = panel.shown.from;
    panel.show(await this.fresh(pack, task.id, asAgent));
  }

  /** Opens a task about a developer's own function, beside its file. Nothing is logged before the person starts. */
  async openOwn(task: Task, own: OwnFunction): Promise<SessionPanel> {
    return this.openPanel(await this.ofOwn(task, own), vscode.ViewColumn.Beside);
  }

  openTrajectory(episode: string): Promise<SessionPanel> {
    return this.opening.once(episode, async () => {
      const there = this.open.find(({ shown }) => shown.id === episode);
      if (there !== undefined) return revealed(there);
      const session = await this.logged(episode);
      await session.do({ type: 'look' });
      return this.openPanel(session);
    });
  }

  /**
   * Logs a dialogue that continues another one otherwise, opens it, and lets whoever moves next begin.
   * @param seed as of `tandem fork`; a new one by default
   */
  async fork(episode: string, at: Parting, seat: 'developer' | 'simulator', seed?: number): Promise<void> {
    const engine = await this.engines.withEpisode(episode);
    const log = await engine.log();
    const trajectory = await log.trajectory(episode);
    if (trajectory === undefined) throw noTrajectory(episode);
    const pack = await this.packOf(trajectory, engine);
    const parts = pack === undefined ? engine : this.engines.of(pack);
    const [{ Dialogue }, { forkOf }, { dialogueParts }] = await Promise.all([
      import('../../core/dialogue/dialogue'),
      import('../../core/dialogue/fork'),
      import('./dialogueLink'),
    ]);
    const begun = forkOf(trajectory, at, log);
    const [agentAndSimulator] = await Promise.all([dialogueParts(parts), parts.openAgent()]);
    const { simulator } = agentAndSimulator;
    const person = parts.consent.given?.pseudonym;
    if (seat === 'simulator' && simulator === undefined) throw notices.noSimulator(t);
    if (seat === 'developer') await parts.consent.record();
    const { id } = await Dialogue.start({
      ...agentAndSimulator,
      ...begun,
      collaborator:
        seat === 'developer' || simulator === undefined
          ? { kind: 'developer', name: person! }
          : { kind: simulator.kind, name: simulator.name },
      seed: seed === undefined ? deriveSeed(episode, Date.now()) : deriveSeed(seed, episode, at.turn, at.by),
    });
    const { shown } = await this.openTrajectory(id);
    if (shown.state.phase === 'stopped') void shown.do({ type: 'again' });
  }

  close(episode: string): boolean {
    const there = this.open.find(({ shown }) => shown.id === episode);
    there?.dispose();
    return there !== undefined;
  }

  async nextTask(panel: SessionPanel): Promise<void> {
    const { pack, task, asAgent = false } = panel.shown.from;
    const next = pack === undefined ? undefined : await this.tasks.nextTask(pack, task.id);
    if (next === undefined) {
      inform(t('There is no other task of this pack for you to play.'));
      return;
    }
    const session = await (asAgent
      ? this.fresh(next.pack, next.id, true)
      : this.newestOrFresh(next.pack, next.id));
    const there = this.open.find(
      ({ shown }) => shown.id === session.id && (session.id !== undefined || isOf(shown, next, asAgent)),
    );
    if (there !== undefined) {
      session.dispose();
      there.reveal();
      return;
    }
    await session.do({ type: 'look' });
    panel.show(session);
    await this.openBeside(panel);
  }

  async skip(task: ListedTask, reason: string): Promise<void> {
    const state = await this.tasks.state(task);
    if (isToBegin(state)) return this.skipNew(task, reason);
    const there = this.open.find(({ shown }) => shown.id === state.episode);
    const session = there?.shown ?? (await this.logged(state.episode));
    try {
      await session.do({ type: 'stop' });
      await session.do({ type: 'look' });
      await session.do({ type: 'skip', reason });
      const { phase, notice } = session.state;
      if (there === undefined && phase !== 'skipped' && notice !== undefined) {
        throw new Fault('session/not-skipped', notice.message);
      }
    } finally {
      if (there === undefined) session.dispose();
    }
  }

  onDidChange(panel: SessionPanel): void {
    this.changed.fire(panel);
  }

  refresh(): void {
    for (const { shown } of this.open) shown.refresh();
  }

  /** Closes the sessions that have begun; resolves when none of them writes any more. */
  async closeBegun(): Promise<void> {
    const begun = this.open.filter(({ shown }) => shown.id !== undefined);
    for (const panel of begun) panel.dispose();
    await Promise.all(begun.map(({ shown }) => shown.settled()));
  }

  private async openPanel(session: Session, column = vscode.ViewColumn.One): Promise<SessionPanel> {
    const opened = await this.panels.open(session, column);
    await this.openBeside(opened);
    return opened;
  }

  /** Opens the guidelines of a pack that is new to the person, and the reference in front of them. */
  private async openBeside(panel: SessionPanel): Promise<void> {
    const { pack, asAgent } = panel.shown.from;
    if (asAgent === true) return;
    if (pack !== undefined) await this.guidelines.openFirst(pack);
    // The wanted page is in the session itself.
    const opensReference = isProgram(panel.shown.task) && this.engines.of(pack).configuration.opensReference;
    if (opensReference) await panel.openBeside('reference', true);
  }

  /** @param episodes that changed in a log; none means that any may have changed */
  private follow(episodes: readonly string[]): void {
    for (const { shown } of this.open) {
      const isMeant = shown.id !== undefined && (episodes.length === 0 || episodes.includes(shown.id));
      if (isMeant) shown.do({ type: 'follow' }).catch((error: unknown) => this.engines.first.report(error));
    }
  }

  private async followTasks(): Promise<void> {
    for (const { shown } of this.open) await this.tellOffer(shown);
  }

  private async tellOffer(session: Session): Promise<Session> {
    const { pack, task } = session.from;
    await session.do({
      type: 'offer',
      hasNext: pack !== undefined && (await this.tasks.nextTask(pack, task.id)) !== undefined,
      hasGuidelines: pack !== undefined && (await guidelinesOf(pack)) !== undefined,
    });
    return session;
  }

  private async skipNew({ pack, id }: ListedTask, reason: string): Promise<void> {
    const engine = this.engines.of(pack);
    const task = await this.wholeTask(pack, id);
    await logSkipped(engine, task, path.basename(pack), reason);
    this.open.find(({ shown }) => shown.id === undefined && isOf(shown, { pack, id }))?.dispose();
  }

  private engineOf({ from }: Session): Engine {
    return this.engines.of(from.pack ?? (from.own && fileOf(from.own)));
  }

  private opened(panel: SessionPanel): void {
    this.changed.fire(panel);
    const { shown } = panel;
    if (shown.from.asAgent === true) return;
    // The agents load while the person reads.
    if (['ready', 'choosing', 'developer'].includes(shown.state.phase)) this.engineOf(shown).warmAgents();
  }

  /** Returns undefined for a panel that was left before it drew anything, which has kept nothing. */
  private async restore(kept: unknown): Promise<Session | undefined> {
    const { episode, source, own } = keptSchema().safeParse(kept).data ?? {};
    if (episode !== undefined) return this.logged(episode);
    if (own !== undefined) return this.begunOrOwn(ownTaskOf(own.description), own.place);
    if (source?.asAgent === true) return this.fresh(source.pack, source.task, true);
    return source && this.newestOrFresh(source.pack, source.task);
  }

  private async restored(panel: SessionPanel): Promise<void> {
    // The window before the reload may still be closing.
    void panel.shown.do({ type: 'look', tries: TRIES_AFTER_RELOAD });
    // The editor does not bring back documents without a file.
    if (panel.isInSight) await this.openBeside(panel);
  }

  /** Looks for a dialogue in the log, because the editor may have missed that one has begun. */
  private async newestOrFresh(pack: string, task: string): Promise<Session> {
    const state = await this.tasks.state({ pack, id: task });
    return state.kind === 'draft' ? this.logged(state.episode) : this.fresh(pack, task);
  }

  private async ofOwn(task: Task, own: OwnFunction): Promise<Session> {
    const { Session } = await import('./session');
    return Session.ofTask(this.engines.of(fileOf(own)), { task, own }, this.drafts);
  }

  /** Looks for the dialogue, because the editor may have missed that it has begun. */
  private async begunOrOwn(task: Task, own: OwnFunction): Promise<Session> {
    const log = await this.engines.of(fileOf(own)).logIfAny();
    const newest = this.ownFunctions.all.findLast(({ file, name }) => file === own.file && name === own.name);
    const known = newest && log?.summary(newest.episode);
    const isBegun = known?.taskId === task.id && known.state === 'open';
    return isBegun ? this.logged(known.id) : this.ofOwn(task, own);
  }

  private async fresh(pack: string | undefined, id: string, asAgent = false): Promise<Session> {
    const task = await this.wholeTask(pack, id);
    const { Session } = await import('./session');
    const title = await this.packs.title(pack, id);
    const from = { task, pack, packName: pack && path.basename(pack), title, asAgent };
    return this.tellOffer(Session.ofTask(this.engines.of(pack), from, this.drafts));
  }

  private async wholeTask(pack: string | undefined, id: string): Promise<Task> {
    const task = pack === undefined ? undefined : await this.packs.task(pack, id);
    if (task !== undefined) return task;
    throw new Fault('editor/no-task', t('No pack of this workspace has the task {0} any more.', id));
  }

  private async logged(episode: string): Promise<Session> {
    const engine = await this.engines.withEpisode(episode);
    const trajectory = await (await engine.log()).trajectory(episode);
    if (trajectory === undefined) throw noTrajectory(episode);
    const pack = await this.packOf(trajectory, engine);
    // Folders may share a log: the dialogue continues with the settings of the folder that holds its pack.
    const parts = pack === undefined ? engine : this.engines.of(pack);
    const { Session } = await import('./session');
    const title = await this.packs.title(pack, trajectory.task.id);
    const own = isOwnFunction(trajectory.task) ? this.ownFunctions.of(episode) : undefined;
    const engineOfOwn = own && this.engines.of(fileOf(own));
    const from = { pack, title, own };
    return this.tellOffer(Session.ofTrajectory(engineOfOwn ?? parts, trajectory, from, this.drafts));
  }

  /** For "Next task": a pack in a folder that logs into the same log. */
  private async packOf({ task, started }: Trajectory, engine: Engine): Promise<string | undefined> {
    const packs = await this.packs.all();
    const holding = packs.filter(
      ({ file, tasks }) =>
        this.engines.of(file).dataFolder === engine.dataFolder && tasks.some(({ id }) => id === task.id),
    );
    return (holding.find(({ file }) => path.basename(file) === started.pack) ?? holding[0])?.file;
  }
}

const fileOf = ({ file }: OwnFunction): string => vscode.Uri.parse(file).fsPath;

const isToBegin = (state: TaskState): state is Extract<TaskState, { kind: 'new' | 'redo' }> =>
  state.kind === 'new' || state.kind === 'redo';

function revealed(panel: SessionPanel): SessionPanel {
  panel.reveal();
  return panel;
}

/** Logs a dialogue without turns, which can still be resumed. @param pack the file name of the pack */
async function logSkipped(engine: Engine, task: Task, pack: string, reason: string): Promise<void> {
  const name = engine.consent.given?.pseudonym;
  if (name === undefined) throw new Error('Nothing is logged of a person who has not agreed to it.');
  const [log, prompts] = await Promise.all([engine.log(), engine.prompts()]);
  const { Dialogue } = await import('../../core/dialogue/dialogue');
  await engine.consent.record();
  const { id } = await Dialogue.start({
    ...{ log, prompts, task, pack },
    agent: {
      name: engine.agentName,
      generate: () => Promise.reject(new Error('A skipped task asks no agent.')),
    },
    collaborator: { kind: 'developer', name },
    protocol: engine.protocol,
    sampling: engine.sampling,
    seed: deriveSeed(task.id, Date.now()),
  });
  await log.append(
    { event: 'abandoned', episode: id, reason: 'skipped', message: reason },
    { durable: true },
  );
}

/** Compares the pack as well, because two folders may have tasks of the same id. */
function isOf(
  { task, from }: Session,
  { pack, id }: Pick<ListedTask, 'pack' | 'id'>,
  asAgent = false,
): boolean {
  return task.id === id && from.pack === pack && (from.asAgent ?? false) === asAgent;
}

/** Things that are being opened: a second request for the same thing, as by a double click, gets the same panel. */
export class Opening<T> {
  private readonly begun = new Map<string, Promise<T>>();

  once(key: string, open: () => Promise<T>): Promise<T> {
    const there = this.begun.get(key);
    if (there !== undefined) return there;
    const opening = open().finally(() => this.begun.delete(key));
    this.begun.set(key, opening);
    return opening;
  }
}
