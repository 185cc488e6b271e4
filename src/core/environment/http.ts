import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { Fault, messageOf, type FaultCode } from '../fault';
import { readBody, RefusedRequest, sendJson, type RequestMemory } from '../serving/messages';
import { type EnvironmentPlan, type ServedEpisode, beginEpisode } from './episode';
import type { PackSplit } from './splits';
import {
  invalidFields,
  noEpisode,
  resetSchema,
  sentObservation,
  stepRequestSchema,
  wireSchemas,
  type EpisodeObservation,
} from './messages';
import { valuesOf } from './values';

const ENVIRONMENT = 'tandem';

const DESCRIPTION =
  'Collaborative programming tasks: the agent asks a developer about a vague request, then answers with a function, whose reward is the fraction of hidden tests that it passes.';

const API_VERSION = '1.0.0';

export const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

interface HttpParts {
  readonly plan: EnvironmentPlan;
  /** Reserves capacity for one more episode; undefined when all is in use. */
  readonly enter: () => (() => void) | undefined;
  readonly signal: AbortSignal;
  readonly memory: RequestMemory;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly answer: (parts: HttpParts, body: unknown) => unknown;
}

const splitRequest = z.object({ split: z.string() });
const indexRequest = splitRequest.extend({ index: z.int() });
const rangeRequest = splitRequest.extend({ start: z.int().nullish(), stop: z.int().nullish() });

const route = (
  method: Route['method'],
  path: string,
  tag: string,
  summary: string,
  answer: Route['answer'],
): Route => ({ method, path, tag, summary, answer });

/** Everything that is served by plain HTTP; `/openapi.json` is written from this table. */
const routes: readonly Route[] = [
  route('get', '/health', 'Health', 'Tell whether the server is well', () => ({ status: 'healthy' })),
  route('get', '/metadata', 'Environment Info', 'Name and describe the environment', () => ({
    name: ENVIRONMENT,
    description: DESCRIPTION,
  })),
  route('get', '/schema', 'Schema', 'JSON schemas of actions, observations and state', wireSchemas),
  route('get', '/state', 'State Management', 'State of an environment without an episode', () => noEpisode),
  route('post', '/reset', 'Environment Control', 'Begin an episode and show its request', reset),
  route('post', '/step', 'Environment Control', 'Begin an episode and take one step in it', step),
  route('post', '/values', 'Values', 'Value candidate turns by what a model makes of them', values),
  route('post', '/mcp', 'Model Context Protocol', 'Answer a request in JSON-RPC', (_, body) =>
    mcpResponse(body),
  ),
  route('get', '/list_environments', 'Task API', 'Names of the environments', () => [ENVIRONMENT]),
  route('get', '/{env_name}/splits', 'Task API', 'The packs', ({ plan }) =>
    plan.splits.all.map(({ name, type }) => ({ name, type })),
  ),
  route('post', '/{env_name}/tasks', 'Task API', 'The tasks of a split', ({ plan }, body) => ({
    tasks: taskSpecs(plan.splits.split(splitRequest.parse(body).split)),
    env_name: ENVIRONMENT,
  })),
  route('post', '/{env_name}/num_tasks', 'Task API', 'Number of tasks of a split', ({ plan }, body) => ({
    num_tasks: plan.splits.split(splitRequest.parse(body).split).tasks.length,
  })),
  route('post', '/{env_name}/task', 'Task API', 'One task of a split', ({ plan }, body) => {
    const { split, index } = indexRequest.parse(body);
    const task = taskSpecs(plan.splits.split(split))[index];
    if (task === undefined) throw new Fault('environment/unknown-task', 'Invalid task index');
    return { task };
  }),
  route('post', '/{env_name}/task_range', 'Task API', 'Some tasks of a split', ({ plan }, body) => {
    const { split, start, stop } = rangeRequest.parse(body);
    return { tasks: taskSpecs(plan.splits.split(split)).slice(start ?? 0, stop ?? undefined) };
  }),
];

/** Omits the fields hidden from the agent. */
const taskSpecs = ({ name, tasks }: PackSplit): object[] =>
  tasks.map(({ task }, index) => ({ task_id: task.id, split: name, index, description: task.description }));

function reset({ plan, enter, signal }: HttpParts, body: unknown): Promise<unknown> {
  const choice = resetSchema.parse(body ?? {});
  return inPlace(enter, () => alone(beginEpisode(plan, choice), (episode) => episode.open(signal)));
}

/** Plain HTTP has no session: each step begins an episode and, unless it completes it, abandons it. */
async function step({ plan, enter, signal }: HttpParts, body: unknown): Promise<unknown> {
  const { action, ...choice } = stepRequestSchema.parse(body);
  return inPlace(enter, () =>
    alone(beginEpisode(plan, choice), async (episode) => {
      const opened = await episode.open(signal);
      return opened.done ? opened : episode.step(action, signal);
    }),
  );
}

