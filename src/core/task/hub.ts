import { messageOf } from '../fault';
import { askedWait } from '../retryAfter';

export const isHubToken = (text: string): boolean => text.startsWith('hf_');

export const isRepository = (text: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(text);

export class HubFailure extends Error {
  override readonly name = 'HubFailure';

  /**
   * @param kind `lost`: no connection, or it broke. `stalled`: nothing arrived for too long. `refused`: an HTTP status
   * that is no success. `no-range`: the server does not continue where it was asked to.
   */
  constructor(
    readonly kind: 'lost' | 'stalled' | 'refused' | 'no-range',
    message: string,
    readonly details: { status?: number; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** True if a later attempt may succeed without anyone doing something. */
  get passes(): boolean {
    const { status } = this.details;
    return status === undefined || status === 408 || status === 429 || status >= 500;
  }
}

const MAX_REDIRECTS = 5;
/** Without a byte for so long, a connection counts as lost. */
const STALL_LIMIT_MS = 60_000;

/**
 * Makes the requests of one attempt. `@huggingface/hub` knows the hub's paths and headers; it takes `fetch` from here,
 * which adds what its streams leave out: cancelling, a limit on silence, the status of a refused download, and the etag
 * and the commit that only the first of several redirected answers carries.
 */
export class HubConnection {
  private readonly end = new AbortController();
  private readonly signal: AbortSignal;
  private silence: NodeJS.Timeout | undefined;
  private failure: HubFailure | undefined;
  /** `X-Linked-ETag`: the content hash of a file in large-file storage; that server may send another etag. */
  linkedEtag: string | undefined;
  /** `X-Repo-Commit`: the commit that the hub has answered from; undefined where a server does not say. */
  commit: string | undefined;
  /** A page to sign in may come with an ETag, and in ranges, as a file does; the hub sends none as HTML. */
  isPage = false;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal ? AbortSignal.any([signal, this.end.signal]) : this.end.signal;
  }

  /** The `fetch` that the library calls. It throws `HubFailure`, also on a status that is no success. */
  readonly fetch: typeof fetch = async (input, init) => {
    this.alive();
    const headers = new Headers(init?.headers);
    // A file that is compressed on the way could not be continued at a byte.
    headers.set('Accept-Encoding', 'identity');
    try {
      const response = await this.follow(new URL(urlOf(input)), { ...init, headers, signal: this.signal });
      this.alive();
      if (!response.ok) throw await refused(response);
      checkRange(headers.get('Range'), response);
      this.isPage ||= /^text\/html/i.test(response.headers.get('Content-Type') ?? '');
      return response;
    } catch (error) {
      throw this.failed(error);
    }
  };

  /** Yields the bytes of a body. Throws `HubFailure` when the connection breaks. */
  async *read(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    try {
      for (;;) {
        this.alive();
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } catch (error) {
      // The library passes on only the text of what failed in `fetch`; the failure itself is remembered here.
      throw this.failure ?? this.failed(error);
    } finally {
      reader.releaseLock();
    }
  }

  close(): void {
    clearTimeout(this.silence);
    this.end.abort();
  }

  private alive(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.failure = new HubFailure('stalled', `nothing arrived for ${STALL_LIMIT_MS / 1000} s`);
      this.end.abort(this.failure);
    }, STALL_LIMIT_MS);
  }

  /** Follows redirects by hand, since the hub's own headers are on the redirect, not on what it leads to. */
  private async follow(url: URL, init: RequestInit & { headers: Headers }): Promise<Response> {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      this.linkedEtag = response.headers.get('X-Linked-ETag') ?? this.linkedEtag;
      this.commit = response.headers.get('X-Repo-Commit') ?? this.commit;
      const location =
        response.status >= 300 && response.status < 400 ? response.headers.get('Location') : null;
      if (location === null) return response;
      await response.body?.cancel();
      const next = new URL(location, url);
      if (next.origin !== url.origin) init.headers.delete('Authorization');
      url = next;
    }
    throw new HubFailure('refused', `more than ${MAX_REDIRECTS} redirects`, { status: 310 });
  }

  private failed(error: unknown): HubFailure {
    this.failure ??=
      error instanceof HubFailure ? error : new HubFailure('lost', rootOf(error), { cause: error });
    return this.failure;
  }
}

function urlOf(input: Parameters<typeof fetch>[0]): string {
  return input instanceof Request ? input.url : input.toString();
}

async function refused(response: Response): Promise<HubFailure> {
  const { status } = response;
  const said = response.headers.get('X-Error-Message') ?? response.statusText;
  await response.body?.cancel();
  if (status === 416) return new HubFailure('no-range', 'the range is not there');
  const details = { status, retryAfterMs: askedWait(response.headers) };
  return new HubFailure('refused', `${status}${said ? ` ${said}` : ''}`, details);
}

/** Refuses an answer that begins elsewhere than asked, which would put bytes in the wrong place. */
function checkRange(asked: string | null, response: Response): void {
  const from = Number(/^bytes=(\d+)-/.exec(asked ?? '')?.[1] ?? 0);
  if (from === 0) return;
  const given = /^bytes (\d+)-/.exec(response.headers.get('Content-Range') ?? '')?.[1];
  if (response.status !== 206 || Number(given) !== from) {
    throw new HubFailure('no-range', 'the server does not continue a file in the middle');
  }
}

/** `fetch` itself says only "fetch failed" or "terminated". */
function rootOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  if (cause instanceof AggregateError && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return messageOf(cause instanceof Error ? cause : error);
}
