import type { Model, SamplingSettings } from '../model/model';
import type { Task } from '../task/task';
import type { Collaborator, EventOf } from '../trajectory/event';
import type { Prompts } from './prompts';
import type { Protocol } from './protocol';
import type { DialogueRecord } from './record';
import type { Simulator } from './simulator';

/** What a dialogue needs besides its state, whether it starts or goes on. */
export interface DialogueParts {
  /** Where every step is written; `unrecorded` for a dialogue that nobody will look up. */
  readonly log: DialogueRecord;
  readonly agent: Model;
  /** Plays the collaborator when it has the seat, and when a developer asks it to; may be absent. */
  readonly simulator?: Simulator;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
}

export interface NewDialogue extends DialogueParts {
  readonly task: Task;
  /** The pack's file name. */
  readonly pack?: string;
  readonly collaborator: Collaborator;
  readonly protocol: Protocol;
  readonly seed: number;
  readonly rollout?: number;
  readonly collection?: string;
}

export interface DeveloperReply {
  readonly author: Exclude<EventOf<'reply'>['author'], 'simulator'>;
  /** The developer's pseudonym. */
  readonly by: string;
  /** What the simulator had drafted, and its name. */
  readonly suggestion?: string;
  readonly suggestedBy?: string;
  /** From the agent's message to this reply. */
  readonly milliseconds?: number;
}

/** Whose choice between two candidates it is. */
export interface Chooser {
  /** The developer's pseudonym. */
  readonly by: string;
  /** From when both were shown whole. */
  readonly milliseconds?: number;
}
