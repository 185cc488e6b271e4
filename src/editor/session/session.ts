import type { Dialogue } from '../../core/dialogue/dialogue';
import type { Fault } from '../../core/fault';
import type { Task } from '../../core/task/task';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type {
  ConsentRequest,
  GradeView,
  Notice,
  PanelState,
  Phase,
  Seat,
  SessionState,
  ToWebview,
} from '../../../webview/session/protocol';
import { taskTitle } from '../tasks/title';
import { Feed } from './feed';
import { DialogueLink, type SessionTask } from './link';
import { isPlayedElsewhere, noticeOf, notices } from './notices';
import type { SessionParts } from './parts';
import { resting } from './resting';
import { agentSpeaks, showLastTurn, simulatorSpeaks } from './spoken';
import { gradeView, taskView } from './view';

/**
 * One dialogue as a person plays it: takes what the person does, and tells the view what has changed. What it shows
 * as said is in the log before it is shown. Knows no editor.
 */
export class Session {
  private phase: Phase = 'ready';
  private seat: Seat = 'developer';
  private notice: Notice | undefined;
  private grade: GradeView | undefined;
  /** The developer wants the seat back; it is logged as soon as the dialogue can take it. */
  private seatWanted = false;
  /** Set while the agent, the simulator or the grader works. */
  private work: AbortController | undefined;
  private running: Promise<void> = Promise.resolve();
  private agentSpokeAt: number | undefined;
  private loggedAnswer: string | undefined;
  private disposed = false;
  private readonly feed = new Feed();
  private readonly link: DialogueLink;

  private constructor(
    private readonly parts: SessionParts,
    readonly from: SessionTask,
    episode: string | undefined,
  ) {
    this.link = new DialogueLink(parts, from, episode);
  }

  /** A task that nobody has begun: nothing is logged before `start`. */
  static ofTask(parts: SessionParts, from: SessionTask): Session {
    return new Session(parts, from, undefined);
  }

  /** A dialogue as the log has it, whatever state it was left in. Writes nothing until the person goes on with it. */
  static ofTrajectory(parts: SessionParts, trajectory: Trajectory, pack?: string, title?: string): Session {
    const { task, started, id } = trajectory;
    const session = new Session(parts, { task, pack, packName: started.pack, title }, id);
    session.rest(trajectory);
    return session;
  }

  /** The dialogue's identity in the log, once it has begun. */
  get id(): string | undefined {
    return this.link.id;
  }

  get task(): Task {
    return this.from.task;
  }

  get title(): string {
    return this.from.title ?? taskTitle(this.task);
  }

  /** The agent's final answer, once there is one; what is graded and compared. */
  get answer(): string | undefined {
    return this.link.dialogue?.answer ?? this.loggedAnswer;
  }

  get state(): SessionState {
    const { parts, phase } = this;
    const { maxTurns, replyLimit } = this.link.dialogue?.protocol ?? parts.protocol;
    const played = this.feed.turns.length;
    const agentsMove = played === 0 || this.feed.turns.at(-1)?.reply !== undefined;
    const asksConsent = parts.consent.given === undefined && (phase === 'ready' || phase === 'developer');
    return {
      phase: phase === 'ready' && parts.agentName === '' ? 'no-agent' : phase,
      seat: this.seat,
      turn: Math.min(agentsMove && phase !== 'over' ? played + 1 : played, maxTurns),
      maxTurns,
      replyLimit,
      agent: parts.agentName,
      simulator: parts.simulatorName,
      hasNext: this.from.pack !== undefined,
      ...(this.notice === undefined ? {} : { notice: this.notice }),
      ...(asksConsent ? { consent: { ...parts.consent.suggestion, folder: parts.dataFolder } } : {}),
      ...(this.grade === undefined ? {} : { grade: this.grade }),
    };
  }

  /** Everything a view needs to begin with, but for the draft. */
  get snapshot(): Omit<Extract<ToWebview, { type: 'snapshot' }>, 'draft'> {
    const { stream, turns } = this.feed;
    return {
      type: 'snapshot',
      panel: this.panelState,
      task: { ...taskView(this.task, this.from.packName), title: this.title },
      state: this.state,
      turns,
      ...(stream === undefined ? {} : { stream }),
    };
  }

  onMessage(listener: (message: ToWebview) => void): { dispose: () => void } {
    return this.feed.listen(listener);
  }

  /** The settings have changed: another agent, another limit. */
  refresh(): void {
    this.feed.showState(this.state);
  }

  /**
   * Claims a dialogue that is not over. One that is played elsewhere is only shown, until the person asks again.
   * @param tries with a moment in between, in which a window that is just closing lets go of it
   */
  async hold(tries = 1): Promise<void> {
    if (this.phase !== 'developer' && this.phase !== 'stopped') return;
    await this.attempt(async () => {
      const trajectory = await this.link.claimed(tries);
      if (this.work === undefined) this.rest(trajectory);
      await this.letGoIfDone();
    });
  }

