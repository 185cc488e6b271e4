import * as z from 'zod';
import { Fault } from '../fault';
import { originOf, environmentKey } from './address';
import { textOf } from './chat/body';
import { clientFor } from './chat/client';
import { type Addressee, closedWhen, connectionReason, Failure, failureOf, quoted } from './chat/failure';
import type { SamplingSettings } from './model';
import { addressFor, OpenAiModel } from './openai';
import { jsonOrUndefined } from '../json';

export interface Endpoint {
  readonly baseUrl: string;
  readonly model: string;
  /** API key; defaults to `OPENAI_API_KEY` for the server it belongs to, as in a dialogue. Empty: none. */
  readonly key?: string;
  /** The server may refuse them. */
  readonly sampling?: Partial<SamplingSettings>;
}

export type Trial =
  | { readonly works: true; readonly milliseconds: number; readonly notes: readonly string[] }
  | ({ readonly works: false } & Diagnosis);

type ModelList =
  | { readonly listed: true; readonly names: readonly string[]; readonly owners: readonly string[] }
  | ({ readonly listed: false } & Diagnosis);

interface AskOptions {
  readonly signal?: AbortSignal;
  /** Until the answer begins. */
  readonly timeoutMs?: number;
  /** Default: a redirect is followed. */
  readonly redirect?: 'error';
}

/** A person waits for the list and can type a name instead. */
const LIST_MS = 5_000;
/** A small model may have to be loaded first. */
const TRIAL_MS = 30_000;
/** Some servers refuse fewer; a truncated answer also proves that the model works. */
const TRIAL_TOKENS = 16;
const NAMED_MODELS = 5;

/**
 * Asks for a few words, once, in the way that a dialogue would.
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
    let pieces = 0;
    await model.generate([{ role: 'user', content: 'Say hello.' }], sampling, {
      signal,
      // Some servers ignore the limit, and would be waited for until the time is up.
      enough: () => (pieces += 1) > 2 * TRIAL_TOKENS,
    });
    return { works: true, milliseconds: performance.now() - begun, notes: model.notes };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const found = diagnosisOf(error, to);
    const remedy = found.problem === 'unknown-model' ? await chooseAnother(endpoint, options) : found.remedy;
    return { works: false, ...found, remedy };
  }
}

/** OpenRouter's list has a description of each of its hundreds of models. */
const MAX_LIST_BYTES = 16 * 2 ** 20;

const listedModel = z.union([
  z.string().transform((id) => ({ id, owned_by: undefined })),
  z.object({ id: z.string(), owned_by: z.string().optional().catch(undefined) }),
]);

/** In `data`; Together has the list alone, and Ollama writes `null` for none. Entries without a name are left out. */
const listSchema = z
  .union([
    z.array(z.unknown()),
    z.object({ data: z.array(z.unknown()).nullable() }).transform(({ data }) => data ?? []),
  ])
  .transform((entries) => entries.flatMap((entry) => listedModel.safeParse(entry).data ?? []));

/**
 * Sorted by name.
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
    const list = listSchema.safeParse(jsonOrUndefined(await textOf(answer, MAX_LIST_BYTES)));
    if (!list.success) return { listed: false, ...notOpenAi(to) };
    return {
      listed: true,
      names: list.data.map(({ id }) => id).sort(),
      owners: list.data.flatMap(({ owned_by: owner }) => owner ?? []),
    };
  } catch (error) {
    signal?.throwIfAborted();
    return { listed: false, ...(late.aborted ? tooSlow(to) : diagnosisOf(error, to)) };
  }
}

export interface FoundServer {
  readonly baseUrl: string;
  /** Where the server names it. */
  readonly program?: string;
  /** Empty when it lists none without a key. */
  readonly models: readonly string[];
  readonly wantsKey: boolean;
}

/** Programs by the owner that their lists name for every model. */
const PROGRAMS: Readonly<Record<string, string>> = {
  library: 'Ollama',
  llamacpp: 'llama.cpp',
  organization_owner: 'LM Studio',
  sglang: 'SGLang',
  tandem: 'Tandem',
  vllm: 'vLLM',
};

/** For each server; where none listens, that is known at once. */
const DISCOVERY_TIMEOUT_MS = 5000;

/**
 * Asks all at once and returns those that speak OpenAI's API. Sends no key, because any program may listen at such an
 * address, and follows no redirect to another address.
 */
