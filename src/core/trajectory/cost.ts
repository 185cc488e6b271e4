import type { ModelUse } from './use';

/** In US dollars per million tokens. */
export interface Price {
  readonly prompt: number;
  readonly completion: number;
}

/** In US dollars, of the tokens that were counted. */
export function costOf({ promptTokens, completionTokens }: ModelUse, price: Price): number {
  return (promptTokens * price.prompt + completionTokens * price.completion) / 1e6;
}
