import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '../fault';
import type { LocalModel } from '../model/local/model';
import { TokenTexts } from '../model/local/tokenTexts';
import { Listener, type ListenPlace } from '../serving/listener';
import { readBody, sendJson, RequestMemory } from '../serving/messages';
import { sendRefusal, writeAnswers, type AnsweringModel } from './answers';
import { readChatRequest, ApiRefusal, refusalFor, refused } from './request';

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
        sendJson(response, status, new ApiRefusal(status, detail, code).body);
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
    const route = path.startsWith(MODEL) ? ROUTES[MODEL] : ROUTES[path];
    if (route === undefined) throw new ApiRefusal(404, `There is no ${given.slice(0, 200)} here.`);
    if (route.method !== method) throw new ApiRefusal(405, `This address takes ${route.method} alone.`);
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
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    parts: Parts & { readonly path: string },
  ) => Promise<void> | void;
}

/** Followed by the name of one. */
const MODEL = '/models/';

const ROUTES: Readonly<Record<string, Route | undefined>> = {
  '/health': {
    method: 'GET',
    answer: (_, response) => sendJson(response, 200, { status: 'healthy' }),
  },
  '/models': {
    method: 'GET',
    answer: (_, response, parts) => sendJson(response, 200, { object: 'list', data: [described(parts)] }),
  },
  [MODEL]: {
    method: 'GET',
    answer: (_, response, { path, ...parts }) => {
      requireModel(unescaped(path.slice(MODEL.length)), parts.id);
      sendJson(response, 200, described(parts));
    },
  },
  '/chat/completions': { method: 'POST', answer: complete },
};

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
  const message = `The model "${named.slice(0, 80)}" is not served here; ask for "${id}".`;
  throw new ApiRefusal(404, message, 'model_not_found', 'model');
}

async function complete(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const asked = readChatRequest(await jsonOf(request, response, parts));
  requireModel(asked.model, parts.id);
  const { answers } = parts;
  // Clients of the API retry by themselves.
  if (answers.open > 0 && answers.open + asked.n > answers.most)
    throw new ApiRefusal(
      429,
      `${answers.open} answers are being written already. Send the request again later, or fewer at once.`,
      'rate_limit_exceeded',
    );
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
