import { Table } from './columns';

/** Where each episode's lines stand, as a chain of byte ranges from the newest back. */
export class Ranges {
  constructor(
    readonly table: Table<'segment' | 'start' | 'length' | 'previous'> = Table.of(Ranges.columnKinds),
  ) {}

  static readonly columnKinds = { segment: 'i32', start: 'f64', length: 'i32', previous: 'i32' } as const;

  /** Adds a line behind `last` (-1: the first) and returns the newest range, which may be `last`, grown. */
  add(last: number, segment: number, start: number, length: number): number {
    const { columns } = this.table;
    if (last >= 0 && columns.segment.get(last) === segment) {
      const known = columns.length.get(last);
      if (columns.start.get(last) + known + 1 === start) {
        columns.length.set(last, known + 1 + length);
        return last;
      }
    }
    const row = this.table.length++;
    columns.segment.set(row, segment);
    columns.start.set(row, start);
    columns.length.set(row, length);
    columns.previous.set(row, last);
    return row;
  }

  /** The segment of a range; undefined for none. */
  segment(range: number): number | undefined {
    return range < 0 ? undefined : this.table.columns.segment.get(range);
  }

  /** From the first logged to the newest. */
  chain(last: number): { segment: number; start: number; length: number }[] {
    const { columns } = this.table;
    const ranges = [];
    for (let row = last; row >= 0; row = columns.previous.get(row)) {
      ranges.push({
        segment: columns.segment.get(row),
        start: columns.start.get(row),
        length: columns.length.get(row),
      });
    }
    return ranges.reverse();
  }
}

/** The lines that hold tasks. */
export class TaskLines {
  private bySegment: Map<string, number> | undefined;

  constructor(
    readonly table: Table<'task' | 'segment' | 'start' | 'length'> = Table.of(TaskLines.columnKinds),
  ) {}

  static readonly columnKinds = { task: 'i32', segment: 'i32', start: 'f64', length: 'i32' } as const;

  add(task: number, segment: number, start: number, length: number): void {
    const row = this.table.add({ task, segment, start, length });
    if (!this.bySegment) return;
    this.bySegment.set(`${segment}/${task}`, row);
    this.bySegment.set(String(task), row);
  }

  /** The line that an episode of this segment means: the last one in its own segment, else the last one anywhere. */
  find(task: number, segment: number): number {
    if (!this.bySegment) {
      this.bySegment = new Map();
      const { columns, length } = this.table;
      for (let row = 0; row < length; row += 1) {
        const known = columns.task.get(row);
        this.bySegment.set(`${columns.segment.get(row)}/${known}`, row);
        this.bySegment.set(String(known), row);
      }
    }
    return this.bySegment.get(`${segment}/${task}`) ?? this.bySegment.get(String(task)) ?? -1;
  }

  /** All lines that hold the task, in the order they were read. */
  copies(task: number): { segment: number; start: number; length: number }[] {
    const rows = Array.from({ length: this.table.length }, (_, row) => row);
    return rows.filter((row) => this.table.columns.task.get(row) === task).map((row) => this.range(row));
  }

  range(row: number): { segment: number; start: number; length: number } {
    const { columns } = this.table;
    return {
      segment: columns.segment.get(row),
      start: columns.start.get(row),
      length: columns.length.get(row),
    };
  }
}
