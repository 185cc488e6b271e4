import { createHash } from 'node:crypto';
import * as z from 'zod';
import { agentMessages } from '../../dialogue/conversation';
import type { Prompts } from '../../dialogue/prompts';
import { parseAgentMessage } from '../../dialogue/protocol';
import { Consents } from '../../trajectory/consent';
import { trajectoryRow, type TrajectoryRow } from '../../trajectory/export/rows';
import type { Trajectory } from '../../trajectory/trajectory';
import { dialogueOf, type RowDialogue } from '../scoring/dialogues';
import { units } from './critics';

/** By episode, then by turn from 1. */
export type Advantages = ReadonlyMap<string, ReadonlyMap<number, number>>;

export const creditSchema = z.object({
  version: z.literal(1),
  episode: z.string(),
  critic: z.string(),
  of: z.string(),
  unit: z.enum(units),
  turns: z.array(
    z.object({
      /** From 1. */
      turn: z.number().int(),
      /** Worth of the history before the turn; absent for a critic. */
      value: z.number().optional(),
      advantage: z.number().nullable(),
      /** The control: the score of the untrained base. Null without hidden information. */
      untrained: z.number().nullable(),
      /** Log-ratios in nats; absent for a value head. */
      tokens: z.object({ texts: z.array(z.string()), ratios: z.array(z.number()) }).optional(),
    }),
  ),
});

export type Credit = z.infer<typeof creditSchema>;
export type TurnCredit = Credit['turns'][number];

/** A dialogue as a critic reads it, by ONNX Runtime or by the trainer. */
export interface Scorable {
  readonly episode: string;
  /** Written to a file for the trainer. */
  readonly row: TrajectoryRow;
  readonly dialogue: RowDialogue;
  /** From 1. */
  readonly turns: readonly number[];
  /** Digest of the dialogue; it changes with every turn that is added or rewritten. */
  readonly of: string;
}

/**
 * @param trajectory has at least one turn; it need not be graded or finished, and consent is not asked, because nothing
 * of it leaves the machine
 * @throws {Fault} `trajectory/bad-row` for one that no critic can read
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
