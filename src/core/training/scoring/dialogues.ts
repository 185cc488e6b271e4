import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
import { colBenchProtocol } from '../../dialogue/protocol';
import type { Prompts } from '../../dialogue/prompts';
import { Fault } from '../../fault';
import type { CriticDialogue, SpokenTurn } from '../../model/local/critic/protocol';
import type { ChatMessage } from '../../model/model';
import { parsePublishedRow, type PublishedRow } from '../../trajectory/publishedRow';

/** One trajectory of a file, before anything of it is tokenised. */
export interface Dialogue extends CriticDialogue {
  readonly id: string;
  readonly task: string;
  /** Null when it was not graded. */
  readonly reward: number | null;
}

const message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
const ids = z.array(z.int().nonnegative());
const turn = z.looseObject({
  token_ids: ids.nullish(),
  prompt_token_ids: ids.nullish(),
  finish_reason: z.string().optional(),
  reasoning: z.string().optional(),
});

/** What a row may hold besides the published fields: Tandem's exports do. */
const form = z.looseObject({
  dialogue_history: z.unknown().optional(),
  messages: z.array(message).min(1).optional(),
  reward: z.number().min(0).max(1).nullish(),
  tandem: z
    .looseObject({
      episode: z.string().optional(),
      task: z.string().optional(),
      protocol: z.looseObject({ maxTurns: z.int().optional(), replyLimit: z.int().optional() }).optional(),
      turns: z.array(turn).optional(),
      reward: z.number().min(0).max(1).nullish(),
    })
    .default({}),
});

type Row = z.infer<typeof form>;

/**
 * A trajectory as `rows.py` of the trainer reads it: a published row, an exported one, or a row of the chat export,
 * which has no hidden information. Rows without `messages` are given the request that the prompts make of them.
 *
 * @param where `file:line`, the id of a row that has none
 * @throws {Fault} `trajectory/bad-row`, `task/bad-row` with one sentence
 */
export function dialogueOf(value: unknown, where: string, prompts: Prompts): Dialogue {
  const read = form.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw badRow(`The field ${toDotPath(issue!.path)} is not as it must be: ${issue!.message}.`);
  }
  const row = read.data;
  if (row.dialogue_history === undefined && row.messages !== undefined) return chat(row, row.messages, where);
  const published = parsePublishedRow(value);
  const { task } = published;
  const messages = row.messages ?? conversation(published, row, prompts);
  const said = published.messages.flatMap((each) => (each.from === 'agent' ? [each.text] : []));
  if (JSON.stringify(said) !== JSON.stringify(positionsOf(messages).map((at) => messages[at]!.content))) {
    throw badRow("The agent's turns in messages are not those of dialogue_history.");
  }
  return {
    id: row.tandem.episode ?? published.id,
    task: row.tandem.task ?? task.id,
    reward: published.reward ?? null,
    messages: withRequest(messages),
    turns: turnsOf(row, positionsOf(messages)),
    hiddenInformation: task.hiddenInformation,
  };
}

function chat(row: Row, messages: readonly ChatMessage[], where: string): Dialogue {
  const positions = positionsOf(messages);
  if (positions.length === 0) throw badRow('messages has no turn of the agent.');
  const request = messages.slice(0, positions[0]).map(({ content }) => content);
  return {
    id: row.tandem.episode ?? where,
    task: row.tandem.task ?? request.join('\n\n'),
    reward: row.reward ?? row.tandem.reward ?? null,
    messages: withRequest(messages),
    turns: turnsOf(row, positions),
  };
}

/** The request as the agent read it, then its turns and the replies. */
function conversation({ task, messages }: PublishedRow, { tandem }: Row, prompts: Prompts): ChatMessage[] {
  const { maxTurns, replyLimit } = { ...colBenchProtocol, ...tandem.protocol };
  const opening = prompts.render('agent.md', { description: task.description, maxTurns, replyLimit });
  return [
    { role: 'user', content: opening },
    ...messages.map(({ from, text }): ChatMessage => ({
      role: from === 'agent' ? 'assistant' : 'user',
      content: text,
    })),
  ];
}

/** An agent does not begin; and what the critic knows is put in front of the request. */
function withRequest(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const user = messages.findIndex(({ role }) => role === 'user');
  const agent = messages.findIndex(({ role }) => role === 'assistant');
  if (user >= 0 && user < agent) return messages;
  throw badRow('messages must have a message of the user before those of the assistant.');
}

const positionsOf = (messages: readonly ChatMessage[]): number[] =>
  messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));

/** The agent's turns with what the sampler said of them, which published rows do not have. */
function turnsOf({ tandem }: Row, positions: readonly number[]): SpokenTurn[] {
  const said = tandem.turns;
  if (said !== undefined && said.length !== positions.length) {
    throw badRow(
      `tandem.turns must be a list of ${positions.length} objects, one for each turn of the agent.`,
    );
  }
  return positions.map((position, index) => {
    const { token_ids, prompt_token_ids, finish_reason, reasoning } = said?.[index] ?? {};
    return {
      position,
      ...(token_ids && { ids: token_ids }),
      ...(prompt_token_ids && { promptIds: prompt_token_ids }),
      ...(finish_reason !== undefined && { finishReason: finish_reason }),
      ...(reasoning !== undefined && { reasoning }),
    };
  });
}

const badRow = (sentence: string): Fault => new Fault('trajectory/bad-row', sentence);
