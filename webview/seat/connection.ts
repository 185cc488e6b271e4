import { t } from '../language';
import type { ConsentRequest } from '../session/protocol';
import type { ViewRequest } from './protocol';

/** Whose page it is; also the start of the addresses of its requests. */
export type SeatName = 'seat' | 'agent';

export interface ConsentAction {
  readonly type: 'consent';
  readonly consent: ConsentRequest;
}

/** A refusal of the server, which asking again does not change. */
export class RefusedError extends Error {}

/** Where a browser keeps something of this page: both seats may be open in one. */
export const storageKey = (seat: SeatName, name: 'token' | 'pseudonym' | 'draft'): string =>
  `tandem.${seat}.${name}`;

/**
 * The token of the link. It is taken out of the address at once, so that neither the history nor a picture of the window
 * has it, and kept for this tab until it is closed.
 */
function takeToken(seat: SeatName): string {
  const key = storageKey(seat, 'token');
  const inLink = location.hash.slice(1);
  if (inLink !== '') {
    sessionStorage.setItem(key, inLink);
    history.replaceState(undefined, '', location.pathname);
  }
  return sessionStorage.getItem(key) ?? '';
}

/** The server of this page. */
export class Connection<View, Action, Answer> {
  private readonly token: string;

  constructor(private readonly seat: SeatName) {
    this.token = takeToken(seat);
  }

  view(request: ViewRequest): Promise<View> {
    return this.post<View>('view', request);
  }

  act(action: Action | ConsentAction): Promise<Answer> {
    return this.post<Answer>('act', action);
  }

  /** @throws {RefusedError} with the server's sentence; another error where no server answers */
  private async post<Reply>(
    route: 'view' | 'act',
    body: ViewRequest | Action | ConsentAction,
  ): Promise<Reply> {
    if (this.token === '') {
      throw new RefusedError(
        t(
          'This address has no token. Open the whole link that you were given: it ends with # and a long word.',
        ),
      );
    }
    const response = await fetch(`/${this.seat}/${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...{ cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' },
    });
    const answer = (await response.json()) as Reply & { readonly detail?: string };
    if (response.ok) return answer;
    throw new RefusedError(answer.detail ?? response.statusText);
  }
}