  /** Begins the dialogue; or, in one that has begun, lets the developer answer once the consent is given. */
  async start(consent?: ConsentRequest): Promise<void> {
    if (consent !== undefined) await this.attempt(() => this.parts.consent.give(consent));
    const given = this.parts.consent.given;
    if (given === undefined) return;
    if (this.phase === 'developer') return this.attempt(() => this.takeSeatIfWanted());
    if (this.phase !== 'ready' || this.parts.agentName === '') return;
    await this.perform(async (signal) => {
      this.enter('agent');
      await this.parts.consent.record();
      await this.link.begin(given.pseudonym);
      this.feed.emit({ type: 'panel', panel: this.panelState });
      await this.playOn(signal);
    });
  }

  /** The developer's reply to the agent's last message. */
  async reply(text: string): Promise<void> {
    const by = this.parts.consent.given?.pseudonym;
    if (this.phase !== 'developer' || by === undefined) return;
    const waited = this.agentSpokeAt === undefined ? {} : { milliseconds: Date.now() - this.agentSpokeAt };
    await this.perform(async (signal) => {
      await this.parts.consent.record();
      await this.takeSeatIfWanted();
      const dialogue = await this.link.attached();
      await dialogue.reply(text, { author: 'developer', by, ...waited });
      showLastTurn(dialogue, this.feed);
      await this.playOn(signal);
    });
  }

  /** The simulator answers the agent's last message; the developer keeps the seat. */
  async simulatorOnce(): Promise<void> {
    if (this.phase !== 'developer') return;
    await this.perform(async (signal) => {
      await this.link.simulatorNow();
      await this.simulatorTurn(await this.link.attached(), signal);
      await this.playOn(signal);
    });
  }

  /** The simulator has the seat from here on. */
  async simulatorOn(): Promise<void> {
    if (this.phase !== 'developer') return;
    await this.perform(async (signal) => {
      const simulator = await this.link.simulatorNow();
      const dialogue = await this.link.attached();
      await dialogue.handOver({ kind: simulator.kind, name: simulator.name }, simulator);
      this.seat = 'simulator';
      await this.playOn(signal);
    });
  }

  /** The developer answers again; a reply that the simulator is writing is dropped. */
  async takeSeat(): Promise<void> {
    if (this.phase === 'simulator') {
      this.seatWanted = true;
      this.work?.abort();
      await this.running;
    } else if (this.seat === 'simulator' && (this.phase === 'agent' || this.phase === 'stopped')) {
      this.seatWanted = true;
      if (this.phase === 'stopped' && this.collaboratorsMove) this.enter('developer');
      await this.attempt(() => this.takeSeatIfWanted());
    }
  }

  /** Stops what is being written or graded. */
  async stop(): Promise<void> {
    this.work?.abort();
    await this.running;
  }

  /** Asks again for the message that was stopped, failed or cut off, or goes on with a dialogue that was skipped. */
  async again(): Promise<void> {
    if (this.phase !== 'stopped' && this.phase !== 'skipped') return;
    await this.perform(async (signal) => {
      this.link.release();
      // Another window may have gone on with it meanwhile.
      this.rest(await this.link.claimed());
      if (this.phase !== 'stopped' && this.phase !== 'skipped') return;
      this.notice = undefined;
      await this.playOn(signal);
    });
  }

  /** Takes the agent's last message as its answer and grades it. */
  async endNow(): Promise<void> {
    if (this.phase !== 'developer') return;
    await this.perform(async (signal) => {
      await (await this.link.attached()).endNow();
      await this.finish(signal);
    });
  }

  /** @param reason shown and logged as it is */
  async skip(reason: string): Promise<void> {
    if (this.phase !== 'developer' && this.phase !== 'stopped') return;
    await this.perform(async () => {
      await this.link.abandon('skipped', reason);
      this.notice = notices.skipped(reason);
      this.enter('skipped');
    });
  }

  async gradeAgain(): Promise<void> {
    if (this.phase !== 'over' || this.grade !== undefined) return;
    await this.perform((signal) => this.finish(signal));
  }

  /** Resolves when nothing is being written or graded any more. */
  settled(): Promise<void> {
    return this.running;
  }

  dispose(): void {
    this.disposed = true;
    this.feed.dispose();
    this.work?.abort();
    this.running.then(() => this.link.letGo()).catch((error: unknown) => this.parts.report(error));
  }

