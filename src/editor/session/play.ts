import type { Dialogue } from '../../core/dialogue/dialogue';
import type { Suggestion } from '../../../webview/session/protocol';
import type { DialogueLink } from './link';
import { notices } from './notices';
import type { SessionParts } from './parts';
import type { Scene } from './scene';
import { agentSpeaks, simulatorSpeaks } from './spoken';
import { gradeView } from './view';

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
    else scene.enter('developer');
  }

  /** The agent writes its last message anew; the one before stands until then. */
  async anotherSample(signal: AbortSignal): Promise<void> {
    const { scene } = this;
    const dialogue = await this.link.attached();
    const before = dialogue.turns.at(-1)?.agent.text;
    scene.enter('agent');
    await agentSpeaks(dialogue, scene.feed, signal, 'anotherSample');
    this.agentSpokeAt = Date.now();
    if (dialogue.turns.at(-1)?.agent.text === before) scene.notice = notices.sameSample();
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
      return { text, by: name };
    } finally {
      scene.isSuggesting = false;
    }
  }

  /** The configured simulator answers this one turn. */
  async simulatorTurn(signal: AbortSignal): Promise<void> {
    this.scene.enter('simulator');
    await simulatorSpeaks(await this.link.attached(), this.scene.feed, signal);
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
    scene.enter('grading');
    const dialogue = await this.link.attached();
    const grade = await dialogue.grade(await parts.grader(), parts.gradingMode, signal);
    scene.grade = gradeView(dialogue.task, grade);
    scene.enter('over');
  }

  private async agentTurn(dialogue: Dialogue, signal: AbortSignal): Promise<void> {
    this.scene.enter('agent');
    await agentSpeaks(dialogue, this.scene.feed, signal);
    this.agentSpokeAt = Date.now();
  }
}
