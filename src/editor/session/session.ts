import type { Task } from '../../core/task/task';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { SessionState, ToWebview } from '../../../webview/session/protocol';
import type { Action, Effect, Present, Request, Result } from './actions';
import { Effects } from './effects';
import { protocolFor, type SessionParts, type SessionTask } from './sessionParts';
import { reduce } from './reducer';
import { canEnd, loggedState, newState, type State } from './state';
import { changes, shownOf, titleOf, type Shown } from './view';

/** Maximum number of dialogues that are read for the replies in them. */
const MAX_DIALOGUES = 20;
const MAX_REPLIES = 50;

/** One dialogue as a person plays it. It knows no editor. */
export class Session {
  private readonly effects: Effects;
  private readonly listeners = new Set<(message: ToWebview) => void>();
  private told: Shown;
  private control = new AbortController();
  private running: Promise<void> = Promise.resolve();

  private constructor(
    private readonly parts: SessionParts,
    readonly from: SessionTask,
    private current: State,
  ) {
    this.effects = new Effects(parts, from, {
      state: () => this.current,
      dispatch: (result) => this.dispatch(result),
      tell: (message) => this.tell(message),
      stop: () => this.stop(),
    });
    this.told = this.shown;
  }

  /** A task without a dialogue: nothing is logged before it is started. */
  static ofTask(parts: SessionParts, from: SessionTask): Session {
    return new Session(parts, from, newState(from.task));
  }

  /** A logged dialogue in any state. Nothing is written until the person continues. */
  static ofTrajectory(
    parts: SessionParts,
    trajectory: Trajectory,
    from: Pick<SessionTask, 'pack' | 'title' | 'own'> = {},
  ): Session {
    const { task, started } = trajectory;
    const state = { ...newState(task), ...loggedState(trajectory, parts.consent.given?.pseudonym, parts.t) };
    return new Session(parts, { ...from, task, packName: started.pack }, state);
  }

  get id(): string | undefined {
    return this.current.episode;
  }

  get task(): Task {
    return this.from.task;
  }

  get title(): string {
    return titleOf(this.from);
  }

  get answer(): string | undefined {
    return this.current.answer;
  }

  get replies(): readonly string[] {
    return this.current.turns.flatMap(({ reply }) => (reply === undefined ? [] : [reply.text]));
  }

  get state(): SessionState {
    return this.shown.state;
  }

  get snapshot(): Shown {
    this.told = this.shown;
    return this.told;
  }

  onMessage(listener: (message: ToWebview) => void): { dispose: () => void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Does what a person asks; resolves when it is done, or was refused, and all that follows from it. */
  do(request: Request): Promise<void> {
    return this.dispatch(request);
  }

  /** False while two candidates wait: neither is the agent's message yet, and the person is told so. */
  async mayEndNow(): Promise<boolean> {
    await this.do({ type: 'may-end' });
    return canEnd(this.current);
  }

  refresh(): void {
    this.show();
  }

  /** Returns the developer's replies in other dialogues of this log, oldest first. */
  async earlierReplies(): Promise<readonly string[]> {
    const by = this.parts.consent.given?.pseudonym;
    if (this.id === undefined || by === undefined) return [];
    return earlierReplies(await this.parts.log(), by, this.id);
  }

  /** Resolves when nothing is being written or graded any more. */
  settled(): Promise<void> {
    return this.running;
  }

  dispose(): void {
    this.effects.dispose();
    this.listeners.clear();
    this.do({ type: 'close' }).catch((error: unknown) => this.parts.report(error));
  }

  /** @param signal of the work that the action belongs to */
  private dispatch(action: Action, signal?: AbortSignal): Promise<void> {
    const before = this.current;
    const { state, effects } = reduce(before, action, this.present);
    this.current = state;
    if (state !== before) this.show();
    if (state.work === undefined || state.work.request === before.work?.request) {
      const done = this.carryOut(effects, signal);
      const waits = state.next !== undefined && state.next !== before.next;
      return waits ? done.then(() => this.running) : done;
    }
    this.control = new AbortController();
    const work = this.control.signal;
    // Whatever goes wrong, also in the state or the view, ends the work.
    this.running = this.carryOut(effects, work).catch((error: unknown) =>
      this.dispatch(this.failed(error, work), work),
    );
    return this.running;
  }

  /** Carries out effects one after the other, up to the first that fails. */
  private async carryOut(effects: readonly Effect[], signal: AbortSignal | undefined): Promise<void> {
    for (const effect of effects) {
      const result = await this.resultOf(effect, signal);
      if (result) await this.dispatch(result, signal);
      if (result?.type === 'failed') return;
    }
  }

  private async resultOf(effect: Effect, signal: AbortSignal | undefined): Promise<Result | undefined> {
    try {
      return await this.effects.carryOut(effect, signal);
    } catch (error) {
      return this.failed(error, signal);
    }
  }

  private failed(error: unknown, signal: AbortSignal | undefined): Result {
    const isStopped = signal?.aborted === true;
    return { type: 'failed', error, isStopped, isAside: signal === undefined, episode: this.effects.episode };
  }

  private async stop(): Promise<void> {
    this.control.abort();
    await this.running;
  }

  private get present(): Present {
    const { t, agentName, simulatorName, showsCandidates, consent } = this.parts;
    const protocol = protocolFor(this.task, this.parts);
    const connected = {
      agent: this.parts.isConnected(agentName),
      simulator: this.parts.isConnected(simulatorName),
    };
    return { t, agentName, connected, showsCandidates, protocol, at: Date.now(), consent: consent.given };
  }

  private show(): void {
    const before = this.told;
    this.told = this.shown;
    for (const message of changes(before, this.told)) this.tell(message);
  }

  private get shown(): Shown {
    return shownOf(this.current, this.parts, this.from);
  }

  private tell(message: ToWebview): void {
    for (const listener of this.listeners) listener(message);
  }
}

/** Returns a developer's replies in earlier dialogues. They are read from the log, so that a deletion there counts. */
async function earlierReplies(log: TrajectoryLog, by: string, episode: string): Promise<string[]> {
  const filter = { collaborator: by };
  const { rows } = log.list({ filter, sort: 'newest', offset: 0, limit: MAX_DIALOGUES });
  const ids = rows.map(({ id }) => id).filter((id) => id !== episode);
  const replies: string[] = [];
  for await (const { turns } of log.trajectories(ids.reverse())) {
    for (const { reply } of turns) if (reply?.by === by) replies.push(reply.text);
  }
  return replies.slice(-MAX_REPLIES);
}