export async function findServers(
  addresses: readonly string[],
  lookMs = DISCOVERY_TIMEOUT_MS,
): Promise<readonly FoundServer[]> {
  const found = await Promise.all(
    addresses.map(async (baseUrl): Promise<FoundServer[]> => {
      const list = await listModels({ baseUrl, key: '' }, { timeoutMs: lookMs, redirect: 'error' });
      if (!list.listed) return list.problem === 'no-key' ? [{ baseUrl, models: [], wantsKey: true }] : [];
      const program = list.owners.map((owner) => PROGRAMS[owner]).find((name) => name !== undefined);
      return [{ baseUrl, program, models: list.names, wantsKey: false }];
    }),
  );
  return found.flat();
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

/** What helps, by what is wrong. */
const REMEDIES = {
  'bad-address': 'Write one such as http://127.0.0.1:8000/v1, without a name or a password in it.',
  refused: 'Start the server, or correct the address.',
  'unknown-host': 'Correct the address, or check that this machine is on the network.',
  unreachable: 'Check that this machine is on its network, or correct the address.',
  'no-tls': 'Begin the address with http://, or turn https on at the server.',
  certificate: 'Correct it, or name its authority in NODE_EXTRA_CA_CERTS and restart the editor.',
  closed: 'Look at the log of the server.',
  'timed-out': 'Check whether it is overloaded or still loading the model, and try again.',
  'no-key': 'Set the key of this server.',
  'wrong-key': 'Set another key.',
  'not-allowed': 'Use a key that may use this model, or another model.',
  'unknown-model': 'Correct the name of the model.',
  'not-openai': 'Correct the base URL; it usually ends in /v1.',
  'rate-limited': 'Try again later.',
  'no-credit': 'Add some, or use another key.',
  'refused-request': 'Change what it names: the model or its sampling settings.',
  'server-error': 'Check the log of the server, or try again later.',
} as const;

export type ConnectionProblem = keyof typeof REMEDIES;

export interface Diagnosis {
  readonly problem: ConnectionProblem;
  readonly what: string;
  readonly remedy: string;
}

const diagnosis = (problem: ConnectionProblem, what: string): Diagnosis => ({
  problem,
  what,
  remedy: REMEDIES[problem],
});

/** For the person who connects the server; rethrows anything else as a bug. */
function diagnosisOf(error: unknown, to: Addressee): Diagnosis {
  if (error instanceof Fault && error.code === 'model/bad-address') return badAddress(to);
  // Without a key, OpenAI's own server is not even asked.
  if (error instanceof Fault && !(error.cause instanceof Failure)) return noKey(to);
  const failure = failureOf(error instanceof Fault ? error.cause : error, to);
  const { status, complaint, words = '' } = failure.details;
  const host = hostOf(to);
  const said = `answers ${status ?? 'with an error'}: ${quoted(words, to)}`;
  switch (failure.code) {
    case 'model/unauthorized':
      if (status === 403 && complaint === undefined)
        return diagnosis('not-allowed', `${host} does not allow this (${said}).`);
      return to.key === undefined ? noKey(to) : diagnosis('wrong-key', `${host} refuses the key (${said}).`);
    case 'model/unknown-model':
      return diagnosis('unknown-model', `${host} has no model called “${to.model}”.`);
    case 'model/unreachable':
      return status === undefined ? disconnected(failure, to) : notOpenAi(to, status);
    case 'model/timed-out':
      return tooSlow(to);
    case 'model/bad-answer':
      return notOpenAi(to);
    case 'model/no-credit':
      return diagnosis('no-credit', `The account at ${host} has no credit left (${said}).`);
    case 'model/rate-limited':
      return diagnosis('rate-limited', `${host} takes no more requests for now (${said}).`);
    case 'model/server-error':
      return diagnosis('server-error', `${host} ${said}.`);
    case 'model/too-long-answer':
      return diagnosis('server-error', `${host} writes without an end.`);
    case 'model/filtered':
      return diagnosis('refused-request', `${host} withholds its answer because of the content.`);
    default:
      return diagnosis('refused-request', `${host} refuses the request (${said}).`);
  }
}

function disconnected(failure: Failure, to: Addressee): Diagnosis {
  const reason = connectionReason(failure);
  const host = hostOf(to);
  if (reason.includes('ECONNREFUSED'))
    return diagnosis('refused', `Can't connect to ${host}: it refused the connection.`);
  if (/ENOTFOUND|EAI_AGAIN/.test(reason))
    return diagnosis('unknown-host', `There is no host called ${host} (${reason}).`);
  if (/ERR_SSL|EPROTO|ERR_TLS_(?!CERT)/.test(reason))
    return diagnosis('no-tls', `${host} does not speak https (${reason}).`);
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(reason))
    return diagnosis('certificate', `The certificate of ${host} is not trusted here (${reason}).`);
  if (/TIMEOUT|ETIMEDOUT/.test(reason)) return tooSlow(to);
  if (/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|bad port/.test(reason))
    return diagnosis('unreachable', `${host} cannot be reached from here (${quoted(reason, to)}).`);
  const { closedAfter, words = reason } = failure.details;
  if (closedAfter === undefined)
    return diagnosis('closed', `${host} broke off mid-answer (${quoted(words, to)}).`);
  return diagnosis('closed', `${host} closed the connection ${closedWhen(closedAfter)}.`);
}

const tooSlow = (to: Addressee): Diagnosis =>
  diagnosis('timed-out', `${hostOf(to)} takes the request but does not answer in time.`);

/** @param status status of its answer, if that is the evidence */
function notOpenAi(to: Addressee, status?: number): Diagnosis {
  const how = status === undefined ? '' : ` (${status})`;
  return diagnosis('not-openai', `What answers at ${to.server} does not speak OpenAI's API${how}.`);
}

const noKey = (to: Addressee): Diagnosis => diagnosis('no-key', `${hostOf(to)} asks for a key.`);

function badAddress(to: Addressee): Diagnosis {
  // A password in it must not appear on the screen or in a log.
  const shown = to.server.replace(/\/\/[^/]*@/, '//…@');
  return diagnosis('bad-address', `“${shown}” is not the address of a server.`);
}

/** Includes the port, which may be wrong. */
const hostOf = ({ server }: Addressee): string => URL.parse(server)?.host ?? server;
