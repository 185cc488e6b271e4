/** Random choices with which a class of answers varies. */
export interface Draw {
  number(): number;
  /** Returns a Python name that no other draw returns. */
  name(): string;
  pick<T>(values: readonly T[]): T;
}

/** One way to get points without solving the task, or to escape being counted. */
export interface HostileClass {
  readonly name: string;
  /** Returns Python that defines `f(x)` without knowledge of the reference's results. */
  readonly code: (draw: Draw) => string;
  /** Also used against tests that compare with `in`, `<` and chains. */
  readonly objects?: true;
  /** Only test to use it against; `SECRET` stands for the reference's result for 1. */
  readonly test?: string;
  /** Needs numpy, and is graded against tests of arrays. */
  readonly numpy?: true;
}

/** Makes a class of each code, by its name. */
export const classes = (
  make: (name: string, code: string) => HostileClass,
  codes: Readonly<Record<string, string>>,
): HostileClass[] => Object.entries(codes).map(([name, code]) => make(name, code));
