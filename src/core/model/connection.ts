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
    const diagnosis = diagnosisOf(error, to);
    const remedy =
      diagnosis.problem === 'unknown-model' ? await chooseAnother(endpoint, options) : diagnosis.remedy;
    return { works: false, ...diagnosis, remedy };
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

export type ConnectionProblem =
  | 'bad-address'
  | 'refused'
  | 'unknown-host'
  | 'unreachable'
  | 'no-tls'
  | 'certificate'
  | 'closed'
  | 'timed-out'
  | 'no-key'
  | 'wrong-key'
  | 'not-allowed'
  | 'unknown-model'
  | 'not-openai'
  | 'rate-limited'
  | 'no-credit'
  | 'refused-request'
  | 'server-error';

export interface Diagnosis {
  readonly problem: ConnectionProblem;
  readonly what: string;
  readonly remedy: string;
}

/** For the person who connects the server; rethrows anything else as a bug. */
function diagnosisOf(error: unknown, to: Addressee): Diagnosis {
  if (error instanceof Fault && error.code === 'model/bad-address') return badAddress(to);
  // Without a key, OpenAI's own server is not even asked.
  if (error instanceof Fault && !(error.cause instanceof Failure)) return noKey(to);
  const failure = failureOf(error instanceof Fault ? error.cause : error, to);
  const { code, status, complaint, words = '' } = failure;
  if (status !== undefined || complaint !== undefined) return refusal(failure, to);
  if (code === 'model/timed-out') return tooSlow(to);
  if (code === 'model/bad-answer') return notOpenAi(to);
  if (code === 'model/filtered')
    return refusedRequest(`${hostOf(to)} withholds its answer because of the content.`);
  if (code === 'model/too-long-answer') return serverError(`${hostOf(to)} writes without an end.`);
  if (code === 'model/server-error')
    return serverError(`${hostOf(to)} answers with an error: “${quoted(words, to)}”.`);
  return disconnected(failure, to);
}

function disconnected(failure: Failure, to: Addressee): Diagnosis {
  const reason = connectionReason(failure);
  const host = hostOf(to);
  if (reason.includes('ECONNREFUSED'))
    return {
      problem: 'refused',
      what: `Can't connect to ${host}: it refused the connection.`,
      remedy: 'Start the server, or correct the address.',
    };
  if (/ENOTFOUND|EAI_AGAIN/.test(reason))
    return {
      problem: 'unknown-host',
      what: `There is no host called ${host} (${reason}).`,
      remedy: 'Correct the address, or check that this machine is on the network.',
    };
  if (/ERR_SSL|EPROTO|ERR_TLS_(?!CERT)/.test(reason))
    return {
      problem: 'no-tls',
      what: `${host} does not speak https (${reason}).`,
      remedy: 'Begin the address with http://, or turn https on at the server.',
    };
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(reason))
    return {
      problem: 'certificate',
      what: `The certificate of ${host} is not trusted here (${reason}).`,
      remedy: 'Correct it, or name its authority in NODE_EXTRA_CA_CERTS and restart the editor.',
    };
  if (/TIMEOUT|ETIMEDOUT/.test(reason)) return tooSlow(to);
  if (/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|bad port/.test(reason))
    return {
      problem: 'unreachable',
      what: `${host} cannot be reached from here (${quoted(reason, to)}).`,
      remedy: 'Check that this machine is on its network, or correct the address.',
    };
  const { closedAfter, words } = failure;
  const what =
    closedAfter === undefined
      ? `${host} broke off mid-answer (${quoted(words ?? reason, to)}).`
      : closedAfter === 0
        ? `${host} closed the connection before it answered.`
        : `The connection to ${host} closed ${closedWhen(closedAfter)}.`;
  return { problem: 'closed', what, remedy: 'Look at the log of the server.' };
}

function refusal({ code, status, words = '', complaint }: Failure, to: Addressee): Diagnosis {
  const said = `answers ${status ?? 'with an error'}: ${quoted(words, to)}`;
  const host = hostOf(to);
  switch (code) {
    case 'model/unauthorized':
      if (status === 403 && complaint === undefined)
        return {
          problem: 'not-allowed',
          what: `${host} does not allow this (${said}).`,
          remedy: 'Use a key that may use this model, or another model.',
        };
      if (to.key === undefined) return noKey(to);
      return {
        problem: 'wrong-key',
        what: `${host} refuses the key (${said}).`,
        remedy: 'Set another key.',
      };
    case 'model/unknown-model':
      return {
        problem: 'unknown-model',
        what: `${host} has no model called “${to.model}”.`,
        remedy: 'Correct the name of the model.',
      };
    case 'model/unreachable':
      return notOpenAi(to, status);
    case 'model/no-credit':
      return {
        problem: 'no-credit',
        what: `The account at ${host} has no credit left (${said}).`,
        remedy: 'Add some, or use another key.',
      };
    case 'model/rate-limited':
      return {
        problem: 'rate-limited',
        what: `${host} takes no more requests for now (${said}).`,
        remedy: 'Try again later.',
      };
    case 'model/server-error':
      return serverError(`Server error ${status ?? ''} from ${host}: “${quoted(words, to)}”.`);
    default:
      return refusedRequest(`${host} refuses the request (${said}).`);
  }
}

function refusedRequest(what: string): Diagnosis {
  return {
    problem: 'refused-request',
    what,
    remedy: 'Change what it names: the model or its sampling settings.',
  };
}

function tooSlow(to: Addressee): Diagnosis {
  return {
    problem: 'timed-out',
    what: `${hostOf(to)} takes the request but does not answer in time.`,
    remedy: 'Check whether it is overloaded or still loading the model, and try again.',
  };
}

/** @param status status of its answer, if that is the evidence */
function notOpenAi(to: Addressee, status?: number): Diagnosis {
  const how = status === undefined ? '' : ` (${status})`;
  return {
    problem: 'not-openai',
    what: `What answers at ${to.server} does not speak OpenAI's API${how}.`,
    remedy: 'Correct the base URL; it usually ends in /v1.',
  };
}

function noKey(to: Addressee): Diagnosis {
  return { problem: 'no-key', what: `${hostOf(to)} asks for a key.`, remedy: 'Set the key of this server.' };
}

function badAddress(to: Addressee): Diagnosis {
  // A password in it must not appear on the screen or in a log.
  const shown = to.server.replace(/\/\/[^/]*@/, '//…@');
  return {
    problem: 'bad-address',
    what: `“${shown}” is not the address of a server.`,
    remedy: 'Write one such as http://127.0.0.1:8000/v1, without a name or a password in it.',
  };
}

function serverError(what: string): Diagnosis {
  return {
    problem: 'server-error',
    what,
    remedy: 'Check the log of the server, or try again later.',
  };
}

/** Includes the port, which may be wrong. */
function hostOf({ server }: Addressee): string {
  return URL.parse(server)?.host ?? server;
}
