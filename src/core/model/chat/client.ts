import { OpenAI, type APIError, type ClientOptions } from 'openai';
import { isObject, isTooDeep } from '../../json';
import { type Address, isOfEnvironment } from '../address';
import { boundedFetch } from './body';

/**
 * Keeps the body of errors that are not in OpenAI's form, such as FastAPI's `detail`, which the `openai` package drops.
 */
class Client extends OpenAI {
  protected override makeStatusError(
    status: number,
    body: object | undefined,
    message: string | undefined,
    headers: Headers,
  ): APIError {
    // The package puts the body into a message, with a recursive call for each level of it.
    const said: unknown = isTooDeep(body) ? 'JSON that is nested too deeply' : body;
    const wrapped = said == null || (isObject(said) && said.error) ? said : { error: said };
    return super.makeStatusError(status, wrapped as object, message, headers);
  }
}

export function clientFor({ baseUrl, origin }: Address, key: string | undefined): OpenAI {
  const isForeign = !isOfEnvironment(origin);
  const options: ClientOptions = {
    baseURL: baseUrl,
    apiKey: key ?? 'none',
    adminAPIKey: null,
    // `docs/decisions/retries-of-model-servers.md` says why the package's own retries are off.
    maxRetries: 0,
    logLevel: 'off',
    fetch: boundedFetch,
  };
  // The package reads these from the environment and would send them to any server.
  if (isForeign) Object.assign(options, { organization: null, project: null });
  options.defaultHeaders = {
    ...(isForeign && withoutHeadersOfEnvironment()),
    ...(key === undefined && { Authorization: null }),
  };
  return new Client(options);
}

/** `OPENAI_CUSTOM_HEADERS` has one `name: value` a line. */
function withoutHeadersOfEnvironment(): Record<string, null> {
  const lines = (process.env.OPENAI_CUSTOM_HEADERS ?? '').split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), null]));
}
