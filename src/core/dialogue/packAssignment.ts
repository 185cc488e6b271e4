import { mulberry32 } from '../random';
import type { Part } from '../trajectory/assignments';
import { deriveSeed } from '../seed';
import type { TaskState } from './taskProgress';

/**
 * People who have a part now come first and keep their order, the others follow by name: so the same people get the
 * same tasks, in whatever order they are named.
 * @param people pseudonyms
 * @param perTask number of people who play each task, of all at most
 * @param now the parts that people have now
 */
export function partsFor(
  pack: string,
  people: readonly string[],
  perTask: number,
  now: readonly Part[] = [],
): Part[] {
  const before = now.map(({ person }) => person).filter((person) => people.includes(person));
  const inOrder = [...before, ...people.filter((person) => !before.includes(person)).toSorted()];
  const dealt = { places: people.length, perTask: Math.min(perTask, people.length), seed: deriveSeed(pack) };
  return inOrder.map((person, place) => ({ person, place, ...dealt }));
}

/**
 * Deals each task to `perTask` different places, drawn at random in rounds in which each place has one turn. So the
 * numbers of tasks differ by one at most, everyone shares tasks with everyone, and tasks added at the end change
 * nothing for those before.
 * @returns the places of each task, in the order of the tasks
 */
export function dealt(
  tasks: number,
  { places, perTask, seed }: Pick<Part, 'places' | 'perTask' | 'seed'>,
): ReadonlySet<number>[] {
  const random = mulberry32(seed);
  const all = Array.from({ length: places }, (_, place) => place);
  let round: number[] = [];
  return Array.from({ length: tasks }, () => {
    const drawn = new Set<number>();
    // Places that a task got at the end of one round have their turn of the next one with a later task.
    let waiting: number[] = [];
    while (drawn.size < Math.min(perTask, places)) {
      if (round.length === 0) {
        waiting = [...drawn];
        round = all.filter((place) => !drawn.has(place));
      }
      const at = Math.floor(random() * round.length);
      drawn.add(round[at]!);
      round[at] = round.at(-1)!;
      round.pop();
    }
    round.push(...waiting);
    return drawn;
  });
}

interface AssignedProgress {
  readonly done: number;
  readonly of: number;
}

type States = ReadonlyMap<string, TaskState>;

/**
 * A pack that people are to play, each task `perTask` of them. A task that so many others have finished drops out of
 * the part of a person who has not begun it. Dialogues from before an assignment count.
 */
export class PackAssignment<Task extends { readonly id: string }> {
  readonly perTask: number;
  private readonly rows: readonly {
    readonly task: Task;
    readonly places: ReadonlySet<number>;
    readonly states: States;
  }[];

  /** @param parts as `TrajectoryLog.assigned` has them */
  constructor(
    tasks: readonly Task[],
    private readonly parts: readonly [Part, ...Part[]],
    statesOf: (task: string) => States,
  ) {
    const [first] = parts;
    const places = dealt(tasks.length, first);
    this.perTask = Math.min(first.perTask, first.places);
    this.rows = tasks.map((task, at) => ({ task, places: places[at]!, states: statesOf(task.id) }));
  }

  get people(): string[] {
    return this.parts.map(({ person }) => person);
  }

  /** In the order of the pack. */
  partOf(person: string): Task[] {
    return this.rowsOf(person).map(({ task }) => task);
  }

  progressOf(person: string): AssignedProgress {
    const rows = this.rowsOf(person);
    return { done: rows.filter(({ states }) => states.get(person)?.kind === 'done').length, of: rows.length };
  }

  /** What more people than `perTask` have finished counts `perTask` times. */
  get progress(): AssignedProgress {
    const { rows, perTask } = this;
    const done = rows.reduce((sum, { states }) => sum + Math.min(perTask, finished(states)), 0);
    return { done, of: perTask * rows.length };
  }

  private rowsOf(person: string): typeof this.rows {
    const part = this.parts.find((one) => one.person === person);
    if (part === undefined) return [];
    return this.rows.filter(
      ({ places, states }) =>
        places.has(part.place) && (states.has(person) || finished(states) < this.perTask),
    );
  }
}

const finished = (states: States): number =>
  [...states.values()].filter(({ kind }) => kind === 'done').length;
