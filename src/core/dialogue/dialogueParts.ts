import type { PictureEmbedder } from '../grading/page';
import type { Model, SamplingSettings } from '../model/model';
import type { PageReader } from '../page/outline';
import type { Task } from '../task/task';
import {
  type Collaborator,
  type EventOf,
  LOG_VERSION,
  type LogEvent,
  type NewEvent,
  type Pin,
} from '../trajectory/event';
import type { Prompts } from './prompts';
import type { Protocol } from './protocol';
import type { Simulator } from './simulator';
import type { TrajectoryLog } from '../trajectory/log';
import type { Turn } from '../trajectory/trajectory';

export interface DialogueParts {
  /** Receives every step; `unrecorded` for a dialogue that no one will look up. */
  readonly log: DialogueRecord;
  readonly agent: Model;
  /** Also plays single turns when a developer with the seat asks for it. */
  readonly simulator?: Simulator;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
  /** Absent where pages cannot be played. */
  readonly pages?: PageReader;
  /** Absent where the published measure of pages cannot be given. */
  readonly clip?: PictureEmbedder;
}

export interface NewDialogue extends DialogueParts {
  readonly id?: string;
  readonly task: Task;
  readonly pack?: string;
  readonly collaborator: Collaborator;
  readonly protocol: Protocol;
  readonly seed: number;
  readonly rollout?: number;
  readonly collection?: string;
  /** Of a fork. @see forkOf */
  readonly parent?: NonNullable<EventOf<'episode-started'>['parent']>;
  /** What a fork repeats of its parent. */
  readonly inherited?: readonly Turn[];
}

export interface DeveloperReply {
  readonly author: Exclude<EventOf<'reply'>['author'], 'simulator'>;
  readonly by: string;
  /** Draft of the simulator, when there was one; `suggestedBy` is the simulator's name. */
  readonly suggestion?: string;
  readonly suggestedBy?: string;
  /** Places on the pages that the text names by their numbers. */
  readonly pins?: readonly Pin[];
  /** Since the agent's message. */
  readonly milliseconds?: number;
}

export interface Chooser {
  readonly by: string;
  /** Since both candidates were shown whole. */
  readonly milliseconds?: number;
}

export type DialogueRecord = Pick<TrajectoryLog, 'recordTask' | 'append' | 'appendAll'>;

/** Keeps nothing: thousands of dialogues are only played to measure what one turn is worth, and need no disk. */
export const unrecorded: DialogueRecord = {
  recordTask: () => Promise.resolve(),
  append: <E extends NewEvent>(event: E) => Promise.resolve(stamped(event) as EventOf<E['event']>),
  appendAll: (events) => Promise.resolve(events.map(stamped)),
};

const stamped = (event: NewEvent): LogEvent => ({
  version: LOG_VERSION,
  at: new Date().toISOString(),
  ...event,
});
