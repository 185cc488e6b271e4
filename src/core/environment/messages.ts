import * as z from 'zod';
import { parseAgentMessage } from '../dialogue/protocol';
import { MAX_REPLY_CHARS } from '../model/model';

/*
 * The protocol of OpenEnv 0.10 between an environment and its clients. Field names are the protocol's, in snake case.
 */

/** The agent's messages so far, each whole as it wrote it, and the replies to them. */
export const historySchema = z.array(
  z.strictObject({ agent: z.string().max(MAX_REPLY_CHARS), reply: z.string().max(MAX_REPLY_CHARS) }),
);

/** Unknown fields are ignored, as the protocol requires. */
export const resetSchema = z.looseObject({
  seed: z
    .int()
    .min(0)
    .nullish()
    .describe('Chooses the task, unless another field does, and the wording of the replies'),
  episode_id: z.string().max(255).nullish().describe('Name of the episode in `state`'),
  task_id: z.string().nullish().describe('The task to play'),
  split: z.string().nullish().describe('The pack to take the task from'),
  index: z.int().min(0).nullish().describe('Number of the task in its split, from 0'),
  history: historySchema
    .nullish()
    .describe('What was said before: the episode goes on from there, and is not logged'),
});

export type ResetRequest = z.infer<typeof resetSchema>;

const actionSchema = z
  .strictObject({
    message: z.string().max(MAX_REPLY_CHARS).describe('The text of the agent'),
    kind: z
      .enum(['message', 'ask', 'answer'])
      .default('message')
      .describe(
        'message: whole, as the agent wrote it; it answers when it says I WANT TO ANSWER: · ask: a question to the developer · answer: the final code or page, which ends the episode',
      ),
    metadata: z.record(z.string(), z.unknown()).default({}).describe('Ignored'),
  })
  .superRefine((action, context) => {
    if (action.kind === 'message') return;
    const isAnswer = parseAgentMessage(textOf(action)).answer !== undefined;
    if (isAnswer === (action.kind === 'answer')) return;
    const message = isAnswer
      ? 'A question must not say I WANT TO ANSWER:; send it as a message or an answer'
      : 'An answer must not begin with OUTPUT:; send the code or the page alone';
    context.addIssue({ code: 'custom', path: ['message'], message });
  });

/** An answer is announced as the protocol of the dialogue requires. */
export function textOf({ kind, message }: Pick<AgentAction, 'kind' | 'message'>): string {
  return kind === 'answer' ? `I WANT TO ANSWER:\n${message}` : message;
}

export type AgentAction = z.infer<typeof actionSchema>;

const metadataSchema = z.object({
  episode: z.string().describe('Id of the dialogue, the one in the log'),
  task: z.string(),
  pack: z.string().nullable(),
  seed: z.int(),
  turn_limit: z.int().describe('Most turns of the agent; the last one is the answer'),
  reply_limit: z.int().describe('Most characters of a reply'),
  leak: z
    .object({ fraction: z.number(), leaked: z.boolean() })
    .optional()
    .describe('How much of the reference this reply gives away, 0 to 1'),
  usage: z
    .object({ prompt_tokens: z.int(), completion_tokens: z.int() })
    .optional()
    .describe('Tokens that the simulator used for this reply, if it counts them'),
  ended: z
    .enum(['answered', 'turn-limit', 'context-limit', 'empty-reply', 'ended-by-simulator'])
    .optional()
    .describe('Why the episode is over'),
  mode: z.enum(['fixed', 'paper']).optional().describe('How the answer was scored'),
  success: z
    .boolean()
    .nullable()
    .optional()
    .describe('All tests passed, or all checks of a web page; null for a page without checks'),
  tests: z.int().optional(),
  tests_passed: z.int().optional(),
  measure: z
    .string()
    .optional()
    .describe('Of a web page: what its reward measures (checks, structure, clip)'),
  measure_version: z.int().optional(),
  renderer: z.string().optional().describe('What drew the page; none for checks'),
  not_gradable: z.string().optional().describe('Why there is no reward'),
});

export type ObservationMetadata = z.infer<typeof metadataSchema>;

const observationSchema = z.object({
  message: z.string().describe('What the other side said; empty when the episode is over'),
  turn: z.int().describe('Number of messages of the agent so far'),
  done: z.boolean(),
  reward: z
    .number()
    .nullable()
    .describe(
      'Fraction of the tests that the answer passes, 0 to 1; 0 before the end, null when nothing can be scored',
    ),
  metadata: metadataSchema,
});

const resetObservationSchema = observationSchema.extend({
  message: z.string().describe('The request of the developer'),
  prompt: z.string().describe('The instructions of the agent with the request, its first message'),
});

/** For the collaborator each observation before the end has a prompt: what a simulator reads before it replies. */
export type EpisodeObservation = z.infer<typeof observationSchema> & { readonly prompt?: string };

const stateSchema = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int().min(0),
  task: z.string().nullable(),
  done: z.boolean(),
});

export type EnvironmentState = z.infer<typeof stateSchema>;

export const noEpisode: EnvironmentState = { episode_id: null, step_count: 0, task: null, done: false };

/** `mcp` holds a request of the Model Context Protocol. */
export const clientMessages = {
  reset: z.strictObject({ type: z.literal('reset'), data: resetSchema.default({}) }),
  step: z.strictObject({ type: z.literal('step'), data: actionSchema }),
  state: z.strictObject({ type: z.literal('state') }),
  close: z.strictObject({ type: z.literal('close') }),
  mcp: z.strictObject({ type: z.literal('mcp'), data: z.unknown() }),
};

/** `POST /step`: a step by plain HTTP begins an episode of its own, for which it may choose the task. */
export const stepRequestSchema = resetSchema.extend({ action: actionSchema });

export type ErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR';

/** FastAPI's form. */
interface InvalidField {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

export const invalidFields = (error: z.ZodError, within: readonly string[] = []): InvalidField[] =>
  error.issues.map(({ code, path, message }) => ({
    type: code,
    loc: [...within, ...path.filter((part) => typeof part !== 'symbol')],
    msg: message,
  }));

/** As sent: the metadata are inside the observation and beside it. */
export function sentObservation({ reward, done, ...observation }: EpisodeObservation) {
  return { observation, reward, done, metadata: observation.metadata };
}

export const wireSchemas = () => ({
  action: jsonSchema(actionSchema, 'TandemAction'),
  observation: jsonSchema(observationSchema, 'TandemObservation'),
  reset_observation: jsonSchema(resetObservationSchema, 'TandemResetObservation'),
  state: jsonSchema(stateSchema, 'TandemState'),
});

function jsonSchema(schema: z.ZodType, title: string): object {
  return { title, ...z.toJSONSchema(schema, { io: 'input' }) };
}
