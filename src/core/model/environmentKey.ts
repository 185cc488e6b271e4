import { environmentBaseUrl, originOf } from './address';

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
