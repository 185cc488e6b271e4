import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../core/fault';
import { isOwnFunction } from '../../core/task/own';
import type { Task } from '../../core/task/task';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type {
  ConsentRequest,
  Draft,
  Picked,
  SessionState,
  ToWebview,
} from '../../../webview/session/protocol';
import { leakedPassages, measureLeak } from '../../core/dialogue/leak';
import { NO_PREFERENCE } from '../../core/dialogue/noPreference';
import { limitReply } from '../../core/dialogue/protocol';
import { authorOf } from './authorship';
import { earlierReplies } from './earlier';
import { DialogueLink, type SessionTask } from './link';
import type { SessionParts } from './parts';
import { notices } from './notices';
import { Play } from './play';
import { Ratings } from './ratings';
import { Scene } from './scene';
import { showLastTurn } from './spoken';
import { Work } from './work';

/**
 * One dialogue as a person plays it: takes what the person does, and tells the view what has changed. What it shows
 * as said is in the log before it is shown. Knows no editor.
 */
export class Session {
  readonly ratings: Ratings;
  private readonly link: DialogueLink;
  private readonly scene: Scene;
  private readonly play: Play;
  private readonly work: Work;

  private constructor(
    private readonly parts: SessionParts,
    readonly from: SessionTask,
    episode: string | undefined,
  ) {
    this.link = new DialogueLink(parts, from, episode);
    this.scene = new Scene(parts, from, this.link);
    this.play = new Play(parts, this.link, this.scene);
    this.work = new Work(parts, this.link, this.scene, this.play);
    this.ratings = new Ratings(parts, this.link, this.scene, this.work);
  }

  /** A task that nobody has begun: nothing is logged before `start`. */
  static ofTask(parts: SessionParts, from: SessionTask): Session {
    return new Session(parts, from, undefined);
  }

  /** A dialogue as the log has it, whatever state it was left in. Writes nothing until the person goes on with it. */
  static ofTrajectory(parts: SessionParts, trajectory: Trajectory, pack?: string, title?: string): Session {
    const { task, started, id } = trajectory;
    const session = new Session(parts, { task, pack, packName: started.pack, title }, id);
    session.scene.rest(trajectory);
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
    return this.scene.title;
  }

  /** The agent's final answer, once there is one; what is graded and compared. */
  get answer(): string | undefined {
    return this.scene.answer;
  }

  get state(): SessionState {
    return this.scene.state;
  }

  /** Everything a view needs to begin with, but for the draft. */
  get snapshot(): Scene['snapshot'] {
    return this.scene.snapshot;
  }

  /** The simulator that drafted what the developer had begun to write: it is called by its name. */
  set drafter(simulator: string | undefined) {
    this.scene.drafter = simulator;
  }

  onMessage(listener: (message: ToWebview) => void): { dispose: () => void } {
    return this.scene.feed.listen(listener);
  }

  /** What the pack of the task has beside it: another task to play, guidelines to read. */
  offer({ hasNext, hasGuidelines }: Pick<SessionState, 'hasNext' | 'hasGuidelines'>): void {
    const { scene } = this;
    if (scene.hasNext === hasNext && scene.hasGuidelines === hasGuidelines) return;
    Object.assign(scene, { hasNext, hasGuidelines });
    scene.refresh();
  }

  /** The settings have changed: another agent, another limit. */
  refresh(): void {
    this.scene.refresh();
  }

  /**
   * Looks whether a dialogue that is not over is played elsewhere, where the agent or the simulator writes at this moment.
   * Then it is only shown, until the person asks again.
   * @param tries with a moment in between, in which a window that is just closing comes to an end
   */
  async look(tries = 1): Promise<void> {
    if (!this.is('choosing', 'developer', 'stopped')) return;
    await this.work.attempt(async () => {
      const trajectory = await this.link.claimed(tries);
      if (this.work.isIdle) this.scene.rest(trajectory);
    });
  }

  /** Shows what another window or a command has logged of the dialogue. */
  async follow(): Promise<void> {
    if (this.is('agent', 'candidates', 'simulator', 'grading')) return;
    const trajectory = await this.link.logged();
    if (trajectory === undefined || !this.work.isIdle || !this.scene.isBehind(trajectory)) return;
    this.link.release();
    this.scene.rest(trajectory);
    if (this.is('stopped')) await this.look();
    else this.scene.refresh();
  }