/** Does the work with an episode of its own, which it abandons then. */
async function alone(
  episode: ServedEpisode,
  work: (episode: ServedEpisode) => Promise<EpisodeObservation>,
): Promise<unknown> {
  try {
    const observation = await work(episode);
    await episode.abandon('It was one request by plain HTTP.');
    return sentObservation(observation);
  } catch (error) {
    await episode.abandon('The server was stopped.');
    throw error;
  }
}

/** A request counts as one episode. */
function values({ plan, enter, signal }: HttpParts, body: unknown): Promise<unknown> {
  return inPlace(enter, () => valuesOf(plan, body, signal));
}

async function inPlace<T>(enter: HttpParts['enter'], work: () => Promise<T>): Promise<T> {
  const leave = enter();
  if (leave === undefined) throw new RefusedRequest(503, 'All episodes are taken; try again later.');
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Never throws. */
export async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts,
): Promise<void> {
  const { status, body } = await answerTo(request, response, parts);
  sendJson(response, status, body);
}

async function answerTo(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts,
): Promise<Answer> {
  const [path = ''] = (request.url ?? '').split('?');
  const method = request.method === 'HEAD' ? 'get' : (request.method ?? '').toLowerCase();
  if (path === '/openapi.json' && method === 'get') return { status: 200, body: openApi() };
  const found = routes.filter((one) => one.path === general(path));
  const chosen = found.find((one) => one.method === method);
  if (chosen === undefined) {
    const status = found.length > 0 ? 405 : 404;
    return { status, body: { detail: status === 405 ? 'Method Not Allowed' : 'Not Found' } };
  }
  try {
    const body = chosen.method === 'post' ? await bodyOf(request, response, path, parts) : undefined;
    return { status: 200, body: await chosen.answer(parts, body) };
  } catch (error) {
    return failureOf(error);
  }
}

/** The name of the environment may be in any case. */
function general(path: string): string {
  const [, first = '', rest] = path.split('/', 3);
  return rest !== undefined && first.toLowerCase() === ENVIRONMENT ? `/{env_name}/${rest}` : path;
}

function failureOf(error: unknown): Answer {
  if (error instanceof z.ZodError) return { status: 422, body: { detail: invalidFields(error, ['body']) } };
  const detail = messageOf(error);
  if (error instanceof RefusedRequest) return { status: error.status, body: { detail } };
  const status = error instanceof Fault ? STATUS[error.code] : undefined;
  return { status: status ?? 500, body: { detail } };
}

const STATUS: Partial<Record<FaultCode, number>> = {
  'environment/unknown-split': 404,
  'environment/unknown-task': 400,
  'environment/no-agent': 400,
};

/** @throws {RefusedRequest} when it is not JSON, which the Model Context Protocol answers like any request */
async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { signal, memory }: HttpParts,
): Promise<unknown> {
  const body = await readBody(request, response, { mostBytes: MAX_REQUEST_BYTES, signal, memory });
  if (body.length === 0) return undefined;
  try {
    // A byte-order mark in front is dropped.
    return JSON.parse(new TextDecoder().decode(body)) as unknown;
  } catch {
    if (path === '/mcp') return undefined;
    throw new RefusedRequest(422, 'The body is not JSON.');
  }
}

/** OpenAPI 3.1, from which a client learns the routes. */
function openApi(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, tag, summary } of routes) {
    const parameters = path.includes('{env_name}')
      ? [{ name: 'env_name', in: 'path', required: true, schema: { type: 'string' } }]
      : [];
    const responses = { 200: { description: 'Done', content: { 'application/json': { schema: {} } } } };
    const requestBody =
      method === 'post' ? { content: { 'application/json': { schema: { type: 'object' } } } } : undefined;
    paths[path] = { [method]: { tags: [tag], summary, parameters, requestBody, responses } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tandem as an environment', description: DESCRIPTION, version: API_VERSION },
    paths,
  };
}

const jsonRpcSchema = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
  id: z.union([z.string(), z.number()]).nullish(),
});

/** OpenEnv requires the address to exist; this environment has no tools, because its agent speaks in messages. */
export function mcpResponse(body: unknown): object {
  const request = jsonRpcSchema.safeParse(body);
  if (!request.success) return failure(-32_600, 'This is not a request of JSON-RPC 2.0.', undefined);
  const { method, id } = request.data;
  if (method === 'tools/list' || method === 'tools/call') {
    return failure(-32_603, 'This environment has no tools; play it over /ws.', id);
  }
  return failure(-32_601, `Method not found: ${method.slice(0, 80)}`, id);
}

const failure = (code: number, message: string, id: string | number | null | undefined): object => ({
  jsonrpc: '2.0',
  error: { code, message },
  ...(id !== undefined && id !== null && { id }),
});
