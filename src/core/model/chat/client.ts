import type { APIError, ClientOptions } from 'openai';
import { isTooDeep } from '../../nesting';
import type { Address } from '../address';
import { isOfEnvironment } from '../environmentKey';
import { boundedFetch } from './body';
import { OpenAI } from './library';

/** The `openai` package loses the body of an error that is not in OpenAI's form, such as FastAPI's `detail`. */
class Client extends OpenAI {
  protected override makeStatusError(
    status: number,
    body: object | undefined,
    message: string | undefined,
    headers: Headers,
  ): APIError {
    // What the server says is put into a message, which takes a call for each level of it.
    const said = isTooDeep(body) ? { error: 'JSON that is nested too deeply' } : body;
    const wrapped = said === undefined || 'error' in said ? said : { error: said };
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
    fetch: boundedFetch,
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
