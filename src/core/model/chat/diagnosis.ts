import { Fault } from '../../fault';
import { connectionReason, Failure, failureOf, quoted, type Addressee } from './failure';

/** Reasons why a connection to a server does not work. */
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

/** A sentence that says what is wrong with a server, and one with the remedy. */
export interface Diagnosis {
  readonly problem: ConnectionProblem;
  readonly what: string;
  readonly remedy: string;
}

/**
 * Translates an error of a server or its connection for the person who connects it; rethrows anything else as a bug.
 */
export function diagnosisOf(error: unknown, to: Addressee): Diagnosis {
  if (error instanceof Fault && error.code === 'model/bad-address') return badAddress(to);
  // Without a key, OpenAI's own server is not even asked.
  if (error instanceof Fault && !(error.cause instanceof Failure)) return noKey(to);
  const failure = failureOf(error instanceof Fault ? error.cause : error, to);
  const { code, status, words = '' } = failure;
  if (status !== undefined) return refusal(status, words, to);
  if (code === 'model/timed-out') return tooSlow(to);
  if (code === 'model/bad-answer') return notOpenAi(to);
  if (code === 'model/too-long-answer') return serverError('writes without an end', to);
  if (code === 'model/server-error') return serverError(`answers with an error: ${quoted(words, to)}`, to);
  return disconnected(failure, to);
}

/** Returns the diagnosis for a connection that failed or broke. */
function disconnected(error: unknown, to: Addressee): Diagnosis {
  const reason = connectionReason(error);
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
      remedy: 'Correct the address, or see whether this machine is on the network.',
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
      remedy: 'Correct it, or name its authority in NODE_EXTRA_CA_CERTS and start the editor again.',
    };
  if (/TIMEOUT|ETIMEDOUT/.test(reason)) return tooSlow(to);
  if (/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|bad port/.test(reason))
    return {
      problem: 'unreachable',
      what: `${host} cannot be reached from here (${quoted(reason, to)}).`,
      remedy: 'See whether this machine is on its network, or correct the address.',
    };
  return {
    problem: 'closed',
    what: `${host} closes the connection before it has answered (${quoted(reason, to)}).`,
    remedy: 'Look at the log of the server.',
  };
}

/**
 * Returns the diagnosis for an error status.
 * @param words text of the server's answer
 */
function refusal(status: number, words: string, to: Addressee): Diagnosis {
  const said = `answers ${status}: ${quoted(words, to)}`;
  const host = hostOf(to);
  if (status === 401 && to.key === undefined) return noKey(to);
  if (status === 401)
    return {
      problem: 'wrong-key',
      what: `${host} refuses the key (${said}).`,
      remedy: 'Set another key.',
    };
  if (status === 403)
    return {
      problem: 'not-allowed',
      what: `${host} does not allow this (${said}).`,
      remedy: 'Use a key that may use this model, or another model.',
    };
  if (status === 404 && /model/i.test(words))
    return {
      problem: 'unknown-model',
      what: `${host} has no model called “${to.model}”.`,
      remedy: 'Correct the name of the model.',
    };
  if (status === 404 || status === 405) return notOpenAi(to, status);
  if (status === 402 || (status === 429 && words.includes('insufficient_quota')))
    return {
      problem: 'no-credit',
      what: `The account at ${host} has no credit left.`,
      remedy: 'Add some, or use another key.',
    };
  if (status === 429)
    return {
      problem: 'rate-limited',
      what: `${host} takes no more requests for now (${said}).`,
      remedy: 'Try again later.',
    };
  if (status === 408 || status >= 500) return serverError(said, to);
  return {
    problem: 'refused-request',
    what: `${host} refuses the request (${said}).`,
    remedy: 'Change what it names: the model or its sampling settings.',
  };
}

export function tooSlow(to: Addressee): Diagnosis {
  return {
    problem: 'timed-out',
    what: `${hostOf(to)} takes the request but does not answer in time.`,
    remedy: 'See whether it is overloaded or still loads the model, and try again.',
  };
}

/**
 * Returns the diagnosis for a server that does not speak OpenAI's API.
 * @param status status of its answer, if that is the evidence
 */
export function notOpenAi(to: Addressee, status?: number): Diagnosis {
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

function serverError(said: string, to: Addressee): Diagnosis {
  return {
    problem: 'server-error',
    what: `${hostOf(to)} is in trouble (it ${said}).`,
    remedy: 'Look at the log of the server, or try again later.',
  };
}

/** Returns the host with its port, because the port may be wrong. */
function hostOf({ server }: Addressee): string {
  return URL.parse(server)?.host ?? server;
}
