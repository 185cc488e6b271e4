import type { Dialogue } from '../../core/dialogue/dialogue';
import { isOwnFunction } from '../../core/task/own';
import type { EventOf } from '../../core/trajectory/event';
import type { Picked, Suggestion } from '../../../webview/session/protocol';
import { candidatesView, candidatesWritten } from './candidates';
import type { DialogueLink } from './link';
import { notices } from './notices';
import type { SessionParts } from './parts';
import type { Scene } from './scene';
import { agentSpeaks, showLastTurn, simulatorSpeaks } from './spoken';
import { gradeView, turnView } from './view';

/** Moves a dialogue on: the agent speaks, whoever has the seat answers, and at the end the answer is graded. */
export class Play {
  /** The developer wants the seat back; it is logged as soon as the dialogue can take it. */
  seatWanted = false;
  private agentSpokeAt: number | undefined;

  constructor(
    private readonly parts: SessionParts,
    private readonly link: DialogueLink,
    private readonly scene: Scene,
  ) {}

  /** Milliseconds since the agent's last message, if it was heard here. */
  get waited(): number | undefined {
    return this.agentSpokeAt === undefined ? undefined : Date.now() - this.agentSpokeAt;
  }

  /** Plays until it is the developer's move or the dialogue is over. */
  async on(signal: AbortSignal): Promise<void> {
    const { scene } = this;
    if (scene.phase !== 'agent' && scene.phase !== 'simulator') {
      scene.enter(scene.collaboratorsMove ? 'simulator' : 'agent');
    }
    const dialogue = await this.link.attached();
    while (dialogue.next === 'agent' || (dialogue.next === 'collaborator' && scene.seat === 'simulator')) {
      if (dialogue.next === 'agent') await this.agentTurn(dialogue, signal);
      else await this.simulatorTurn(signal);
    }
    if (dialogue.next === 'nobody') await this.finish(signal);
    else if (dialogue.next === 'chooser') this.offer(dialogue.candidates!);
    else scene.enter('developer');
  }

  /** Goes on with what the developer chose; two other candidates follow when neither would do. */
  async choose(picked: Picked, by: string): Promise<void> {
    const { scene, waited } = this;
    const dialogue = await this.link.attached();
    await dialogue.choose(picked, { by, ...(waited !== undefined && { milliseconds: waited }) });
    scene.feed.showCandidates(undefined);
    if (picked !== 'neither') showLastTurn(dialogue, scene);
    this.agentSpokeAt = Date.now();
  }

  /** The agent writes its last message anew; the one before stands until then. */
  async anotherSample(signal: AbortSignal): Promise<void> {
    const { scene } = this;
    const dialogue = await this.link.attached();
    const before = dialogue.turns.at(-1)?.agent.text;
    scene.enter('agent');
    await agentSpeaks(dialogue, scene, signal, 'anotherSample');
    this.agentSpokeAt = Date.now();
    if (dialogue.turns.at(-1)?.agent.text === before) scene.notice = notices.sameSample(this.parts.t);
  }

  /** The configured simulator drafts a reply for the developer. */
  async suggest(signal: AbortSignal): Promise<Suggestion> {
    const { scene } = this;
    scene.isSuggesting = true;
    scene.refresh();
    try {
      const { name } = await this.link.simulatorNow();
      const text = await (await this.link.attached()).suggest({ signal });
      signal.throwIfAborted();
      scene.drafter = name;
      return { text, by: name };
    } finally {
      scene.isSuggesting = false;
    }
  }

  /** The configured simulator answers this one turn. */
  async simulatorTurn(signal: AbortSignal): Promise<void> {
    this.scene.enter('simulator');
    await simulatorSpeaks(await this.link.attached(), this.scene, signal);
  }

  /** The simulator has the seat from here on. */
  async giveSeat(): Promise<void> {
    const simulator = await this.link.simulatorNow();
    const dialogue = await this.link.attached();
    await dialogue.handOver({ kind: simulator.kind, name: simulator.name }, simulator);
    this.scene.seat = 'simulator';
  }

  async takeSeatIfWanted(): Promise<void> {
    const consent = this.parts.consent.given;
    if (!this.seatWanted || consent === undefined) return;
    this.seatWanted = false;
    if (this.scene.seat === 'developer') return;
    await (await this.link.attached()).handOver({ kind: 'developer', name: consent.pseudonym });
    this.scene.seat = 'developer';
  }

  /** Grades the answer. */
  async finish(signal: AbortSignal): Promise<void> {
    const { parts, scene } = this;
    const dialogue = await this.link.attached();
    scene.playedBy = parts.agentName;
    // Nothing tests a developer's own function: what becomes of the answer is decided in the file.
    if (isOwnFunction(dialogue.task)) {
      scene.feed.showTurns(dialogue.turns.map((turn) => turnView(turn, parts.t, true)));
      scene.enter('over');
      return;
    }
    scene.enter('grading');
    // Now it may be told who wrote the candidates.
    scene.feed.showTurns(dialogue.turns.map((turn) => turnView(turn, parts.t, true)));
    const grade = await dialogue.grade(await parts.grader(), parts.gradingMode, signal);
    scene.grade = gradeView(dialogue.task, grade, parts.t, dialogue.answer);
    scene.enter('over');
  }

  private async agentTurn(dialogue: Dialogue, signal: AbortSignal): Promise<void> {
    const { parts, scene } = this;
    if (!parts.showsCandidates || scene.seat !== 'developer') {
      scene.enter('agent');
      await agentSpeaks(dialogue, scene, signal);
    } else {
      scene.enter('candidates');
      await candidatesWritten(dialogue, this.link.secondAgent(), signal);
      // Two that look alike have become a turn at once.
      if (dialogue.next !== 'chooser') {
        scene.notice = notices.lookAlike(parts.t);
        showLastTurn(dialogue, scene);
      }
    }
    this.agentSpokeAt = Date.now();
  }

  private offer(candidates: EventOf<'candidates'>): void {
    this.scene.feed.showCandidates(candidatesView(candidates));
    this.scene.enter('choosing');
  }
}
