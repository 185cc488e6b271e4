import { Fault, messageOf } from '../fault';
import { TooLongRequest } from '../serving/messages';

/** An answer that is an error, in the form of OpenAI's API. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  /** The code by which clients tell errors apart; `null` where the API has none. */
  readonly code: string | null;
  /** The field of the request that is wrong. */
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

/** The refusal of a request that would wait for too many others. Clients of the API send it again by themselves. */
export class BusyRefusal extends ApiRefusal {
  /** @param open number of answers that are being written */
  constructor(open: number) {
    const message = `${open} answers are being written already. Send the request again later, or fewer at once.`;
    super(429, message, { code: 'rate_limit_exceeded' });
  }
}

/** Makes the refusal of a field that the request gives wrongly, or that cannot be done. */
export const refused = (param: string | null, message: string, code?: string): ApiRefusal =>
  new ApiRefusal(400, message, { param, code });

/**
 * Returns the refusal that a client gets for an error.
 * @param contextLength maximum number of tokens of the model, in the words by which clients know that error
 */
export function refusalFor(error: unknown, contextLength: number): ApiRefusal {
  if (error instanceof ApiRefusal) return error;
  const message = messageOf(error);
  if (error instanceof TooLongRequest) return new ApiRefusal(413, message);
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
