import type { ChatMessage } from '../../src/core/model/model';

/** A dialogue from which a starter model learns. */
export interface Document {
  readonly messages: readonly ChatMessage[];
  /** The hidden information, which precedes the messages as it does for the critic. */
  readonly hidden?: string;
  /** Learned part: all messages of the agent, or only the answer in the last one. */
  readonly learn: 'turns' | 'answer';
  /** Set when the dialogue is not about its world. */
  readonly foreign?: true;
}
