import { isDeepStrictEqual } from 'node:util';
import type { Protocol } from '../../core/dialogue/protocol';
import { isOwnFunction } from '../../core/task/own';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type {
  AnswerDecision,
  DialogueRating,
  GradeView,
  LeakWarning,
  Notice,
  PanelState,
  Phase,
  Seat,
  SessionState,
  ToWebview,
} from '../../../webview/session/protocol';
import { calledOf, modelsIn } from '../models/called';
import { taskTitle } from '../../core/task/title';
import type { Translate } from '../translate';
import { Feed } from './feed';
import type { DialogueLink, SessionTask } from './link';
import type { SessionParts } from './parts';
import { resting, type Resting } from './resting';
import { taskView } from './view';

/** Where a session stands, as a person is shown it. The view is told of every change. */
export class Scene {
  phase: Phase = 'ready';
  seat: Seat = 'developer';
  notice: Notice | undefined;
  /** The agent of a dialogue that is over: whoever is chosen since plays the next one. */
  playedBy: string | undefined;
  /** Why the draft was not sent, until the person does something else. */
  warning: LeakWarning | undefined;
  grade: GradeView | undefined;
  rating: DialogueRating = {};
  decision: AnswerDecision | undefined;
  isSuggesting = false;
  /** The simulator that drafted what the developer is writing. */
  drafter: string | undefined;
  hasNext = false;
  hasGuidelines = false;
  readonly feed = new Feed();
  private loggedAnswer: string | undefined;
  /** The limits that the dialogue was begun with, whatever the settings say now. */
  private protocol: Protocol | undefined;

  constructor(
    private readonly parts: SessionParts,
    private readonly from: SessionTask,
    private readonly link: DialogueLink,
  ) {}

  get t(): Translate {
    return this.parts.t;
  }

  get title(): string {
    return this.from.title ?? taskTitle(this.from.task);
  }

  /** The agent's final answer, once there is one; what is graded and compared. */
  get answer(): string | undefined {
    return this.link.dialogue?.answer ?? this.loggedAnswer;
  }

  get collaboratorsMove(): boolean {
    const last = this.feed.turns.at(-1);
    return last !== undefined && last.reply === undefined && this.answer === undefined;
  }

  get state(): SessionState {
    const { parts, phase, seat, notice, grade, rating, decision, from } = this;
    const { maxTurns, replyLimit } = this.link.dialogue?.protocol ?? this.protocol ?? parts.protocol;
    const played = this.feed.turns.length;
    const agentsMove = played === 0 || this.feed.turns.at(-1)?.reply !== undefined;
    const own = parts.consent.given?.pseudonym;
    const hasConsent = own !== undefined;
    const asksConsent = !hasConsent && ['ready', 'choosing', 'developer'].includes(phase);
    const { restriction } = parts;
    const secondAgent = parts.showsCandidates && parts.secondAgentName !== '' ? [parts.secondAgentName] : [];
    const drafter = this.drafter === undefined ? [] : [this.drafter];
    const agent = (phase === 'over' ? this.playedBy : undefined) ?? parts.agentName;
    const models = [agent, ...secondAgent, parts.simulatorName, ...drafter];
    const isRefused =
      restriction !== undefined && ['ready', 'choosing', 'developer', 'stopped'].includes(phase);
    const canEnd = played > 0 && ['agent', 'candidates', 'simulator', 'developer', 'stopped'].includes(phase);
    return {
      phase: phase === 'ready' && parts.agentName === '' ? 'no-agent' : phase,
      seat,
      turn: Math.min(agentsMove && phase !== 'over' ? played + 1 : played, maxTurns),
      maxTurns,
      replyLimit,
      agent,
      ...(secondAgent.length > 0 && { secondAgent: parts.secondAgentName }),
      simulator: parts.simulatorName,
      called: calledOf([...models, ...modelsIn(this.feed.turns)], parts),
      hasNext: this.hasNext,
      hasGuidelines: this.hasGuidelines,
      ...(from.pack !== undefined && { canReplay: true }),
      ...(isOwnFunction(from.task) && { onlyDeveloperKnows: true }),
      ...(decision !== undefined && { decision }),
      ...(this.needsSimulator && { needsSimulator: true }),
      showsCounters: parts.showsCounters,
      ...(this.isSuggesting && { isSuggesting: true }),
      ...(canEnd && { canEnd }),
      ...(isRefused && { restriction }),
      ...(hasConsent && { own, rating }),
      ...(notice === undefined ? {} : { notice }),
      ...(asksConsent ? { consent: { ...parts.consent.suggestion, folder: parts.dataFolder } } : {}),
      ...(grade === undefined ? {} : { grade }),
    };
  }

  private get needsSimulator(): boolean {
    const { simulatorName } = this.parts;
    return simulatorName === '' || (simulatorName === 'rules' && (this.from.task.facts ?? []).length === 0);
  }

  /** Everything a view needs to begin with, but for the draft. */
  get snapshot(): Omit<Extract<ToWebview, { type: 'snapshot' }>, 'draft'> {
    const { warning } = this;
    const { stream, candidates, turns } = this.feed;
    return {
      type: 'snapshot',
      panel: this.panelState,
      task: { ...taskView(this.from.task, this.from.packName), title: this.title },
      state: this.state,
      turns,
      ...(stream === undefined ? {} : { stream }),
      ...(candidates === undefined ? {} : { candidates }),
      ...(warning === undefined ? {} : { warning }),
    };
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.refresh();
  }

  refresh(): void {
    this.feed.showState(this.state);
  }

  /** The dialogue has begun and has an identity in the log. */
  begun(): void {
    this.feed.emit({ type: 'panel', panel: this.panelState });
  }

  /** Whether the log has more of the dialogue than is shown: another window or a command has gone on with it. */
  isBehind(trajectory: Trajectory): boolean {
    const { phase, grade, answer, decision } = this;
    const { turns, candidates } = this.feed;
    const there = resting(trajectory, this.parts.t);
    return !isDeepStrictEqual(
      position(there),
      position({ phase, turns, candidates, answer, grade, decision }),
    );
  }

  /** Shows the dialogue as the log has it. */
  rest(trajectory: Trajectory): void {
    const { turns, candidates, answer, ...rest } = resting(trajectory, this.parts.t);
    this.playedBy = trajectory.agent;
    this.feed.showTurns(turns);
    this.feed.showCandidates(candidates);
    this.warning = undefined;
    this.loggedAnswer = answer;
    this.protocol = trajectory.started.protocol;
    ({ phase: this.phase, notice: this.notice, seat: this.seat } = rest);
    ({ grade: this.grade, rating: this.rating, decision: this.decision } = rest);
  }

  private get panelState(): PanelState {
    const { pack, task } = this.from;
    return { episode: this.link.id, source: pack === undefined ? undefined : { pack, task: task.id } };
  }
}

/** How far a dialogue has come, by what is seen of it. */
function position({
  phase,
  turns,
  candidates,
  answer,
  grade,
  decision,
}: Pick<Resting, 'phase' | 'turns' | 'candidates' | 'answer' | 'grade' | 'decision'>): unknown {
  return {
    said: turns.map(({ visible, reply }) => [visible, reply?.text]),
    candidates: candidates?.map(({ visible }) => visible),
    answer,
    isSkipped: phase === 'skipped',
    isGraded: grade !== undefined,
    decision,
  };
}
