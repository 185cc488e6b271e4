/** The kinds of numbers that a column holds; the name is also what the index file says. */
export type ColumnKind = 'u8' | 'i32' | 'f64';

type Values = Uint8Array | Int32Array | Float64Array;

/** Numbers of one kind that grow at the end. A hundred thousand of them take what their bytes take. */
export class Column {
  constructor(
    readonly kind: ColumnKind,
    private values: Values = allocate(kind, 64),
  ) {}

  get(row: number): number {
    return this.values[row]!;
  }

  set(row: number, value: number): void {
    if (row >= this.values.length) {
      const larger = allocate(this.kind, Math.max(row + 1, this.values.length * 2));
      larger.set(this.values);
      this.values = larger;
    }
    this.values[row] = value;
  }

  /** The bytes of the first `length` numbers, in the machine's order. */
  bytes(length: number): Uint8Array {
    const { buffer, byteOffset, BYTES_PER_ELEMENT } = this.values;
    return new Uint8Array(buffer, byteOffset, length * BYTES_PER_ELEMENT);
  }

  /** A column over bytes that stay where they are; `offset` is a multiple of 8. */
  static over(kind: ColumnKind, buffer: ArrayBuffer, offset: number, length: number): Column {
    if (kind === 'u8') return new Column(kind, new Uint8Array(buffer, offset, length));
    if (kind === 'i32') return new Column(kind, new Int32Array(buffer, offset, length));
    return new Column(kind, new Float64Array(buffer, offset, length));
  }
}

export function bytesPerValue(kind: ColumnKind): number {
  return { u8: 1, i32: 4, f64: 8 }[kind];
}

function allocate(kind: ColumnKind, length: number): Values {
  if (kind === 'u8') return new Uint8Array(length);
  return kind === 'i32' ? new Int32Array(length) : new Float64Array(length);
}

/** Columns of equal length. */
export class Table<Name extends string> {
  private readonly all: readonly Column[];

  constructor(
    readonly columns: Readonly<Record<Name, Column>>,
    public length = 0,
  ) {
    this.all = Object.values(columns);
  }

  static of<Name extends string>(kinds: Readonly<Record<Name, ColumnKind>>): Table<Name> {
    const columns = Object.entries<ColumnKind>(kinds).map(([name, kind]) => [name, new Column(kind)]);
    return new Table(Object.fromEntries(columns) as Record<Name, Column>);
  }

  /** A new row at the end with 0 in every column. */
  addZeros(): void {
    for (const column of this.all) column.set(this.length, 0);
    this.length += 1;
  }

  /** A new row at the end; every column has a value in it. */
  add(values: Readonly<Record<Name, number>>): number {
    const row = this.length;
    for (const [name, value] of Object.entries<number>(values)) this.columns[name as Name].set(row, value);
    this.length += 1;
    return row;
  }
}

/** Strings that repeat, as small numbers. */
export class Strings {
  private readonly numbers = new Map<string, number>();

  constructor(readonly values: string[] = []) {
    values.forEach((value, number) => this.numbers.set(value, number));
  }

  number(value: string): number {
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.values.push(value) - 1;
      this.numbers.set(value, number);
    }
    return number;
  }

  /** Undefined when no row holds the value. */
  find(value: string): number | undefined {
    return this.numbers.get(value);
  }

  text(number: number): string {
    return this.values[number]!;
  }
}
