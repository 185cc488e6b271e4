import { mulberry32 } from '../../random';
import type { Task } from '../task';

export class Random {
  readonly number: () => number;

  constructor(seed: number) {
    this.number = mulberry32(seed);
  }

  /** 0 to `bound` − 1. */
  below(bound: number): number {
    return Math.floor(this.number() * bound);
  }

  pick<T>(options: readonly T[]): T {
    if (options.length === 0) throw new Error('There is nothing to draw from.');
    return options[this.below(options.length)]!;
  }

  shuffled<T>(things: readonly T[]): T[] {
    const order = [...things];
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    return order;
  }

  /** Without repetition; the chance grows with the weight. */
  sample<T>(weights: readonly (readonly [T, number])[], count: number): T[] {
    // Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006: the largest u^(1/w).
    return weights
      .map(([thing, weight]) => ({ thing, key: this.number() ** (1 / weight) }))
      .toSorted((a, b) => b.key - a.key)
      .slice(0, count)
      .map(({ thing }) => thing);
  }
}

/** Yields what is drawn without end, no task twice; an undefined draw is repeated. */
export function* withoutRepeats<T extends { readonly task: Task }>(
  draw: () => T | undefined,
): Generator<T, never> {
  const seen = new Set<string>();
  for (;;) {
    const drawn = draw();
    if (drawn === undefined || seen.has(drawn.task.id)) continue;
    seen.add(drawn.task.id);
    yield drawn;
  }
}
