import { environmentBaseUrl, originOf } from './address';

/**
 * Whether the variables `OPENAI_…` are about this server: they are about the origin of `OPENAI_BASE_URL`, or OpenAI's
 * when that is not set, and no other.
 */
export function isOfEnvironment(origin: string | undefined): boolean {
  return origin !== undefined && origin === originOf(environmentBaseUrl());
}

/** `OPENAI_API_KEY`, for the server that it is for. */
export function environmentKey(origin: string | undefined): string | undefined {
  return isOfEnvironment(origin) ? process.env.OPENAI_API_KEY : undefined;
}

/** What a person does to give a server a key, without a period. @param which such as `its key` */
export function keyRemedy(origin: string | undefined, which: 'its key' | 'a key that it accepts'): string {
  const inTerminal = isOfEnvironment(origin)
    ? `Set OPENAI_API_KEY${which === 'its key' ? '' : ` to ${which}`}`
    : `Name the variable that holds ${which} with --key-env`;
  return `${inTerminal} (in the editor: Tandem: Set API Key…)`;
}
