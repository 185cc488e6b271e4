import { createHash } from 'node:crypto';
import * as z from 'zod';
import { agentMessages } from '../../dialogue/conversation';
import type { Prompts } from '../../dialogue/prompts';
import { parseAgentMessage } from '../../dialogue/protocol';
import { Consents } from '../../trajectory/consent';
import { trajectoryRow, type TrajectoryRow } from '../../trajectory/export/rows';
import type { Trajectory } from '../../trajectory/trajectory';
import { dialogueOf, type Dialogue } from '../scoring/dialogues';
import { units } from './critics';

/** What a critic says of the turns of one dialogue. */
export const creditSchema = z.object({
  version: z.literal(1),
  episode: z.string(),
  /** The critic's identity. */
  critic: z.string(),
  /** The digest of what it read. */
  of: z.string(),
  unit: z.enum(units),
  turns: z.array(
    z.object({
      /** From 1. */
      turn: z.number().int(),
      advantage: z.number().nullable(),
      /** The control: what the base alone says. Null without hidden information. */
      untrained: z.number().nullable(),
      /** What each token adds to the text, and its log-ratio in nats; absent of a value head. */
      tokens: z.object({ texts: z.array(z.string()), ratios: z.array(z.number()) }).optional(),
    }),
  ),
});

export type Credit = z.infer<typeof creditSchema>;
export type TurnCredit = Credit['turns'][number];

/** A dialogue as a critic reads it, whichever runner scores. */
export interface Scorable {
  readonly episode: string;
  /** For a file that the trainer reads. */
  readonly row: TrajectoryRow;
  readonly dialogue: Dialogue;
  /** The numbers of its turns, from 1. */
  readonly turns: readonly number[];
  /** Another one as soon as the dialogue is another one: a turn more, or one that was written anew. */
  readonly of: string;
}

/**
 * @param trajectory with a turn at least; graded or not, finished or not, because nothing of it leaves the machine
 * @throws {Fault} `trajectory/bad-row` of one that no critic can read
 */
export function scorable(trajectory: Trajectory, prompts: Prompts): Scorable {
  const { id, task, turns, started } = trajectory;
  const messages = agentMessages(task, turns, started.protocol, prompts);
  const row = trajectoryRow(
    { trajectory, grade: undefined, messages, consents: new Consents([]) },
    ({ agent }) => parseAgentMessage(agent.text).visible,
  );
  const dialogue = dialogueOf(row, id, prompts);
  const read = [dialogue.messages, dialogue.turns, dialogue.hiddenInformation ?? null];
  return {
    episode: id,
    row,
    dialogue,
    turns: turns.map(({ agent }) => agent.turn),
    of: createHash('sha256').update(JSON.stringify(read)).digest('hex').slice(0, 32),
  };
}
