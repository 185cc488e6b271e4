import { createHash } from 'node:crypto';
import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
import { Fault } from '../fault';
import { parseTask } from '../task/row';
import { isProgram, testsOf, type Task } from '../task/task';
import { collaboratorSchema, gradeSchema, replyAuthors, type Collaborator, type EventOf } from './event';

/** One message of an imported dialogue. Turns count from 1; a reply has the number of the turn that it answers. */
type PublishedMessage =
  | {
      readonly from: 'agent';
      readonly turn: number;
      readonly text: string;
      readonly content: string;
      /** The prompt, in the row's own form. */
      readonly input?: unknown;
    }
  | { readonly from: 'collaborator'; readonly turn: number; readonly text: string; readonly reply: Replied };

/** Who wrote a reply. The names are those of the row, and may be missing. */
interface Replied {
  readonly author: EventOf<'reply'>['author'];
  readonly by?: string;
  readonly suggestedBy?: string;
}

export const repliers = ['simulator', 'people'] as const;
export type Replier = (typeof repliers)[number];

export interface PublishedRow {
  /**
   * `imported-` and a hash of task, dialogue, answer and reward, and of who replied unless all was a simulator's: the
   * same row has the same id in every file.
   */
  readonly id: string;
  /** The id if a simulator wrote all replies. */
  readonly simulatedId: string;
  /** Of the same dialogue, whosever its replies count as; also that of the dialogue that Tandem wrote the row of. */
  readonly ids: readonly string[];
  /** The id of the dialogue that Tandem wrote the row of. */
  readonly played?: string;
  /** Who had the collaborator's seat at first, if the row says it. */
  readonly collaborator?: Collaborator;
  readonly isSimulated: boolean;
  /** Whose replies they count as, if the row does not say of each who wrote it. */
  readonly unnamed?: Replier;
  readonly task: Task;
  readonly messages: readonly PublishedMessage[];
  readonly answer: string;
  /** 0 to 1; absent if the row has none, or null, and for a page of which the row does not say what it measures. */
  readonly reward?: number;
  readonly page?: Measured;
}

type Measured = z.infer<typeof measured>;

const messageSchema = z.object({
  role: z.string(),
  content: z.string(),
  input: z.unknown().optional(),
  output: z.string().nullish(),
});

const measured = gradeSchema.shape.page.unwrap().omit({ score: true, parts: true });

/** What Tandem's own rows say of people and scores; a program that wrote them again may have put nulls. */
const originSchema = z.object({
  episode: z.string().nullish(),
  collaborator: collaboratorSchema.nullish(),
  page: measured.nullish(),
  turns: z
    .array(
      z.object({
        reply_author: z.enum(replyAuthors).nullish(),
        reply_by: z.string().nullish(),
        reply_suggested_by: z.string().nullish(),
      }),
    )
    .nullish(),
});
type Origin = z.infer<typeof originSchema>;

const rowSchema = z.object({
  task: z.unknown().optional(),
  dialogue_history: z.array(messageSchema).min(1, 'is empty'),
  answer: z.string(),
  tandem: originSchema.nullish(),
  messages: z.unknown().optional(),
  reward: z.number().min(0, 'must be from 0 to 1').max(1, 'must be from 0 to 1').nullish(),
});

const AGENT_ROLES: readonly string[] = ['agent', 'assistant'];
const COLLABORATOR_ROLES: readonly string[] = ['human', 'user', 'collaborator'];

/**
 * Parses a row of the published form: `task` (a ColBench row), `dialogue_history` (a list of `role` and `content`;
 * agent turns also `input` and `output`), `answer`, `reward`.
 *
 * The parser was written from the file's description, without a sample row, and so tolerates what is likely to differ:
 * the agent's role may be `agent` or `assistant`, the other `human`, `user` or `collaborator`, in any case; `task` may
 * be an object, or that object as a JSON string, or its fields may be in the row itself; `output` may be missing (then
 * `content` is the generated text); the dialogue may begin with the description as the collaborator's message.
 *
 * @param replier who wrote the replies of which the row does not say it. By default people, so that nothing that a
 * person wrote leaves this machine as a simulator's; a simulator if the row has neither `tandem`, be it null, nor
 * `messages`, as the published rows do not.
 * @throws {Fault} `trajectory/bad-row`, `task/bad-row`, with one sentence that says what is wrong
 */