  /** Runs one thing that the person asked for; one at a time. What goes wrong becomes a notice. */
  private perform(what: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.work !== undefined) return this.running;
    const work = new AbortController();
    this.work = work;
    this.notice = undefined;
    const before = this.phase;
    this.running = (async () => {
      try {
        await what(work.signal);
      } catch (error) {
        await this.attempt(() => this.interrupted(error, before, work.signal.aborted));
      } finally {
        await this.attempt(() => this.letGoIfDone());
        this.work = undefined;
        this.feed.showStream(undefined);
        this.refresh();
      }
    })();
    return this.running;
  }

  /** Runs what may fail without changing whose move it is. */
  private async attempt(what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      if (isPlayedElsewhere(error)) {
        this.showOnly(error, this.phase);
      } else {
        this.parts.report(error);
        this.notice = noticeOf(error, 'agent');
      }
    }
    this.refresh();
  }

  /** Work was stopped or failed: the log says so where the dialogue cannot go on, and the person decides. */
  private async interrupted(error: unknown, before: Phase, stopped: boolean): Promise<void> {
    // The panel was closed: the dialogue stays open in the log, as after a reload.
    if (this.disposed) return;
    if (isPlayedElsewhere(error)) {
      this.showOnly(error, before);
      return;
    }
    const during = this.phase;
    const party = during === 'simulator' || this.collaboratorsMove ? 'simulator' : 'agent';
    if (!stopped) {
      this.parts.report(error);
      this.notice = noticeOf(error, during === 'grading' ? 'grader' : party);
    }
    if (during === 'grading') {
      this.notice ??= notices.notGraded();
      this.enter('over');
    } else if (this.link.id === undefined) {
      this.enter('ready');
    } else if (this.seatWanted || (this.seat === 'developer' && this.collaboratorsMove)) {
      this.enter('developer');
      await this.takeSeatIfWanted();
    } else {
      if (stopped) this.notice = notices.stopped(party);
      this.enter(before === 'skipped' ? 'skipped' : 'stopped');
      await this.link.abandon(stopped ? 'cancelled' : 'failed', this.notice?.message ?? '');
    }
  }

  /** Nothing can be done here while the dialogue is played elsewhere, but to ask again. */
  private showOnly(fault: Fault, before: Phase): void {
    this.parts.report(fault);
    this.seatWanted = false;
    this.notice = notices.elsewhere(fault.message, before === 'over');
    this.enter(before === 'over' || before === 'skipped' ? before : 'stopped');
  }

  /** Shows the dialogue as the log has it. */
  private rest(trajectory: Trajectory): void {
    const { turns, answer, ...rest } = resting(trajectory);
    this.feed.showTurns(turns);
    this.loggedAnswer = answer;
    ({ phase: this.phase, notice: this.notice, seat: this.seat, grade: this.grade } = rest);
  }

  private async letGoIfDone(): Promise<void> {
    if (this.disposed || this.phase === 'over' || this.phase === 'skipped') await this.link.letGo();
  }

  /** Plays until it is the developer's move or the dialogue is over. */
  private async playOn(signal: AbortSignal): Promise<void> {
    if (this.phase !== 'agent' && this.phase !== 'simulator') {
      this.enter(this.collaboratorsMove ? 'simulator' : 'agent');
    }
    const dialogue = await this.link.attached();
    while (dialogue.next === 'agent' || (dialogue.next === 'collaborator' && this.seat === 'simulator')) {
      if (dialogue.next === 'agent') await this.agentTurn(dialogue, signal);
      else await this.simulatorTurn(dialogue, signal);
    }
    if (dialogue.next === 'nobody') await this.finish(signal);
    else this.enter('developer');
  }

  private async agentTurn(dialogue: Dialogue, signal: AbortSignal): Promise<void> {
    this.enter('agent');
    await agentSpeaks(dialogue, this.feed, signal);
    this.agentSpokeAt = Date.now();
  }

  private async simulatorTurn(dialogue: Dialogue, signal: AbortSignal): Promise<void> {
    this.enter('simulator');
    await simulatorSpeaks(dialogue, this.feed, signal);
  }

  private async finish(signal: AbortSignal): Promise<void> {
    this.enter('grading');
    const dialogue = await this.link.attached();
    const grade = await dialogue.grade(await this.parts.grader(), this.parts.gradingMode, signal);
    this.grade = gradeView(this.task, grade);
    this.enter('over');
  }

  private async takeSeatIfWanted(): Promise<void> {
    const consent = this.parts.consent.given;
    if (!this.seatWanted || consent === undefined) return;
    this.seatWanted = false;
    if (this.seat === 'developer') return;
    await (await this.link.attached()).handOver({ kind: 'developer', name: consent.pseudonym });
    this.seat = 'developer';
  }

  private get collaboratorsMove(): boolean {
    const last = this.feed.turns.at(-1);
    return last !== undefined && last.reply === undefined && this.answer === undefined;
  }

  private get panelState(): PanelState {
    const { pack, task } = this.from;
    return { episode: this.id, source: pack === undefined ? undefined : { pack, task: task.id } };
  }

  private enter(phase: Phase): void {
    this.phase = phase;
    this.refresh();
  }
}
