import type { EventEmitter } from 'node:events';
import type { AgentDialogue, AgentSeatAction, AgentSeatView } from '../../../webview/seat/protocol';
import type { Dialogue } from '../../core/dialogue/dialogue';
import { agentText } from '../../core/dialogue/protocol';
import type { Grade } from '../../core/grading/grade';
import { gradeView } from '../../views/gradeView';
import { english } from '../../views/translate';
import { taskView, turnView } from '../../views/turnView';
import { Changes } from './changes';

interface OpenDialogue {
  readonly dialogue: Dialogue;
  readonly pack: string | undefined;
  /** Pseudonym of the developer, who is not asked to answer their own request. */
  readonly developer: string;
  /** Tells the developer's page. */
  readonly changed: () => void;
}

/** The agent's seat of one dialogue. */
export interface AgentPlace extends OpenDialogue {
  phase: AgentPhase;
  /** Pseudonym of the person in the agent's seat. */
  agent: string | undefined;
  grade: Grade | undefined;
  notice: string | undefined;
  /** Present while a message is awaited. */
  said: (() => void) | undefined;
}

type AgentPhase = Extract<AgentSeatView, { dialogue: unknown }>['phase'];

interface AgentPerson {
  readonly name: string;
  readonly changes: Changes;
  place: AgentPlace | undefined;
  /** Open requests of the person's pages. */
  open: number;
  isHere: boolean;
}

/** A page asks again at once; one that is loaded again takes a moment. */
const ABSENT_AFTER_MS = 5000;

/** People who play the agent in a browser: each takes the dialogue that has waited longest, one at a time. */
export class AgentSeats {
  private readonly places = new Set<AgentPlace>();
  private readonly people = new Map<string, AgentPerson>();

  constructor(private readonly absentAfterMs = ABSENT_AFTER_MS) {}

  /** The place of this dialogue. It stays with the person who wrote its last message. */
  open(one: OpenDialogue): AgentPlace {
    const { id, turns } = one.dialogue;
    const known = [...this.places].find(({ dialogue }) => dialogue.id === id);
    if (known?.dialogue === one.dialogue) return known;
    if (known !== undefined) {
      this.leave(known);
      this.places.delete(known);
    }
    const place: AgentPlace = {
      ...one,
      ...{ phase: 'developer', agent: turns.at(-1)?.agent.by },
      ...{ grade: undefined, notice: undefined, said: undefined },
    };
    this.places.add(place);
    return place;
  }

  /** Resolves when the agent's message is in the log. @throws the reason of the signal */
  async message(place: AgentPlace, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        place.said = undefined;
        reject(signal.reason as Error);
      };
      place.said = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
      this.show(place, 'agent');
    });
  }

  show(place: AgentPlace, phase: AgentPhase, result: { grade?: Grade; notice?: string } = {}): void {
    place.phase = phase;
    place.grade = result.grade;
    place.notice = result.notice;
    if (phase === 'over') this.places.delete(place);
    this.personOf(place)?.changes.next();
    this.seat();
  }

  /** True while no person sits in the agent's seat of this dialogue. */
  isAway(place: AgentPlace): boolean {
    return this.personOf(place)?.isHere !== true;
  }

  /** The person is here until the last of these connections is closed, and for a moment longer. */
  attend(name: string, connection: EventEmitter): void {
    const person = this.person(name);
    person.open++;
    this.setHere(person, true);
    connection.once('close', () => {
      person.open--;
      setTimeout(() => this.setHere(person, person.open > 0), this.absentAfterMs).unref();
    });
  }

  async viewAfter(name: string, version: number | undefined, milliseconds: number): Promise<AgentSeatView> {
    await this.person(name).changes.after(version, milliseconds);
    return this.view(name);
  }

  view(name: string): AgentSeatView {
    const { place, changes } = this.person(name);
    const head = { version: changes.version, own: name };
    if (place === undefined) return { ...head, phase: 'waiting' };
    const { phase, grade, notice } = place;
    const dialogue = agentDialogue(place);
    if (phase !== 'over') return { ...head, phase, dialogue };
    const { task, turns, answer } = place.dialogue;
    const shown = grade && gradeView({ task, turns, answer, own: name }, grade, english);
    return { ...head, phase, dialogue, grade: shown, notice };
  }

  /** Does what fits the moment, and nothing else: another tab may have been faster. */
  async act(action: Exclude<AgentSeatAction, { type: 'consent' }>): Promise<AgentSeatView> {
    const person = this.person(action.pseudonym);
    const { place } = person;
    if (action.type === 'say') await this.say(person, action);
    else if (place?.phase === 'over' || place?.phase === 'developer') {
      this.leave(place);
      place.changed();
      this.seat();
    }
    return this.view(person.name);
  }

  close(): void {
    for (const { changes } of this.people.values()) changes.wake();
  }

  private async say(
    { name, place }: AgentPerson,
    { dialogue: id, turn, text, isAnswer }: Extract<AgentSeatAction, { type: 'say' }>,
  ): Promise<void> {
    const { dialogue, said } = place ?? {};
    if (place === undefined || dialogue === undefined || said === undefined) return;
    if (dialogue.id !== id || dialogue.turns.length + 1 !== turn) return;
    // Another message of this turn, from another tab, is refused meanwhile.
    place.said = undefined;
    try {
      await dialogue.agentSaid(agentText(text, isAnswer), name);
    } catch (error) {
      place.said = said;
      throw error;
    }
    this.show(place, dialogue.next === 'nobody' ? 'grading' : 'developer');
    said();
  }

  private person(name: string): AgentPerson {
    const known = this.people.get(name);
    if (known !== undefined) return known;
    const person: AgentPerson = { name, changes: new Changes(), place: undefined, open: 0, isHere: false };
    this.people.set(name, person);
    return person;
  }

  private personOf(place: AgentPlace): AgentPerson | undefined {
    const person = place.agent === undefined ? undefined : this.people.get(place.agent);
    return person?.place === place ? person : undefined;
  }

  private setHere(person: AgentPerson, isHere: boolean): void {
    if (person.isHere === isHere) return;
    person.isHere = isHere;
    person.place?.changed();
    this.seat();
  }

  /** Gives everyone who has no dialogue one of their own to continue, or else the first that waits for anyone. */
  private seat(): void {
    for (const person of this.people.values()) {
      if (!person.isHere || person.place !== undefined) continue;
      const places = [...this.places].filter(({ developer }) => developer !== person.name);
      const place =
        places.find(({ agent }) => agent === person.name) ??
        places.find((one) => one.phase === 'agent' && this.isAway(one));
      if (place === undefined) continue;
      this.leave(place);
      place.agent = person.name;
      person.place = place;
      person.changes.next();
      place.changed();
    }
  }

  /** The person in the place gets another one. */
  private leave(place: AgentPlace): void {
    const person = this.personOf(place);
    place.agent = undefined;
    if (person === undefined) return;
    person.place = undefined;
    person.changes.next();
  }
}

/** What the agent's person may know of a dialogue: the request and what both have said. */
function agentDialogue({ dialogue, pack, developer, phase }: AgentPlace): AgentDialogue {
  const { task, turns, protocol } = dialogue;
  const { title, description } = taskView(task, pack);
  return {
    ...{ id: dialogue.id, title, description, developer, maxTurns: protocol.maxTurns },
    turn: Math.min(phase === 'agent' ? turns.length + 1 : turns.length, protocol.maxTurns),
    turns: turns.map((turn) => {
      const { visible, final, reply } = turnView(turn);
      return { turn: turn.agent.turn, visible, final, reply: reply?.text };
    }),
  };
}