export function parsePublishedRow(row: unknown, replier?: Replier): PublishedRow {
  const parsed = parseRow(rowSchema, row);
  const { dialogue_history: history, answer, reward, tandem, messages: prompts } = parsed;
  const isPublished = tandem === undefined && prompts === undefined;
  const unnamed = replier ?? (isPublished ? 'simulator' : 'people');
  const task = parseTask(taskOf(parsed.task, row));
  const messages = messagesOf(history, task.description, (turn) => repliedAt(turn, tandem ?? {}, unnamed));
  const content = [
    [task.description, task.reference, testsOf(task).map(({ call }) => call)],
    messages.map((message) => [message.from, message.text, 'content' in message ? message.content : null]),
    answer,
    reward ?? null,
  ];
  const simulatedId = idOf(content);
  const idBy = (who: Replier): string => {
    const replied = messages.filter(({ from }) => from !== 'agent');
    const authors = replied.map(({ turn }) => repliedAt(turn, tandem ?? {}, who).author);
    const seat = tandem?.collaborator?.kind ?? (who === 'people' ? 'developer' : 'simulator');
    const isSimulated =
      authors.length > 0 ? authors.every((author) => author === 'simulator') : seat !== 'developer';
    return isSimulated ? simulatedId : idOf([...content, authors]);
  };
  const id = idBy(unnamed);
  const played = tandem?.episode ?? undefined;
  const page = tandem?.page ?? undefined;
  const isMeasured = isProgram(task) || page !== undefined;
  const isNamed =
    tandem?.collaborator != null &&
    messages.every((one) => one.from === 'agent' || one.reply.by !== undefined);
  return {
    ...{ id, simulatedId, task, messages, answer, isSimulated: id === simulatedId },
    ids: [...repliers.map(idBy), ...(played === undefined ? [] : [played])],
    ...{ played, page },
    unnamed: isNamed ? undefined : unnamed,
    collaborator: tandem?.collaborator ?? undefined,
    reward: isMeasured ? (reward ?? undefined) : undefined,
  };
}

const idOf = (content: unknown): string =>
  `imported-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32)}`;

function repliedAt(turn: number, { collaborator, turns }: Origin, unnamed: Replier): Replied {
  const said = turns?.[turn - 1];
  const isPerson =
    collaborator?.kind === 'developer' || (collaborator?.kind !== 'rules' && unnamed === 'people');
  const author = said?.reply_author ?? (isPerson ? 'developer' : 'simulator');
  const isOfSeat = (collaborator?.kind === 'developer') === (author !== 'simulator');
  const by = said?.reply_by ?? (isOfSeat ? collaborator?.name : undefined);
  return { author, by, suggestedBy: said?.reply_suggested_by ?? undefined };
}

/**
 * The task may be an object, or that object as a JSON string, or its fields may be in the row itself.
 * @throws {Fault} `trajectory/bad-row`
 */
export function taskOf(task: unknown, row: unknown): unknown {
  if (task === undefined || task === null) return row;
  if (typeof task !== 'string') return task;
  try {
    return JSON.parse(task);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw badRow('The field task is a string that is not JSON.', cause);
  }
}

function messagesOf(
  history: readonly z.infer<typeof messageSchema>[],
  description: string,
  repliedAt: (turn: number) => Replied,
): PublishedMessage[] {
  const messages: PublishedMessage[] = [];
  let turn = 0;
  for (const [index, { role, content, input, output }] of history.entries()) {
    const where = `dialogue_history[${index}]`;
    if (AGENT_ROLES.includes(role.toLowerCase())) {
      turn += 1;
      const prompt = input === undefined || input === null ? {} : { input };
      messages.push({ from: 'agent', turn, text: output ?? content, content, ...prompt });
    } else if (!COLLABORATOR_ROLES.includes(role.toLowerCase())) {
      throw badRow(`${where} has the role "${role}"; it must be agent or human.`);
    } else if (turn === 0) {
      if (content.trim() === description.trim()) continue;
      throw badRow(`${where} is the collaborator's, before the agent has said anything.`);
    } else if (messages.at(-1)?.from === 'collaborator') {
      throw badRow(`${where} is a second reply to the same turn.`);
    } else {
      messages.push({ from: 'collaborator', turn, text: content, reply: repliedAt(turn) });
    }
  }
  if (turn === 0) throw badRow('dialogue_history has no turn of the agent.');
  return messages;
}

/** @throws {Fault} `trajectory/bad-row` */
export function parseRow<T>(schema: z.ZodType<T>, row: unknown): T {
  const { data, error } = schema.safeParse(row);
  if (error === undefined) return data;
  const [issue] = error.issues;
  if (!issue || issue.path.length === 0) throw badRow('A trajectory must be a JSON object.');
  throw badRow(`The field ${toDotPath(issue.path)} is wrong: ${issue.message}.`);
}

export function badRow(reason: string, cause?: unknown): Fault {
  return new Fault('trajectory/bad-row', reason, { cause });
}
