import type { ModelUse } from './use';

/** US dollars per million tokens. */
export interface Price {
  readonly prompt: number;
  readonly completion: number;
}

/** Returns the cost in US dollars; tokens that no server counted are missing from it. */
export function costOf({ promptTokens, completionTokens }: ModelUse, price: Price): number {
  return (promptTokens * price.prompt + completionTokens * price.completion) / 1e6;
}
