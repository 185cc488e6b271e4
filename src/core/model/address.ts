import { withoutEnd } from '../text';

/** Base URL of OpenAI's own server. */
const OPENAI = 'https://api.openai.com/v1';

/** Matches the `@` between a model's name and an address; the last match counts. The scheme may be in any case. */
const ADDRESS_BEGINS = /@(?=\s*(?:https?:|[a-z][a-z\d+.-]*:\/\/))/gi;

/** A server's address in the form that requests use. */
export interface Address {
  /** Base URL without a slash at its end. */
  readonly baseUrl: string;
  /** Scheme, host and port. A key belongs to an origin. */
  readonly origin: string;
}

/**
 * Parses the base URL of a server. All code that sends requests or looks up keys uses this function, so that a key goes
 * only to the server it was looked up for.
 * @returns `none` for a text that is not such an address, `has-user` for one that contains a name or a password
 */
export function readAddress(text: string): Address | 'none' | 'has-user' {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return 'none';
  if (url.username !== '' || url.password !== '') return 'has-user';
  // A request appends its own path, so a query or fragment makes no sense.
  if (url.search !== '' || url.hash !== '') return 'none';
  return { baseUrl: withoutEnd(`${url.origin}${url.pathname}`, '/'), origin: url.origin };
}

/** Returns the origin of a base URL; undefined if it is not one. */
export function originOf(text: string): string | undefined {
  const address = readAddress(text);
  return typeof address === 'string' ? undefined : address.origin;
}

/** A model on a server, named `openai:<model>[@<base URL>]`; on several, `baseUrl` holds all of them. */
export interface ServedModel {
  readonly model: string;
  /** Base URL as written; absent if the environment names the server. */
  readonly baseUrl?: string;
}

/**
 * Parses the name of a model on a server; returns undefined for other models. The model's name may itself contain `/`,
 * `:` and `@`.
 */
export function servedModel(spec: string): ServedModel | undefined {
  if (!spec.startsWith('openai:')) return undefined;
  const rest = spec.slice('openai:'.length);
  const at = [...rest.matchAll(ADDRESS_BEGINS)].at(-1)?.index;
  return at === undefined ? { model: rest } : { model: rest.slice(0, at), baseUrl: rest.slice(at + 1) };
}

/** Matches the comma between two addresses. */
const ADDRESS_FOLLOWS = /,(?=\s*https?:\/\/)/i;

/**
 * Returns the names of a model on each of its servers: `openai:m@http://a/v1,http://b/v1` is `openai:m@http://a/v1` and
 * `openai:m@http://b/v1`. Any other name is returned as it is.
 */
export function onEachServer(spec: string): readonly string[] {
  const served = servedModel(spec);
  if (served?.baseUrl === undefined) return [spec];
  return served.baseUrl.split(ADDRESS_FOLLOWS).map((baseUrl) => `openai:${served.model}@${baseUrl.trim()}`);
}

/** Returns the base URL for models without one in their name: `OPENAI_BASE_URL`, or else OpenAI's own. */
export function environmentBaseUrl(): string {
  const named = process.env.OPENAI_BASE_URL?.trim() ?? '';
  return named === '' ? OPENAI : named;
}

/** Returns the base URL of a model's server, as written; undefined for models without a server. */
export function baseUrlOf(spec: string): string | undefined {
  const served = servedModel(spec);
  return served && (served.baseUrl ?? environmentBaseUrl());
}

/** Returns the origin of a model's server; undefined if it has none or its address is invalid. */
export function originOfModel(spec: string): string | undefined {
  const baseUrl = baseUrlOf(spec);
  return baseUrl === undefined ? undefined : originOf(baseUrl);
}

/**
 * Tells whether the variables `OPENAI_…` apply to this server: they apply to the origin of `OPENAI_BASE_URL`, or
 * OpenAI's if that is not set, and to no other.
 */
export function isOfEnvironment(origin: string | undefined): boolean {
  return origin !== undefined && origin === originOf(environmentBaseUrl());
}

/** Returns `OPENAI_API_KEY` if it belongs to this server. */
export function environmentKey(origin: string | undefined): string | undefined {
  return isOfEnvironment(origin) ? process.env.OPENAI_API_KEY : undefined;
}

/**
 * Tells the user how to give a server a key, without a period at the end.
 * @param which e.g. `its key`
 */
export function keyRemedy(origin: string | undefined, which: 'its key' | 'a key that it accepts'): string {
  const inTerminal = isOfEnvironment(origin)
    ? `Set OPENAI_API_KEY${which === 'its key' ? '' : ` to ${which}`}`
    : `Name the variable that holds ${which} with --key-env`;
  return `${inTerminal} (in the editor: Tandem: Set API Key…)`;
}
