import { Fault, messageOf } from '../fault';
import { NoMemoryForRequest, TooLongRequest } from '../serving/messages';

/** OpenAI's form of an error. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  /** `null` where the API has none. */
  readonly code: string | null;
  readonly param: string | null;

  constructor(
    readonly status: number,
    message: string,
    {
      code = null,
      param = null,
      cause,
    }: { code?: string | null; param?: string | null; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.param = param;
  }

  get body(): object {
    const { message, code, param, status } = this;
    const type = status >= 500 ? 'server_error' : 'invalid_request_error';
    return { error: { message, type, param, code } };
  }
}

/** Too many other requests wait. Clients of the API retry by themselves. */
export class BusyRefusal extends ApiRefusal {
  constructor(open: number) {
    const message = `${open} answers are being written already. Send the request again later, or fewer at once.`;
    super(429, message, { code: 'rate_limit_exceeded' });
  }
}

export const refused = (param: string | null, message: string, code?: string): ApiRefusal =>
  new ApiRefusal(400, message, { param, code });

/** @param contextLength maximum number of tokens of the model, in the words by which clients recognise that error */
export function refusalFor(error: unknown, contextLength: number): ApiRefusal {
  if (error instanceof ApiRefusal) return error;
  const message = messageOf(error);
  if (error instanceof TooLongRequest) return new ApiRefusal(413, message);
  if (error instanceof NoMemoryForRequest) return new ApiRefusal(503, message, { code: 'server_overloaded' });
  if (!(error instanceof Fault)) return new ApiRefusal(500, message, { cause: error });
  switch (error.code) {
    case 'model/too-long':
      return refused(
        'messages',
        `This model's maximum context length is ${contextLength} tokens. ${message}`,
        'context_length_exceeded',
      );
    case 'model/too-large':
      return refused('max_tokens', message);
    case 'model/bad-request':
      return refused('messages', message);
    case 'serving/stopped':
      return new ApiRefusal(503, message, { code: error.code });
    default:
      return new ApiRefusal(500, message, { code: error.code, cause: error });
  }
}
