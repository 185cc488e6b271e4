import type { Task } from '../task/task';
import type { Collaborator, EventOf, Parting, ReviewState } from './event';

export interface ShownCandidates {
  readonly shown: EventOf<'candidates'>;
  /** Absent before the person has chosen. */
  readonly choice?: EventOf<'choice'>;
}

/** The choice may be that neither is good enough. */
export interface Choice extends ShownCandidates {
  readonly choice: EventOf<'choice'>;
  /** Choices that others made between the same candidates after the dialogue: the last one of each person. */
  readonly judgements?: readonly EventOf<'judgement'>[];
}

/** The last turn has no reply. */
export interface Turn {
  readonly agent: EventOf<'agent-turn'>;
  /** The candidates that the message was chosen from, after those that were rejected. Absent if no one chose. */
  readonly candidates?: readonly Choice[];
  /** Earlier samples of the message, which the developer had the agent replace. */
  readonly superseded?: readonly EventOf<'agent-turn'>[];
  readonly reply?: EventOf<'reply'>;
  readonly leak?: EventOf<'leak'>;
  /** The last rating with a thumb, whoever gave it; the last remark if there is no thumb. */
  readonly rating?: EventOf<'turn-rating'>;
  /** Of each person, in the order they were given. */
  readonly ratings?: readonly EventOf<'turn-rating'>[];
  /** On critics: the last one of each person on each critic. */
  readonly verdicts?: readonly EventOf<'credit-verdict'>[];
}

/** `open`: neither finished nor abandoned, e.g. after the process died. */
export type TrajectoryState = 'open' | 'answered' | 'abandoned';

/** One episode, folded from its events in the order they were logged. */
export interface Trajectory {
  readonly id: string;
  readonly task: Task;
  readonly started: EventOf<'episode-started'>;
  /** The agent that has spoken last, or else the one that it was started with. */
  readonly agent: string;
  /** After any hand-over. */
  readonly collaborator: Collaborator;
  readonly state: TrajectoryState;
  readonly turns: readonly Turn[];
  /** Candidates for the message after the last turn, which is not said yet. */
  readonly pending?: readonly ShownCandidates[];
  readonly answer?: EventOf<'answered'>;
  /** The hand-overs in order; `turn` is the agent's last turn at that time. */
  readonly handOvers: readonly EventOf<'hand-over'>[];
  readonly grades: readonly EventOf<'grade'>[];
  /** The last rating with stars, whoever gave it; the last remark if there are no stars. */
  readonly rating?: EventOf<'rating'>;
  /** Of each person, in the order they were given. */
  readonly ratings?: readonly EventOf<'rating'>[];
  /** The last label of each person, in the order in which their titles were given. */
  readonly labels?: readonly EventOf<'label'>[];
  /** Absent until someone reviews the dialogue, and after it was taken up again. */
  readonly review?: DialogueReview;
  readonly outcome?: EventOf<'outcome'>;
  readonly abandoned?: EventOf<'abandoned'>;
  /** One sentence, if lines of this episode are missing from the log or unreadable. */
  readonly damaged?: string;
  /** One sentence, if lost lines may have deleted this dialogue or marked a leak in it. */
  readonly doubtful?: string;
}

export type DialogueReview = EventOf<'review'> & { readonly state: ReviewState };

/** The fields that a list shows; all come from the index, without reading the episode. */
export interface TrajectorySummary {
  readonly id: string;
  readonly taskId: string;
  readonly pack?: string;
  readonly agent: string;
  readonly collaborator: Collaborator;
  readonly startedAt: string;
  readonly state: TrajectoryState;
  readonly abandoned?: 'cancelled' | 'failed' | 'skipped';
  readonly turns: number;
  readonly grades: Partial<Record<'fixed' | 'paper', { reward: number | null; success: boolean | null }>>;
  /** Highest leak of any turn, 0 to 1, and whether one was marked. */
  readonly leak: number;
  readonly leaked: boolean;
  /** True if lost lines may have deleted it or marked a leak in it. */
  readonly doubtful?: true;
  /** Number of choices between two candidates, including rejections of both. */
  readonly choices: number;
  /** Number of verdicts, one per turn, critic and person; absent if there are none. */
  readonly verdicts?: number;
  readonly stars?: number;
  /** The last person in the collaborator's seat; absent if only simulators had it. */
  readonly player?: string;
  readonly raters?: number;
  readonly review?: ReviewState;
  readonly reviewReason?: string;
  readonly title?: string;
  readonly tags?: readonly string[];
  /** Notes of all people, one below the other. */
  readonly note?: string;
  /** Number of a developer's replies with a known time, and the sum of those times. */
  readonly replyTime?: { readonly replies: number; readonly milliseconds: number };
  readonly seed: number;
  readonly rollout?: number;
  readonly collection?: string;
  /** Of a fork: the dialogue that it continues otherwise, and where. */
  readonly parent?: Parting & { readonly id: string };
}

export const isChoice = (shown: ShownCandidates): shown is Choice => shown.choice !== undefined;

/** The first one first; candidates without a choice are left out. */
export function choicesOf({ turns, pending = [] }: Pick<Trajectory, 'turns' | 'pending'>): Choice[] {
  const chosen = turns.filter(({ candidates }) => candidates);
  return [...chosen.flatMap(({ candidates = [] }) => candidates), ...pending.filter(isChoice)];
}

/**
 * True if the authors of a dialogue's candidates may be revealed, because no one will choose in it any more. A dialogue
 * that was cancelled or failed can be resumed, so its authors stay hidden.
 */
export function isOver(state: Trajectory['state'], abandoned: TrajectorySummary['abandoned']): boolean {
  return state === 'answered' || abandoned === 'skipped';
}

/**
 * Pseudonyms of all who played the agent or the collaborator, wrote or edited a reply, or chose; of a fork also those of
 * its parent. Those who only rate, label, review or judge the dialogue afterwards are left out.
 */
export function developersOf(trajectory: Trajectory): Set<string> {
  const { started, collaborator, turns } = trajectory;
  const developers = new Set(started.parent?.people);
  for (const seat of [started.collaborator, collaborator]) {
    if (seat.kind === 'developer') developers.add(seat.name);
  }
  for (const { agent, reply } of turns) {
    if (agent.by !== undefined) developers.add(agent.by);
    if (reply && reply.author !== 'simulator') developers.add(reply.by);
  }
  for (const { choice } of choicesOf(trajectory)) developers.add(choice.by);
  return developers;
}

/** Numbers of turns that a fork repeats, whose agent's message or whose reply is its parent's; 0 if there are none. */
export function inheritedBy(parting: Parting | undefined): {
  readonly messages: number;
  readonly replies: number;
} {
  if (parting === undefined) return { messages: 0, replies: 0 };
  const { turn, by } = parting;
  return { messages: by === 'reply' ? turn : turn - 1, replies: turn - 1 };
}

/** The last person in the collaborator's seat, also after it went to a simulator. */
export function playerOf({
  started,
  handOvers,
}: Pick<Trajectory, 'started' | 'handOvers'>): string | undefined {
  const seats = [started.collaborator, ...handOvers.map(({ to }) => to)];
  return seats.findLast(({ kind }) => kind === 'developer')?.name;
}
