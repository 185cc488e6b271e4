import type { SeatAction, SeatAnswer, SeatTask, SeatView } from '../../../webview/seat/protocol';
import type { PackTask } from '../../core/dialogue/collect';
import { Dialogue } from '../../core/dialogue/dialogue';
import type { DialogueParts } from '../../core/dialogue/dialogueParts';
import { leakWarningOf } from '../../core/dialogue/leak';
import { limitReply, type Protocol } from '../../core/dialogue/protocol';
import { messageOf } from '../../core/fault';
import type { Grade, GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import { deriveSeed } from '../../core/seed';
import { programOf } from '../../core/task/task';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import { gradeView } from '../../views/gradeView';
import { english } from '../../views/translate';
import { taskView, turnView } from '../../views/turnView';
import type { AgentPlace, AgentSeats } from './agentSeats';
import { Changes } from './changes';
import { nextOf, type SeatTasks } from './seatTasks';

export interface SeatPlan {
  readonly log: TrajectoryLog;
  readonly tasks: SeatTasks;
  readonly parts: DialogueParts;
  readonly protocol: Protocol;
  readonly grader: Grader;
  readonly mode: GradingMode;
  /** Where people play the agent. */
  readonly agents?: AgentSeats;
  /** Aborts when the server is stopped. */
  readonly signal: AbortSignal;
  readonly counts: { begun: number; graded: number };
}

type Reply = Extract<SeatAction, { type: 'reply' }>;

/**
 * A person who plays the developer in a browser, one dialogue at a time; all tabs of the person show the same. The
 * dialogue is claimed while it is open, so that no editor plays it meanwhile.
 */
export class Seat {
  /** Resolves when the first task is there. */
  readonly arrived: Promise<void>;

  private phase: Exclude<SeatView['phase'], 'consent'> = 'done';
  private chosen: (PackTask & { readonly begun?: string }) | undefined;
  private dialogue: Dialogue | undefined;
  private claim: Claim | undefined;
  private grade: Grade | undefined;
  private notice: string | undefined;
  private progress = { done: 0, of: 0 };
  private spokeAt: number | undefined;
  private readonly changes = new Changes();
  private place: AgentPlace | undefined;
  private isBusy = false;
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly pseudonym: string,
    private readonly plan: SeatPlan,
  ) {
    this.arrived = this.choose().then(() => {
      if (this.chosen?.begun !== undefined) this.work(() => this.resume());
    });
  }

  get view(): SeatView {
    const { plan, pseudonym, chosen, dialogue, grade, notice, phase, progress, place } = this;
    const turns = dialogue?.turns ?? [];
    const isAgents = turns.length === 0 || turns.at(-1)?.reply !== undefined;
    const { maxTurns, replyLimit } = dialogue?.protocol ?? plan.protocol;
    return {
      ...{ version: this.changes.version, phase, own: pseudonym, maxTurns, replyLimit, notice, progress },
      agent: place?.agent ?? plan.parts.agent.name,
      isAgentAway: plan.agents && (place === undefined || plan.agents.isAway(place)),
      task: chosen && seatTask(chosen),
      turns: turns.map((turn) => turnView(turn, true)),
      turn: Math.min(isAgents && phase !== 'over' ? turns.length + 1 : turns.length, maxTurns),
      grade:
        chosen &&
        grade &&
        gradeView({ task: chosen.task, turns, answer: dialogue?.answer, own: pseudonym }, grade, english),
    };
  }

  /** Resolves with the next view when the page has this one; with the same one after a while. */
  async viewAfter(version: number | undefined, milliseconds: number): Promise<SeatView> {
    await this.arrived;
    if (!this.plan.signal.aborted) await this.changes.after(version, milliseconds);
    return this.view;
  }

  /** Does what fits the moment, and nothing else: another tab may have been faster. */
  async act(action: Exclude<SeatAction, { type: 'consent' }>): Promise<SeatAnswer> {
    await this.arrived;
    if (this.isBusy || this.plan.signal.aborted) return { view: this.view };
    if (action.type === 'reply') return this.reply(action);
    const { phase } = this;
    if (action.type === 'start' && phase === 'ready') this.work(() => this.begin());
    else if (action.type === 'again' && phase === 'stopped') this.work(() => this.resume());
    else if (action.type === 'again' && phase === 'over') this.work(() => this.gradeAnswer());
    else if (action.type === 'next' && (phase === 'over' || phase === 'done'))
      this.work(async () => {
        await this.choose();
        if (this.chosen !== undefined) await this.resume();
      });
    return { view: this.view };
  }

  /** Ends what is under way. The dialogue stays open in the log, and continues when the server is started again. */
  async close(): Promise<void> {
    this.changes.wake();
    await Promise.allSettled([this.arrived, this.working]);
    await this.working;
    await this.letGo();
  }

  private async reply({ task, turn, text, anyway }: Reply): Promise<SeatAnswer> {
    const { dialogue, chosen, phase, pseudonym, spokeAt } = this;
    const isShown = chosen?.task.id === task && dialogue?.turns.length === turn;
    if (dialogue === undefined || phase !== 'developer' || !isShown) return { view: this.view };
    const leak = leakWarningOf(dialogue.task, limitReply(text, dialogue.protocol.replyLimit));
    if (leak !== undefined && !anyway) return { view: this.view, leak };
    const milliseconds = spokeAt === undefined ? undefined : Date.now() - spokeAt;
    this.isBusy = true;
    try {
      await dialogue.reply(text, { author: 'developer', by: pseudonym, milliseconds });
    } catch (error) {
      this.show('developer', messageOf(error));
      return { view: this.view };
    } finally {
      this.isBusy = false;
    }
    this.work(() => this.play());
    return { view: this.view };
  }

  /** The next task. Nothing of it is logged before the person starts. */
  private async choose(): Promise<void> {
    await this.letGo();
    const tasks = await this.plan.tasks.of(this.pseudonym);
    const next = nextOf(tasks);
    this.progress = { done: tasks.filter(({ state }) => state.kind === 'done').length, of: tasks.length };
    this.dialogue = undefined;
    this.place = undefined;
    this.grade = undefined;
    this.spokeAt = undefined;
    this.chosen = next && {
      ...{ task: next.task, pack: next.pack },
      begun: next.state.kind === 'draft' ? next.state.episode : undefined,
    };
    this.show(next === undefined ? 'done' : 'ready');
  }

  private async begin(): Promise<void> {
    const { plan, pseudonym, chosen } = this;
    if (chosen === undefined) return;
    this.show('agent');
    this.dialogue = await Dialogue.start({
      ...plan.parts,
      ...{ task: chosen.task, pack: chosen.pack, protocol: plan.protocol },
      collaborator: { kind: 'developer', name: pseudonym },
      seed: deriveSeed(chosen.task.id, Date.now()),
    });
    this.chosen = { ...chosen, begun: this.dialogue.id };
    plan.counts.begun++;
    await this.hold(this.dialogue.id);
    await this.play();
  }

  private async resume(): Promise<void> {
    const { plan, pseudonym, chosen } = this;
    const episode = chosen?.begun;
    if (episode === undefined) return this.begin();
    this.show('agent');
    await this.hold(episode);
    const trajectory = await plan.log.trajectory(episode);
    if (trajectory === undefined) return this.choose();
    this.dialogue = await Dialogue.resume(trajectory, plan.parts);
    if (this.dialogue.collaborator.kind !== 'developer')
      await this.dialogue.handOver({ kind: 'developer', name: pseudonym });
    await this.play();
  }

  private async play(): Promise<void> {
    const { dialogue, plan } = this;
    if (dialogue === undefined) return;
    const before = dialogue.turns.length;
    if (dialogue.next !== 'nobody') this.place = this.openPlace(dialogue);
    if (dialogue.next === 'agent') {
      this.show('agent');
      if (this.place !== undefined) await plan.agents?.message(this.place, plan.signal);
    }
    await dialogue.play({ signal: plan.signal });
    if (dialogue.next === 'nobody') return this.gradeAnswer();
    if (dialogue.next === 'chooser') {
      this.show('stopped', 'Two messages of the agent wait for a choice, which only the editor can show.');
      return;
    }
    this.spokeAt = dialogue.turns.length > before ? Date.now() : undefined;
    this.show('developer');
  }

  private openPlace(dialogue: Dialogue): AgentPlace | undefined {
    const { plan, chosen, pseudonym: developer, changes } = this;
    return plan.agents?.open({ dialogue, pack: chosen?.pack, developer, changed: () => changes.next() });
  }

  private async gradeAnswer(): Promise<void> {
    const { dialogue, plan } = this;
    if (dialogue === undefined) return;
    this.show('grading');
    let notice: string | undefined;
    try {
      this.grade = await dialogue.grade(plan.grader, plan.mode);
      plan.counts.graded++;
      this.progress = { ...this.progress, done: this.progress.done + 1 };
    } catch (error) {
      notice = `The answer was not graded: ${messageOf(error)}`;
    }
    await this.letGo();
    this.show('over', notice);
  }

  private work(job: () => Promise<void>): void {
    this.isBusy = true;
    this.working = job()
      .catch((error: unknown) => {
        // A server that is stopped has no one to tell.
        if (!this.plan.signal.aborted)
          this.show(this.chosen?.begun === undefined ? 'ready' : 'stopped', messageOf(error));
      })
      .finally(() => {
        this.isBusy = false;
      });
  }

  private show(phase: typeof this.phase, notice?: string): void {
    this.phase = phase;
    this.notice = notice;
    this.changes.next();
    if (this.place !== undefined && (phase === 'developer' || phase === 'grading' || phase === 'over'))
      this.plan.agents?.show(this.place, phase, { grade: this.grade, notice });
  }

  private async hold(episode: string): Promise<void> {
    this.claim ??= await this.plan.log.claim(`episode-${episode}`, 'This dialogue');
  }

  private async letGo(): Promise<void> {
    const { claim } = this;
    this.claim = undefined;
    await claim?.release();
  }
}

function seatTask({ task, pack }: PackTask): SeatTask {
  const { title, description } = taskView(task, pack);
  const { id, reference, testCases } = programOf(task);
  return { id, title, description, reference, tests: testCases.map(({ call }) => call) };
}
