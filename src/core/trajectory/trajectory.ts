import type { Task } from '../task/task';
import type { Collaborator, EventOf } from './event';

/** Two candidates for one message of the agent, and what a person said of them. */
export interface ShownCandidates {
  readonly shown: EventOf<'candidates'>;
  /** Absent while the person has not chosen. */
  readonly choice?: EventOf<'choice'>;
}

/** Candidates of which a person has said which is better, or that none is. */
export type Choice = Required<ShownCandidates>;

/** One agent message and the reply to it. The last turn has no reply. */
export interface Turn {
  readonly agent: EventOf<'agent-turn'>;
  /** What the message was chosen from; before it, candidates of which neither would do. Absent when nobody chose. */
  readonly candidates?: readonly Choice[];
  /** Earlier samples of the message, which the developer had the agent write anew. */
  readonly superseded?: readonly EventOf<'agent-turn'>[];
  readonly reply?: EventOf<'reply'>;
  readonly leak?: EventOf<'leak'>;
  readonly rating?: EventOf<'turn-rating'>;
  /** What people think of what critics say of the message: the last verdict of each person on each critic. */
  readonly verdicts?: readonly EventOf<'credit-verdict'>[];
}

/** `open`: neither finished nor given up, e.g. after the process died. */
export type TrajectoryState = 'open' | 'answered' | 'abandoned';

/** One episode, folded from its events in the order they were logged. */
export interface Trajectory {
  readonly id: string;
  readonly task: Task;
  readonly started: EventOf<'episode-started'>;
  /** Who plays the agent now: who was started with, or went on with it last. */
  readonly agent: string;
  /** Who sits in the seat now, after any hand-over. */
  readonly collaborator: Collaborator;
  readonly state: TrajectoryState;
  readonly turns: readonly Turn[];
  /** Candidates for the message after the last turn, which the agent has not said yet. */
  readonly pending?: readonly ShownCandidates[];
  readonly answer?: EventOf<'answered'>;
  /** Who was given the collaborator's seat, in order; `turn` is the agent's last turn at that time. */
  readonly handOvers: readonly EventOf<'hand-over'>[];
  readonly grades: readonly EventOf<'grade'>[];
  readonly rating?: EventOf<'rating'>;
  /** What became of the answer in the developer's own file. */
  readonly outcome?: EventOf<'outcome'>;
  readonly abandoned?: EventOf<'abandoned'>;
  /** One sentence, when lines of this episode are missing from the log or cannot be read. */
  readonly damaged?: string;
  /** One sentence, when lines were lost of which nobody can tell whether they deleted this dialogue or marked a leak in it. */
  readonly doubtful?: string;
}

/** What a list shows of a trajectory; everything in it comes from the index, without reading the episode. */
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
  /** Latest grade per mode. */
  readonly grades: Partial<Record<'fixed' | 'paper', { reward: number | null; success: boolean | null }>>;
  /** Highest leak of any turn, 0 to 1, and whether one was marked. */
  readonly leak: number;
  readonly leaked: boolean;
  /** Lost lines may have deleted it, or marked a leak in it; absent where none did. */
  readonly doubtful?: true;
  /** How often a person was shown two candidates and said which is better, or that none is. */
  readonly choices: number;
  /** On how many turns and critics people said whether they agree; absent where nobody did. */
  readonly verdicts?: number;
  readonly stars?: number;
  /** How many replies a developer wrote whose time is known, and the sum of their times. */
  readonly replyTime?: { readonly replies: number; readonly milliseconds: number };
  readonly seed: number;
  readonly rollout?: number;
  readonly collection?: string;
}
