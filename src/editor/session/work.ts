import { Fault } from '../../core/fault';
import type { Phase } from '../../../webview/session/protocol';
import type { DialogueLink } from './link';
import { stoppedWords } from '../reasons';
import { english } from '../translate';
import { failureLogged, isPlayedElsewhere, noticeOf, notices } from './notices';
import type { SessionParts } from './parts';
import type { Play } from './play';
import type { Scene } from './scene';

/** What a person asked for: one thing at a time, which can be stopped. What goes wrong becomes a notice. */
export class Work {
  /** Set while the agent, the simulator or the grader works. */
  private current: AbortController | undefined;
  private running: Promise<void> = Promise.resolve();
  private disposed = false;

  constructor(
    private readonly parts: SessionParts,
    private readonly link: DialogueLink,
    private readonly scene: Scene,
    private readonly play: Play,
  ) {}

  get isIdle(): boolean {
    return this.current === undefined;
  }

  /** As `perform`, on what the person sees. A dialogue that has gone on in another window is shown as it is now instead. */
  act(what: (signal: AbortSignal) => Promise<void>): Promise<void> {
    return this.perform(async (signal) => {
      if (!(await this.caughtUp())) await what(signal);
    });
  }

  perform(what: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.current !== undefined) {
      const sentence = 'The view asked for something while something else was under way. Nothing was done.';
      this.parts.report(new Fault('session/busy', sentence));
      return this.running;
    }
    const current = new AbortController();
    this.current = current;
    this.scene.notice = undefined;
    this.scene.warning = undefined;
    const before = this.scene.phase;
    this.running = (async () => {
      try {
        await what(current.signal);
      } catch (error) {
        await this.attempt(() => this.interrupted(error, before, current.signal.aborted));
      } finally {
        await this.attempt(() => this.link.letGo());
        this.current = undefined;
        this.scene.feed.showStream(undefined);
        if (this.scene.phase !== 'choosing') this.scene.feed.showCandidates(undefined);
        this.scene.refresh();
      }
    })();
    return this.running;
  }

  /** Runs what may fail without changing whose move it is. */
  async attempt(what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      if (isPlayedElsewhere(error)) {
        this.showOnly(error, this.scene.phase);
      } else {
        this.parts.report(error);
        this.scene.notice = noticeOf(error, 'agent', this.parts.t);
      }
    } finally {
      if (this.isIdle) await this.link.letGo();
    }
    this.scene.refresh();
  }

  async stop(): Promise<void> {
    this.current?.abort();
    await this.running;
  }

  /** Resolves when nothing is being written or graded any more. */
  settled(): Promise<void> {
    return this.running;
  }

  dispose(): void {
    this.disposed = true;
    this.current?.abort();
    this.running.then(() => this.link.letGo()).catch((error: unknown) => this.parts.report(error));
  }

  /** @returns whether the dialogue had gone on elsewhere; then it is shown as the log has it now */
  private async caughtUp(): Promise<boolean> {
    const { link, scene } = this;
    if (link.id === undefined) return false;
    const trajectory = await link.claimed();
    if (!scene.isBehind(trajectory)) return false;
    const wentOn = notices.wentOn(this.parts.t);
    // Told before the turns, which a view would else take for the outcome of what it has sent.
    scene.notice = wentOn;
    scene.refresh();
    link.release();
    scene.rest(trajectory);
    scene.notice ??= wentOn;
    return true;
  }

  /** Work was stopped or failed: the log says so where the dialogue cannot go on, and the person decides. */
  private async interrupted(error: unknown, before: Phase, stopped: boolean): Promise<void> {
    // The panel was closed: the dialogue stays open in the log, as after a reload.
    if (this.disposed) return;
    if (isPlayedElsewhere(error)) {
      this.showOnly(error, before);
      return;
    }
    const { scene, play } = this;
    const { t } = this.parts;
    const during = scene.phase;
    const samples = during === 'agent' && scene.collaboratorsMove;
    const party =
      during !== 'agent' && (during === 'simulator' || scene.collaboratorsMove) ? 'simulator' : 'agent';
    if (!stopped) {
      this.parts.report(error);
      scene.notice = noticeOf(error, during === 'grading' ? 'grader' : party, t);
    }
    if (during === 'grading') {
      scene.notice ??= notices.notGraded(t);
      scene.enter('over');
    } else if (this.link.id === undefined) {
      scene.enter('ready');
    } else if (play.seatWanted || (scene.seat === 'developer' && scene.collaboratorsMove)) {
      if (stopped && samples) scene.notice = notices.sampleStopped(t);
      scene.enter('developer');
      await play.takeSeatIfWanted();
    } else {
      if (stopped) scene.notice = notices.stopped(t, party);
      scene.enter(before === 'skipped' ? 'skipped' : 'stopped');
      if (stopped) await this.link.abandon('cancelled', stoppedWords(party, english));
      else await this.link.abandon('failed', failureLogged(error));
    }
  }

  /** Nothing can be done here while the dialogue is played elsewhere, but to ask again. */
  private showOnly(fault: Fault, before: Phase): void {
    const { scene, play } = this;
    this.parts.report(fault);
    play.seatWanted = false;
    scene.notice = notices.elsewhere(fault.message, before === 'over');
    scene.enter(before === 'over' || before === 'skipped' ? before : 'stopped');
  }
}
