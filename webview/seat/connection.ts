import { t } from '../language';
import type { SeatAction, SeatAnswer, SeatView, ViewRequest } from './protocol';

const TOKEN = 'tandem.token';

/** A refusal of the server, which asking again does not change. */
export class RefusedError extends Error {}

/**
 * The token of the link. It is taken out of the address at once, so that neither the history nor a picture of the window
 * has it, and kept for this tab until it is closed.
 */
export function takeToken(): string {
  const inLink = location.hash.slice(1);
  if (inLink !== '') {
    sessionStorage.setItem(TOKEN, inLink);
    history.replaceState(undefined, '', location.pathname);
  }
  return sessionStorage.getItem(TOKEN) ?? '';
}

/** The server of this page. */
export class Connection {
  constructor(private readonly token: string) {}

  view(request: ViewRequest): Promise<SeatView> {
    return this.post<SeatView>('/seat/view', request);
  }

  act(action: SeatAction): Promise<SeatAnswer> {
    return this.post<SeatAnswer>('/seat/act', action);
  }

  /** @throws {RefusedError} with the server's sentence; another error where no server answers */
  private async post<Answer>(path: string, body: ViewRequest | SeatAction): Promise<Answer> {
    if (this.token === '') {
      throw new RefusedError(
        t(
          'This address has no token. Open the whole link that you were given: it ends with # and a long word.',
        ),
      );
    }
    const response = await fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...{ cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' },
    });
    const answer = (await response.json()) as Answer & { readonly detail?: string };
    if (response.ok) return answer;
    throw new RefusedError(answer.detail ?? response.statusText);
  }
}
