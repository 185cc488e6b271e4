import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { bearerOf, hostNameOf, isLoopback, isSame, type Refusal } from './listener';

interface PageAccess {
  /** Where the server listens. */
  readonly host: string;
  readonly token: string;
  /** Origin at which people open the page where a proxy stands in front: `https://lab.example`. */
  readonly origin?: string;
  /** Files of the page, which hold nothing secret: a browser asks for them before a script can send the token. */
  readonly isPublic: (path: string) => boolean;
}

/**
 * Decides who may use a page of this server. `Host` must be a name of this server, so that no other site can lead its
 * own name here (DNS rebinding). `Origin`, where a browser sends one, must be that of the page itself, so that no other
 * site can send a request (CSRF). Everything but the page's own files needs the token in a header, never in an address.
 */
export function pageRefusalOf(
  { headers, url = '' }: IncomingMessage,
  { host, token, origin, isPublic }: PageAccess,
): Refusal | undefined {
  const at = headers.host ?? '';
  if (!isOwnName(hostNameOf(at), host, origin)) {
    const detail = `This server is at ${host}, not at ${hostNameOf(at).slice(0, 100)}. Open the link that it was started with.`;
    return { status: 403, detail };
  }
  if (headers.origin !== undefined && headers.origin !== `http://${at}` && headers.origin !== origin)
    return { status: 403, detail: 'Another web page may not use this server.' };
  if (isPublic(url) || isSame(bearerOf(headers.authorization), token)) return undefined;
  return { status: 401, detail: 'This link is not valid any more. Ask for a new one where you got it.' };
}

/** A server that others may reach has any number for its name: only names of sites can be led elsewhere. */
function isOwnName(name: string, host: string, origin: string | undefined): boolean {
  if (name === host || isLoopback(name)) return true;
  if (origin !== undefined && name === hostNameOf(new URL(origin).host)) return true;
  return !isLoopback(host) && isIP(name) !== 0;
}
