import * as z from 'zod';
import { colBenchPageProtocol, colBenchProtocol } from '../../dialogue/protocol';
import { agentPromptFor, type Prompts } from '../../dialogue/prompts';
import { Fault } from '../../fault';
import type { CriticDialogue, SpokenTurn } from '../../model/local/critic/process';
import type { ChatMessage } from '../../model/model';
import { readJsonLines } from '../../task/jsonl';
import { isProgram } from '../../task/task';
import { ROW_VERSION } from '../../trajectory/export/rows';
import { badRow, parsePublishedRow, parseRow, type PublishedRow } from '../../trajectory/publishedRow';

export interface RowDialogue extends CriticDialogue {
  readonly id: string;
  readonly task: string;
  /** Null when the trajectory was not graded. */
  readonly reward: number | null;
  /** Scores of the drafts of a page, by turn from 1. */
  readonly drafts?: readonly ScoredDraft[];
}

const message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
const ids = z.array(z.int().nonnegative());
const turn = z.looseObject({
  token_ids: ids.nullish(),
  prompt_token_ids: ids.nullish(),
  finish_reason: z.string().optional(),
  reasoning: z.string().optional(),
});

const draft = z.object({ turn: z.int().positive(), score: z.number() });

/** Beyond the published fields; Tandem's exports have them. */
const form = z.looseObject({
  dialogue_history: z.unknown().optional(),
  messages: z.array(message).min(1).optional(),
  reward: z.number().min(0).max(1).nullish(),
  tandem: z
    .looseObject({
      version: z.literal(ROW_VERSION).optional(),
      episode: z.string().optional(),
      task: z.string().optional(),
      protocol: z.looseObject({ maxTurns: z.int().optional(), replyLimit: z.int().optional() }).optional(),
      turns: z.array(turn).optional(),
      reward: z.number().min(0).max(1).nullish(),
      page: z.looseObject({ drafts: z.array(draft).nullish() }).nullish(),
    })
    .default({}),
});

type Row = z.infer<typeof form>;

/**
 * What is read of each row of some files.
 * @param onBad gets `file:line` of each line that is no dialogue, and the reason
 * @throws {Fault} as `readJsonLines`
 */
export async function* readRows<Read>(
  files: readonly string[],
  read: (value: unknown, where: string) => Read,
  onBad: (where: string, reason: string) => void,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly where: string; readonly row: Read }> {
  for (const file of files) {
    for await (const line of readJsonLines(file, { signal })) {
      const where = `${file}:${line.line}`;
      try {
        if ('reason' in line) onBad(where, line.reason);
        else yield { where, row: read(line.value, where) };
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        onBad(where, error.message);
      }
    }
  }
}

/**
 * Reads rows as the trainer's `rows.py`: a published row, an exported one, or a row of the chat export, which has no
 * hidden information. Rows without `messages` get the request that the prompts render.
 * @param where `file:line`, used as id when the row has none
 * @throws {Fault} `trajectory/bad-row`, `task/bad-row`
 */
export function dialogueOf(value: unknown, where: string, prompts: Prompts): RowDialogue {
  const row = parseRow(form, value);
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
    ...draftsOf(row),
    // A critic of pages reads the wanted one.
    hiddenInformation: isProgram(task) ? task.hiddenInformation : task.reference,
  };
}

function chat(row: Row, messages: readonly ChatMessage[], where: string): RowDialogue {
  const positions = positionsOf(messages);
  if (positions.length === 0) throw badRow('messages has no turn of the agent.');
  const request = messages.slice(0, positions[0]).map(({ content }) => content);
  return {
    id: row.tandem.episode ?? where,
    task: row.tandem.task ?? request.join('\n\n'),
    reward: row.reward ?? row.tandem.reward ?? null,
    messages: withRequest(messages),
    turns: turnsOf(row, positions),
    ...draftsOf(row),
  };
}

const draftsOf = ({ tandem: { page } }: Row): Pick<RowDialogue, 'drafts'> =>
  page?.drafts == null ? {} : { drafts: page.drafts };

/** The request as the agent read it, then its turns and the replies. */
function conversation({ task, messages }: PublishedRow, { tandem }: Row, prompts: Prompts): ChatMessage[] {
  const published = isProgram(task) ? colBenchProtocol : colBenchPageProtocol;
  const { maxTurns, replyLimit } = { ...published, ...tandem.protocol };
  const opening = prompts.render(agentPromptFor(task), {
    description: task.description,
    maxTurns,
    replyLimit,
  });
  return [
    { role: 'user', content: opening },
    ...messages.map(({ from, text }): ChatMessage => ({
      role: from === 'agent' ? 'assistant' : 'user',
      content: text,
    })),
  ];
}

/**
 * A user's message must come first: an agent does not begin, and the critic's hidden information goes before the
 * request.
 */
function withRequest(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const user = messages.findIndex(({ role }) => role === 'user');
  const agent = messages.findIndex(({ role }) => role === 'assistant');
  if (user >= 0 && user < agent) return messages;
  throw badRow('messages must have a message of the user before those of the assistant.');
}

const positionsOf = (messages: readonly ChatMessage[]): number[] =>
  messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));

/** Published rows lack the sampler's records. */
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

/** A message that showed a page, by the number of its turn from 1, and the score of that page. */
export interface ScoredDraft {
  readonly turn: number;
  readonly score: number;
}

/**
 * Measured credit of each turn of a dialogue about a page: the score of its draft minus that of the draft before, and
 * the score itself for the first; 0 for a turn without a draft. A truth by which critics' credits can be judged.
 * @param drafts in order, as a grade has them
 * @returns by turn, from 1
 */
export function gainsOf(drafts: readonly ScoredDraft[], turns: number): Map<number, number> {
  const gains = new Map<number, number>();
  for (let turn = 1; turn <= turns; turn += 1) gains.set(turn, 0);
  let before = 0;
  for (const { turn, score } of drafts) {
    gains.set(turn, score - before);
    before = score;
  }
  return gains;
}
