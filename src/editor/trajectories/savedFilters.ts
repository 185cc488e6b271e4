import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { groupingSchema, type ListGrouping } from './grouping';
import type { Memory } from '../consent';
import { chosenOf, filterSchema, type ListFilter } from '../dialogue/filter';

const KEY = 'tandem.savedFilters';

export interface SavedFilter {
  readonly name: string;
  readonly filter: ListFilter;
  readonly grouping: ListGrouping;
}

const schema = lazily((): z.ZodType<SavedFilter> =>
  z.strictObject({ name: z.string().min(1), filter: filterSchema(), grouping: groupingSchema() }),
);
const namedSchema = lazily(() => z.looseObject({ name: z.string() }));

/** The saved filters of a workspace. One that another version of Tandem wrote stays for it, and is not shown here. */
export class SavedFilters {
  constructor(private readonly memory: Memory) {}

  get all(): readonly SavedFilter[] {
    return this.kept.flatMap((one) => schema().safeParse(one).data ?? []);
  }

  /** Saves a filter; it takes the place of one of the same name. */
  save({ name, filter, grouping }: SavedFilter): void {
    const saved: SavedFilter = { name, filter: chosenOf(filter), grouping };
    void this.memory.update(KEY, [...this.without(name), saved]);
  }

  remove(name: string): void {
    void this.memory.update(KEY, this.without(name));
  }

  private without(name: string): unknown[] {
    return this.kept.filter((one) => namedSchema().safeParse(one).data?.name !== name);
  }

  private get kept(): readonly unknown[] {
    const kept = this.memory.get(KEY);
    return Array.isArray(kept) ? (kept as unknown[]) : [];
  }
}
