import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '../fault';
import type { LocalModel } from '../model/local/model';
import { TokenTexts } from '../model/local/tokenTexts';
import { Listener, type ListenPlace } from '../serving/listener';
import { readBody, sendJson } from '../serving/messages';
import { RequestMemory } from '../serving/requestMemory';
import { sendRefusal, writeAnswers, type AnsweringModel } from './answers';
import { ApiRefusal, BusyRefusal, refusalFor, refused } from './refusal';
import { readChatRequest } from './request';

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
/** Answers of all open requests together, above which a further request is refused. */
const MAX_ANSWERS = 512;

interface ModelServerOptions extends ListenPlace {
  readonly model: LocalModel;
  /** Clients ask for the model by this name. */
  readonly id: string;
  readonly mostAnswers?: number;
  readonly memory?: RequestMemory;
}

interface Parts extends AnsweringModel {
  readonly contextLength: number;
  /** Seconds since 1970. */
  readonly created: number;
  readonly signal: AbortSignal;
  readonly answers: { open: number; readonly most: number };
  readonly memory: RequestMemory;
}

/** OpenAI's chat completions over one local model. Simultaneous requests share the model's batches. */
export class ModelServer {
  private constructor(private readonly listener: Listener) {}

  /**
   * Loads the model before it listens.
   * @throws {Fault} `serving/address`, or the faults of a model that cannot be loaded
   */
  static async start({
    model,
    id,
    mostAnswers = MAX_ANSWERS,
    memory = new RequestMemory(),
    ...place
  }: ModelServerOptions): Promise<ModelServer> {
    const { folder, contextLength, fingerprint } = await model.describe();
    const texts = new TokenTexts(folder);
    const textOf = (token: number) => texts.of(token);
    const created = Math.floor(Date.now() / 1000);
    const answers = { open: 0, most: mostAnswers };
    const served = { model, id, contextLength, fingerprint, textOf, created, answers, memory };
    const listener = await Listener.open(place, {
      name: 'The model server',
      answer: (request, response, signal) => answer(request, response, { ...served, signal }),
      refuse: (response, { status, detail }) => {
        const code = status === 401 ? 'invalid_api_key' : null;
        sendJson(response, status, new ApiRefusal(status, detail, { code }).body);
      },
    });
    return new ModelServer(listener);
  }

  get address(): string {
    return this.listener.address;
  }

  /** Ends all open requests with an error. */
  close(): Promise<void> {
    return this.listener.close(new Fault('serving/stopped', 'The server was stopped before the answer.'));
  }
}

/** Never throws. */
async function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  try {
    const [given = ''] = (request.url ?? '').split('?');
    const path = tidied(given);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = routes.filter(({ matches }) => matches(path));
    const route = found.find((one) => one.method === method);
    if (found.length === 0) throw new ApiRefusal(404, `There is no ${given.slice(0, 200)} here.`);
    if (route === undefined) throw new ApiRefusal(405, `This address takes ${found[0]!.method} alone.`);
    await route.answer(request, response, { ...parts, path });
  } catch (error) {
    sendRefusal(response, refusalFor(error, parts.contextLength));
  }
}

/** Clients append to base URLs with and without a slash at the end, and with and without `/v1`. */
function tidied(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return `/${(parts[0] === 'v1' ? parts.slice(1) : parts).join('/')}`;
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly matches: (path: string) => boolean;
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    parts: Parts & { readonly path: string },
  ) => Promise<void> | void;
}

const MODELS = '/models';

const routes: readonly Route[] = [
  {
    method: 'GET',
    matches: (path) => path === '/health',
    answer: (_, response) => sendJson(response, 200, { status: 'healthy' }),
  },
  {
    method: 'GET',
    matches: (path) => path === MODELS,
    answer: (_, response, parts) => sendJson(response, 200, { object: 'list', data: [described(parts)] }),
  },
  {
    method: 'GET',
    matches: (path) => path.startsWith(`${MODELS}/`),
    answer: (_, response, { path, ...parts }) => {
      const named = path.slice(MODELS.length + 1);
      requireModel(unescaped(named), parts.id);
      sendJson(response, 200, described(parts));
    },
  },
  { method: 'POST', matches: (path) => path === '/chat/completions', answer: complete },
];

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

const described = ({ id, created, contextLength }: Parts): object => ({
  ...{ id, object: 'model', created, owned_by: 'tandem' },
  max_model_len: contextLength,
});

function requireModel(named: string, id: string): void {
  if (named === id) return;
  throw new ApiRefusal(404, `The model "${named.slice(0, 80)}" is not served here; ask for "${id}".`, {
    code: 'model_not_found',
    param: 'model',
  });
}

async function complete(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const asked = readChatRequest(await jsonOf(request, response, parts));
  requireModel(asked.model, parts.id);
  const { answers } = parts;
  if (answers.open > 0 && answers.open + asked.n > answers.most) throw new BusyRefusal(answers.open);
  answers.open += asked.n;
  try {
    await writeAnswers(asked, response, parts);
  } finally {
    answers.open -= asked.n;
  }
}

async function jsonOf(
  request: IncomingMessage,
  response: ServerResponse,
  { signal, memory }: Parts,
): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const body = await readBody(request, response, { mostBytes: MAX_REQUEST_BYTES, signal, memory });
  if (encoding !== 'identity')
    throw new ApiRefusal(415, `Bodies are read as they are, not as ${encoding.slice(0, 80)}.`);
  try {
    // A byte-order mark in front is dropped.
    return JSON.parse(new TextDecoder().decode(body)) as unknown;
  } catch {
    throw refused(null, 'The body is not JSON.');
  }
}
