import { Fault } from '../fault';
import type { PackTask } from '../dialogue/collect';
import { deriveSeed } from '../seed';

export interface PackSplit {
  /** The pack's file name without its ending. */
  readonly name: string;
  readonly type: 'train' | 'validation' | 'test';
  readonly tasks: readonly PackTask[];
}

interface TaskChoice {
  readonly task_id?: string | null;
  readonly split?: string | null;
  readonly index?: number | null;
  readonly seed?: number | null;
}

export class TaskSplits {
  readonly all: readonly PackSplit[];
  private readonly byId: ReadonlyMap<string, PackTask>;
  private handedOut = 0;

  constructor(private readonly tasks: readonly PackTask[]) {
    const names = Map.groupBy(tasks, ({ pack }) => nameOf(pack));
    this.all = [...names].map(([name, within]) => ({ name, type: typeOf(name), tasks: within }));
    this.byId = new Map(tasks.map((entry) => [entry.task.id, entry]));
  }

  get size(): number {
    return this.tasks.length;
  }

  /** @throws {Fault} `environment/unknown-split` */
  split(name: string): PackSplit {
    const found = this.all.find((split) => split.name === name);
    if (found !== undefined) return found;
    const known = this.all.map((split) => split.name).join(', ');
    throw new Fault(
      'environment/unknown-split',
      `There is no split "${shortened(name)}"; there are: ${known}.`,
    );
  }

  /**
   * Chooses by id or number; without these by seed, and without a seed in order, over and over.
   * @throws {Fault} `environment/unknown-task`, `environment/unknown-split`
   */
  choose({ task_id: id, split: name, index, seed }: TaskChoice): PackTask {
    const from = typeof name === 'string' ? this.split(name).tasks : this.tasks;
    if (typeof id === 'string') {
      const found = this.byId.get(id);
      if (found !== undefined && from.includes(found)) return found;
      const where = typeof name === 'string' ? ` in the split ${name}` : '';
      throw new Fault('environment/unknown-task', `There is no task "${shortened(id)}"${where}.`);
    }
    if (typeof index === 'number') {
      const found = from[index];
      if (found !== undefined) return found;
      throw new Fault(
        'environment/unknown-task',
        `There is no task number ${index}; the last one is ${from.length - 1}.`,
      );
    }
    const place = typeof seed === 'number' ? deriveSeed(seed, 'task') : this.handedOut++;
    return from[place % from.length]!;
  }
}

const nameOf = (pack = 'tasks'): string => pack.replace(/\.jsonl?$/, '');

function typeOf(name: string): PackSplit['type'] {
  const words = name.toLowerCase().split(/[^a-z]+/);
  if (words.includes('test')) return 'test';
  return ['validation', 'valid', 'val', 'dev'].some((word) => words.includes(word)) ? 'validation' : 'train';
}

const shortened = (text: string): string => (text.length <= 80 ? text : `${text.slice(0, 80)}…`);