  /** Begins the dialogue; or, in one that has begun, lets the developer answer once the consent is given. */
  async start(consent?: ConsentRequest): Promise<void> {
    const { parts, play } = this;
    if (consent !== undefined && !isDeepStrictEqual(consent, parts.consent.given)) {
      // Nobody has seen the form: another consent is given by the command for it.
      if (this.state.consent === undefined) {
        this.note('a consent that was not asked for');
        return;
      }
      await this.work.attempt(() => parts.consent.give(consent));
    }
    const given = parts.consent.given;
    if (given === undefined) return;
    if (this.is('choosing', 'developer')) return this.work.attempt(() => play.takeSeatIfWanted());
    if (!this.fits('the start', 'ready') || parts.agentName === '') return;
    await this.work.perform(async (signal) => {
      this.scene.enter('agent');
      await parts.consent.record();
      await this.link.begin(given.pseudonym);
      this.scene.begun();
      await play.on(signal);
    });
  }

  /**
   * The developer's reply to the agent's last message. One that gives the reference away is not sent at first: the
   * developer is told so, and may send it `anyway`. The view hears of each what became of it.
   */
  async reply(draft: Draft, anyway = false): Promise<void> {
    if (this.takesReply && !anyway && this.warnsOfLeak(draft.text)) return;
    if (await this.say(draft)) return;
    if (this.is('developer')) this.scene.notice ??= notices.notSent(this.parts.t);
    this.scene.refresh();
    this.scene.feed.emit({ type: 'not-sent' });
  }

  /** The developer writes on, also after a warning. */
  edited(): void {
    this.scene.warning = undefined;
  }

  /** What the developer says of two candidates for the agent's message. */
  async choose(picked: Picked): Promise<void> {
    const { parts, play } = this;
    const by = parts.consent.given?.pseudonym;
    if (!this.fits('a choice', 'choosing') || by === undefined) return;
    await this.work.act(async (signal) => {
      await parts.consent.record();
      await play.choose(picked, by);
      await play.on(signal);
    });
  }

  /** The developer has no wish, or does not know. */
  async dontMind(): Promise<void> {
    await this.say({ text: NO_PREFERENCE });
  }

  /** The simulator drafts a reply, which the developer may change and send. */
  async suggest(): Promise<void> {
    if (!this.fits('a suggestion', 'developer')) return;
    await this.work.act(async (signal) => {
      const suggestion = await this.play.suggest(signal);
      this.scene.feed.emit({ type: 'suggestion', suggestion });
    });
  }

  /** Has the agent write its last message anew. */
  async anotherSample(): Promise<void> {
    if (!this.fits('another sample', 'developer')) return;
    await this.work.act(async (signal) => {
      await this.play.anotherSample(signal);
      await this.play.on(signal);
    });
  }

  /** The simulator answers the agent's last message; the developer keeps the seat. */
  async simulatorOnce(): Promise<void> {
    if (!this.fits('a reply of the simulator', 'developer')) return;
    await this.work.act(async (signal) => {
      await this.link.simulatorNow();
      await this.play.simulatorTurn(signal);
      await this.play.on(signal);
    });
  }

  /** The simulator has the seat from here on. */
  async simulatorOn(): Promise<void> {
    if (!this.fits('the hand-over', 'developer')) return;
    await this.work.act(async (signal) => {
      await this.play.giveSeat();
      await this.play.on(signal);
    });
  }

  /** The developer answers again; a reply that the simulator is writing is dropped. */
  async takeSeat(): Promise<void> {
    const { scene, play, work } = this;
    if (this.is('simulator')) {
      play.seatWanted = true;
      await work.stop();
    } else if (scene.seat === 'simulator' && this.is('agent', 'candidates', 'stopped')) {
      play.seatWanted = true;
      if (this.is('stopped') && scene.collaboratorsMove) scene.enter('developer');
      await work.attempt(() => play.takeSeatIfWanted());
    } else {
      this.note('the seat');
    }
  }

  /** Stops what is being written or graded. */
  async stop(): Promise<void> {
    await this.work.stop();
  }

