import type { OpenAI } from 'openai';
import { Fault } from '../fault';
import { isObject, isTooDeep, jsonOrUndefined } from '../json';
import { textOf } from './chat/body';
import type { Generation, PictureMessage, SamplingSettings } from './model';

/** The upper half is yellow, the lower one green: colors that a model that sees nothing does not guess together. */
const TEST_PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAOAAAADgAQMAAAAg4/iiAAAABlBMVEX//wAAgACwRE3EAAAAJ0lEQVR42u3JoQEAAAgDoP3/tH6wqgEqCQAAwFNT' +
    'SCmllFJKKeVhLuy0NHXw1+6wAAAAAElFTkSuQmCC',
  'base64',
);
const QUESTION =
  'This picture has two halves of one color each. Name the color of the upper half, then that of the lower half, in two words.';
const EXPECTED = /\byellow\b[^]*\bgreen\b/i;

/** A model may think first. */
const TRIAL: SamplingSettings = { temperature: 0, maxTokens: 1024 };

const ANSWER_TIMEOUT_MS = 5000;
/** OpenRouter's list has a description of each of its hundreds of models. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

interface Asked {
  readonly client: OpenAI;
  /** Base URL, as `readAddress` gives it. */
  readonly server: string;
  readonly model: string;
  readonly signal?: AbortSignal;
  readonly generate: (messages: readonly PictureMessage[], sampling: SamplingSettings) => Promise<Generation>;
}

export interface Sight {
  readonly sees: boolean;
  /** Why not, as a predicate that follows the server's name in a sentence. */
  readonly why?: string;
}

/**
 * Finds out whether a model sees pictures: from what its server says of it, else by a question about a picture.
 * @throws {Fault} `model/*` when the server cannot answer; a refusal of the picture is an answer
 */
export async function sightOf(asked: Asked): Promise<Sight> {
  for (const { path, body, said } of sources(asked)) {
    const answer = await ask(asked, path, body);
    const sees = answer === undefined ? undefined : said(answer);
    if (sees !== undefined)
      return sees ? { sees } : { sees, why: `says that ${asked.model} takes no pictures` };
  }
  return tried(asked);
}

interface Source {
  readonly path: string;
  /** Of a POST request; otherwise it is GET. */
  readonly body?: object;
  /** Undefined where the answer does not say. */
  readonly said: (answer: unknown) => boolean | undefined;
}

/** What servers say of their models, besides the form of OpenAI, which says nothing of it. */
function sources({ server, model }: Asked): readonly Source[] {
  const own = server.replace(/\/v1$/, '');
  return [
    // OpenRouter: `architecture.input_modalities`; Mistral: `capabilities.vision`.
    { path: `${server}/models`, said: (answer) => inList(at(answer, 'data') ?? answer, 'id', model) },
    // llama.cpp, with several models too.
    {
      path: `${own}/props?model=${encodeURIComponent(model)}`,
      said: (answer) => booleanOrNone(at(answer, 'modalities', 'vision')),
    },
    // Ollama
    {
      path: `${own}/api/show`,
      body: { model },
      said: (answer) => listHas(at(answer, 'capabilities'), 'vision'),
    },
    // LM Studio
    { path: `${own}/api/v1/models`, said: (answer) => inList(at(answer, 'models'), 'key', model) },
  ];
}

function inList(list: unknown, key: string, model: string): boolean | undefined {
  const entry: unknown = Array.isArray(list) ? list.find((one) => at(one, key) === model) : undefined;
  return (
    listHas(at(entry, 'architecture', 'input_modalities'), 'image') ??
    booleanOrNone(at(entry, 'capabilities', 'vision'))
  );
}

const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce((inner, name) => (isObject(inner) ? inner[name] : undefined), value);

const booleanOrNone = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

const listHas = (value: unknown, item: string): boolean | undefined =>
  Array.isArray(value) ? value.includes(item) : undefined;

/** Undefined for whatever is no JSON; the trial tells what is wrong with a server. */
async function ask({ client, signal }: Asked, path: string, body?: object): Promise<unknown> {
  const late = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const options = { signal: signal === undefined ? late : AbortSignal.any([late, signal]) };
  try {
    const sent = body === undefined ? client.get(path, options) : client.post(path, { ...options, body });
    const answer = jsonOrUndefined(await textOf(await sent.asResponse(), MAX_ANSWER_BYTES));
    return isTooDeep(answer) ? undefined : answer;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

async function tried({ generate }: Asked): Promise<Sight> {
  const message: PictureMessage = {
    role: 'user',
    content: [
      { type: 'text', text: QUESTION },
      { type: 'picture', png: TEST_PICTURE },
    ],
  };
  try {
    const { text } = await generate([message], TRIAL);
    return EXPECTED.test(text)
      ? { sees: true }
      : { sees: false, why: 'does not name the colors of a test picture' };
  } catch (error) {
    // vLLM and its relatives answer 400 or 500. A server that fails in general fails at the next request, too.
    const isRefused =
      error instanceof Fault && (error.code === 'model/bad-request' || error.code === 'model/server-error');
    if (isRefused) return { sees: false, why: 'refuses a test picture' };
    throw error;
  }
}
