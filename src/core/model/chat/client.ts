import type { APIError, ClientOptions } from 'openai';
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

/** @param baseUrl default: `OPENAI_BASE_URL`, else OpenAI's own */
export function clientFor(baseUrl: string | undefined, key: string | undefined): OpenAI {
  const options: ClientOptions = {
    apiKey: key ?? 'none',
    adminAPIKey: null,
    // Broken streams must be repeated too, and each repetition reported, so the package's own retry is off.
    maxRetries: 0,
    logLevel: 'off',
  };
  if (baseUrl !== undefined) options.baseURL = baseUrl;
  if (key === undefined) options.defaultHeaders = { Authorization: null };
  return new Client(options);
}