  /** Asks again for the message that was stopped, failed or cut off, or goes on with a dialogue that was skipped. */
  async again(): Promise<void> {
    if (!this.fits('another try', 'stopped', 'skipped')) return;
    await this.work.perform(async (signal) => {
      this.link.release();
      // Another window may have gone on with it meanwhile.
      this.scene.rest(await this.link.claimed());
      if (!this.is('stopped', 'skipped')) return;
      this.scene.notice = undefined;
      await this.play.on(signal);
    });
  }

  /** Whether the dialogue can end now. Of two candidates neither is the agent's message yet, which the person is told. */
  mayEndNow(): boolean {
    if (this.is('choosing')) {
      this.scene.notice = notices.chooseFirst(this.parts.t);
      this.scene.refresh();
    }
    const { canEnd = false } = this.state;
    if (!canEnd && !this.is('choosing')) this.note('the end');
    return canEnd;
  }

  /** Takes the agent's last message as its answer and grades it. What is being written is stopped. */
  async endNow(): Promise<void> {
    if (!this.mayEndNow()) return;
    await this.work.stop();
    // What was being written may have come to an end of its own.
    if (!this.is('developer', 'stopped')) return;
    await this.work.act(async (signal) => {
      const dialogue = await this.link.attached();
      if (dialogue.next !== 'nobody') await dialogue.endNow();
      await this.play.finish(signal);
    });
  }

  /** @param reason logged as it is */
  async skip(reason: string): Promise<void> {
    if (!this.fits('to be skipped', 'choosing', 'developer', 'stopped')) return;
    await this.work.act(async () => {
      await this.link.abandon('skipped', reason);
      // Now it may be told who wrote the candidates.
      this.scene.rest(await this.link.claimed());
    });
  }

  async gradeAgain(): Promise<void> {
    if (!this.fits('a grade', 'over')) return;
    if (this.scene.grade !== undefined || isOwnFunction(this.task)) {
      this.note('another grade');
      return;
    }
    await this.work.act((signal) => this.play.finish(signal));
  }

  /** What the developer has said in other dialogues of this log, from the oldest to the newest. */
  async earlierReplies(): Promise<readonly string[]> {
    const by = this.parts.consent.given?.pseudonym;
    if (this.id === undefined || by === undefined) return [];
    return earlierReplies(await this.parts.log(), by, this.id);
  }

  /** Resolves when nothing is being written or graded any more. */
  settled(): Promise<void> {
    return this.work.settled();
  }

  dispose(): void {
    this.scene.feed.dispose();
    this.work.dispose();
  }

  private get takesReply(): boolean {
    return this.is('developer') && this.work.isIdle && this.parts.consent.given !== undefined;
  }

  /** @returns whether it is in the log as the developer's reply */
  private async say(draft: Draft): Promise<boolean> {
    const { parts, play } = this;
    const by = parts.consent.given?.pseudonym;
    if (!this.takesReply || by === undefined) {
      this.note('a reply');
      return false;
    }
    const waited = play.waited;
    let isSaid = false;
    await this.work.act(async (signal) => {
      await parts.consent.record();
      await play.takeSeatIfWanted();
      const dialogue = await this.link.attached();
      const milliseconds = waited === undefined ? {} : { milliseconds: waited };
      await dialogue.reply(draft.text, { ...authorOf(draft), by, ...milliseconds });
      isSaid = true;
      showLastTurn(dialogue, this.scene);
      await play.on(signal);
    });
    return isSaid;
  }

  private warnsOfLeak(text: string): boolean {
    const said = limitReply(text, this.state.replyLimit);
    const { fraction, leaked } = measureLeak(this.task.reference, said);
    if (!leaked) return false;
    const passages = leakedPassages(this.task.reference, said);
    this.scene.warning = { percent: Math.round(fraction * 100), passages };
    this.scene.feed.emit({ type: 'leak-warning', ...this.scene.warning });
    return true;
  }

  private is(...phases: readonly SessionState['phase'][]): boolean {
    return phases.includes(this.scene.phase);
  }

  /** As `is`, for what a person asks of it: what does not fit is noted. */
  private fits(what: string, ...phases: readonly SessionState['phase'][]): boolean {
    if (this.is(...phases)) return true;
    this.note(what);
    return false;
  }

  /** A view that lags behind asks for what can no longer be done, and so does a key that is pressed twice. */
  private note(what: string): void {
    const sentence = `The view asked for ${what}, which does not fit what the session does now (${this.scene.phase}). Nothing was done.`;
    this.parts.report(new Fault('session/not-now', sentence));
  }
}
