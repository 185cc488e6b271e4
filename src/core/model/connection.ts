import * as z from 'zod';
import { Fault } from '../fault';
import { originOf } from './address';
import { textOf } from './chat/body';
import { clientFor } from './chat/client';
import { diagnosisOf, notOpenAi, tooSlow, type Diagnosis } from './chat/diagnosis';
import type { Addressee } from './chat/failure';
import { environmentKey } from './environmentKey';
import type { SamplingSettings } from './model';
import { addressFor, OpenAiModel } from './openai';
import { jsonOrUndefined } from '../json';

export type { Diagnosis, ConnectionProblem } from './chat/diagnosis';

/** A model on a server that speaks OpenAI's API, as a person connects it. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly model: string;
  /** API key; defaults to `OPENAI_API_KEY` for the server it belongs to, as in a dialogue. Empty: none. */
  readonly key?: string;
  /** The model's own sampling settings, which the server may refuse. */
  readonly sampling?: Partial<SamplingSettings>;
}

/** Result of a trial request to a model. */
export type Trial =
  | { readonly works: true; readonly milliseconds: number; readonly notes: readonly string[] }
  | ({ readonly works: false } & Diagnosis);

/** Result of a request for a server's models. */
type ModelList =
  | { readonly listed: true; readonly names: readonly string[]; readonly owners: readonly string[] }
  | ({ readonly listed: false } & Diagnosis);

interface AskOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds that the server may take before its answer begins. */
  readonly timeoutMs?: number;
  /** Default: a redirect is followed. */
  readonly redirect?: 'error';
}

/** Time limit for the list, because a person waits for it and can type a name instead. */
const LIST_MS = 5_000;
/** Time limit for a trial; a small model may have to be loaded first. */
const TRIAL_MS = 30_000;
/** Token limit of a trial. Some servers refuse fewer; a truncated answer also proves that the model works. */
const TRIAL_TOKENS = 16;
/** Maximum number of models named in a sentence. */
const NAMED_MODELS = 5;

/**
 * Asks a model for a few words, once, in the way that a dialogue would.
 * @throws AbortError on cancel
 */
export async function tryModel(endpoint: Endpoint, options: AskOptions = {}): Promise<Trial> {
  const { signal, timeoutMs = TRIAL_MS } = options;
  const { baseUrl, model: name } = endpoint;
  const to = addressee(endpoint);
  const limits = { firstTokenMs: timeoutMs, betweenTokensMs: timeoutMs, totalMs: 2 * timeoutMs };
  const begun = performance.now();
  try {
    const model = new OpenAiModel({
      ...{ model: name, baseUrl, apiKey: to.key ?? '', limits, retry: { attempts: 1 } },
    });
    const sampling = { temperature: 0, ...endpoint.sampling, maxTokens: TRIAL_TOKENS };
    await model.generate([{ role: 'user', content: 'Say hello.' }], sampling, { signal });
    return { works: true, milliseconds: performance.now() - begun, notes: model.notes };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const diagnosis = diagnosisOf(error, to);
    const remedy =
      diagnosis.problem === 'unknown-model' ? await chooseAnother(endpoint, options) : diagnosis.remedy;
    return { works: false, ...diagnosis, remedy };
  }
}

const listSchema = z.object({
  data: z.array(z.object({ id: z.string(), owned_by: z.string().optional().catch(undefined) })),
});

/**
 * Asks a server for its models, sorted by name.
 * @throws AbortError on cancel
 */
export async function listModels(
  endpoint: Omit<Endpoint, 'model'>,
  { signal, timeoutMs = LIST_MS, redirect }: AskOptions = {},
): Promise<ModelList> {
  const to = addressee({ ...endpoint, model: '' });
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const request = {
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      fetchOptions: { redirect },
    };
    const answer = await clientFor(addressFor('', to.server), to.key).models.list(request).asResponse();
    const list = listSchema.safeParse(jsonOrUndefined(await textOf(answer)));
    if (!list.success) return { listed: false, ...notOpenAi(to) };
    const { data } = list.data;
    return {
      listed: true,
      names: data.map(({ id }) => id).sort(),
      owners: data.flatMap(({ owned_by: owner }) => owner ?? []),
    };
  } catch (error) {
    signal?.throwIfAborted();
    return { listed: false, ...(late.aborted ? tooSlow(to) : diagnosisOf(error, to)) };
  }
}

async function chooseAnother(endpoint: Endpoint, { signal }: AskOptions): Promise<string> {
  const list = await listModels(endpoint, { signal });
  if (!list.listed || list.names.length === 0) return 'Correct the name of the model.';
  const named = list.names.slice(0, NAMED_MODELS).join(', ');
  const more = list.names.length - NAMED_MODELS;
  return `Choose one that it has: ${named}${more > 0 ? ` and ${more} more` : ''}.`;
}

function addressee({ baseUrl, model, key = environmentKey(originOf(baseUrl)) }: Endpoint): Addressee {
  return { server: baseUrl, model, key: key === '' ? undefined : key };
}
