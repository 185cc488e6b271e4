import type { Task } from '../task';
import { pageTasks } from './pages/world';
import { questionTasks } from './questions/world';
import type { Split, World } from './splits';
import { starterTasks, type Difficulty } from './world';

export interface WorldOptions {
  readonly world: World;
  readonly split: Split;
  readonly seed: number;
  readonly difficulty: Difficulty;
}

const GENERATORS = {
  functions: starterTasks,
  pages: pageTasks,
  'twenty-questions': questionTasks,
} as const satisfies Readonly<Record<World, unknown>>;

/** Yields tasks without end, no two the same, and the same ones for the same seed. */
export function* worldTasks({ world, ...options }: WorldOptions): Generator<Task, never> {
  const drawn = GENERATORS[world](options);
  for (;;) yield drawn.next().value.task;
}
