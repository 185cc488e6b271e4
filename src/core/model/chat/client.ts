import type { APIError, ClientOptions } from 'openai';
import type { Address } from '../address';
import { isOfEnvironment } from '../environmentKey';
import { OpenAI } from './library';

/** The `openai` package loses the body of an error that is not in OpenAI's form, such as FastAPI's `detail`. */
class Client extends OpenAI {
  protected override makeStatusError(
    status: number,
    body: object | undefined,
    message: string | undefined,
    headers: Headers,
  ): APIError {
    const wrapped = body === undefined || 'error' in body ? body : { error: body };
    return super.makeStatusError(status, wrapped as object, message, headers);
  }
}

/** @param key sent to this server; undefined: none is */
export function clientFor({ baseUrl, origin }: Address, key: string | undefined): OpenAI {
  const isForeign = !isOfEnvironment(origin);
  const options: ClientOptions = {
    baseURL: baseUrl,
    apiKey: key ?? 'none',
    adminAPIKey: null,
    // Broken streams must be repeated too, and each repetition reported, so the package's own retry is off.
    maxRetries: 0,
    logLevel: 'off',
  };
  // The package reads these from the environment, and would send them to any server.
  if (isForeign) Object.assign(options, { organization: null, project: null });
  options.defaultHeaders = {
    ...(isForeign && withoutHeadersOfEnvironment()),
    ...(key === undefined && { Authorization: null }),
  };
  return new Client(options);
}

/** Takes back each header of `OPENAI_CUSTOM_HEADERS`, which has one `name: value` a line. */
function withoutHeadersOfEnvironment(): Record<string, null> {
  const lines = (process.env.OPENAI_CUSTOM_HEADERS ?? '').split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), null]));
}
