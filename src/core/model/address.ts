import { withoutEnd } from '../text';

const OPENAI = 'https://api.openai.com/v1';

/** The `@` between a model's name and an address; the last match counts. The scheme may be in any case. */
const ADDRESS_BEGINS = /@(?=\s*(?:https?:|[a-z][a-z\d+.-]*:\/\/))/gi;

export interface Address {
  readonly baseUrl: string;
  /** Scheme, host and port. A key belongs to an origin. */
  readonly origin: string;
}

/**
 * Every request and every key lookup uses this, so that a key goes only to the server it was looked up for.
 * @returns `has-user` for an address that contains a name or a password
 */
export function readAddress(text: string): Address | 'none' | 'has-user' {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return 'none';
  if (url.username !== '' || url.password !== '') return 'has-user';
  // A request appends its own path, so a query or fragment makes no sense.
  if (url.search !== '' || url.hash !== '') return 'none';
  return { baseUrl: withoutEnd(`${url.origin}${url.pathname}`, '/'), origin: url.origin };
}

export function originOf(text: string): string | undefined {
  const address = readAddress(text);
  return typeof address === 'string' ? undefined : address.origin;
}

/** Named `openai:<model>[@<base URL>]`; with several servers, `baseUrl` holds all of them. */
export interface ServedModel {
  readonly model: string;
  /** Base URL as written; absent if the environment names the server. */
  readonly baseUrl?: string;
}

/** Returns undefined for models without a server. The name may itself contain `/`, `:` and `@`. */
export function servedModel(spec: string): ServedModel | undefined {
  if (!spec.startsWith('openai:')) return undefined;
  const rest = spec.slice('openai:'.length);
  const at = [...rest.matchAll(ADDRESS_BEGINS)].at(-1)?.index;
  return at === undefined ? { model: rest } : { model: rest.slice(0, at), baseUrl: rest.slice(at + 1) };
}

const ADDRESS_FOLLOWS = /,(?=\s*https?:\/\/)/i;

/** `openai:m@http://a/v1,http://b/v1` becomes `openai:m@http://a/v1` and `openai:m@http://b/v1`. */
export function onEachServer(spec: string): readonly string[] {
  const served = servedModel(spec);
  if (served?.baseUrl === undefined) return [spec];
  return served.baseUrl.split(ADDRESS_FOLLOWS).map((baseUrl) => `openai:${served.model}@${baseUrl.trim()}`);
}

export function environmentBaseUrl(): string {
  const named = process.env.OPENAI_BASE_URL?.trim() ?? '';
  return named === '' ? OPENAI : named;
}

export function baseUrlOf(spec: string): string | undefined {
  const served = servedModel(spec);
  return served && (served.baseUrl ?? environmentBaseUrl());
}

/** Undefined if it has none or its address is invalid. */
export function originOfModel(spec: string): string | undefined {
  const baseUrl = baseUrlOf(spec);
  return baseUrl === undefined ? undefined : originOf(baseUrl);
}

/** True if the `OPENAI_…` variables apply: only to the origin of `OPENAI_BASE_URL`, or OpenAI's if that is not set. */
export function isOfEnvironment(origin: string | undefined): boolean {
  return origin !== undefined && origin === originOf(environmentBaseUrl());
}

export function environmentKey(origin: string | undefined): string | undefined {
  return isOfEnvironment(origin) ? process.env.OPENAI_API_KEY : undefined;
}

/** The sentence has no period at its end. */
export function keyRemedy(origin: string | undefined): string {
  const inTerminal = isOfEnvironment(origin)
    ? 'Set OPENAI_API_KEY to a valid key'
    : 'Name the variable that holds a valid key with --key-env';
  return `${inTerminal} (in the editor: Tandem: Set API Key…)`;
}
