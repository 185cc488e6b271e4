import { startsWith, type Turn } from './turns';

/** One causal pass: the tokens that are read, and which of them are asked about. */
export interface Pass {
  readonly ids: readonly number[];
  /** Of each asked token the place before it, from which it is predicted. */
  readonly positions: readonly number[];
  readonly targets: readonly number[];
  /** The turns that it covers, by their numbers, in the order in which their tokens are asked about. */
  readonly turns: readonly number[];
}

/**
 * As few passes as the turns allow. A turn whose history goes on in the next one is read with it; where the template
 * rewrites the history (Qwen 3 takes out the thoughts of earlier turns), a pass begins for each distinct one.
 */
export function passesOf(turns: readonly Turn[]): Pass[] {
  const passes: { readonly ids: readonly number[]; readonly turns: number[] }[] = [];
  for (const [number, { prompt, response }] of [...turns.entries()].reverse()) {
    const ids = [...prompt, ...response];
    const longer = passes.find((pass) => startsWith(pass.ids, ids));
    if (longer === undefined) passes.push({ ids, turns: [number] });
    else longer.turns.push(number);
  }
  return passes.map((pass) => ({ ...pass, ...asked(pass.turns.map((number) => turns[number]!)) }));
}

function asked(turns: readonly Turn[]): Pick<Pass, 'positions' | 'targets'> {
  return {
    positions: turns.flatMap(({ prompt, response }) => response.map((_, index) => prompt.length + index - 1)),
    targets: turns.flatMap(({ response }) => response),
  };
}
