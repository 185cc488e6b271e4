import { withoutEnd } from '../text';

/** Where OpenAI itself answers. */
const OPENAI = 'https://api.openai.com/v1';

/** The model's name ends where an address begins: the last `@` before a scheme, however that is written. */
const ADDRESS_BEGINS = /@(?=\s*(?:https?:|[a-z][a-z\d+.-]*:\/\/))/gi;

/** A server's address as requests use it. */
export interface Address {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Scheme, host and port. A key belongs to an origin. */
  readonly origin: string;
}

/**
 * Reads the base URL of a server. Everything that sends a request or looks up a key reads it here, so that a key is
 * looked up for the server that gets it.
 * @returns `none` for a text that is no such address, `has-user` for one that holds a name or a password
 */
export function readAddress(text: string): Address | 'none' | 'has-user' {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return 'none';
  if (url.username !== '' || url.password !== '') return 'has-user';
  // A request puts its own path at the end.
  if (url.search !== '' || url.hash !== '') return 'none';
  return { baseUrl: withoutEnd(`${url.origin}${url.pathname}`, '/'), origin: url.origin };
}

/** The origin of a base URL; undefined when it is none. */
export function originOf(text: string): string | undefined {
  const address = readAddress(text);
  return typeof address === 'string' ? undefined : address.origin;
}

/** A model on a server as `openai:<model>[@<base URL>]` names it. */
export interface ServedModel {
  readonly model: string;
  /** As it is written; absent when the environment names the server. */
  readonly baseUrl?: string;
}

/** Undefined for models that no server plays. The model's name may itself contain `/`, `:` and `@`. */
export function servedModel(spec: string): ServedModel | undefined {
  if (!spec.startsWith('openai:')) return undefined;
  const rest = spec.slice('openai:'.length);
  const at = [...rest.matchAll(ADDRESS_BEGINS)].at(-1)?.index;
  return at === undefined ? { model: rest } : { model: rest.slice(0, at), baseUrl: rest.slice(at + 1) };
}

/** The base URL for models whose name has none: `OPENAI_BASE_URL`, else OpenAI's own. */
export function environmentBaseUrl(): string {
  const named = process.env.OPENAI_BASE_URL?.trim() ?? '';
  return named === '' ? OPENAI : named;
}

/** The base URL of the server that plays a model, as it is written; undefined for models that need none. */
export function baseUrlOf(spec: string): string | undefined {
  const served = servedModel(spec);
  return served && (served.baseUrl ?? environmentBaseUrl());
}

/** The origin of the server that plays a model; undefined when none does or its address is none. */
export function originOfModel(spec: string): string | undefined {
  const baseUrl = baseUrlOf(spec);
  return baseUrl === undefined ? undefined : originOf(baseUrl);
}
