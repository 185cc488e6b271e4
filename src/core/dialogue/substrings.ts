/**
 * Suffix automaton of a sequence of tokens: it knows every run that the sequence has. Building and querying it take
 * time and memory linear in the sequence. Blumer et al., "The smallest automaton recognizing the subwords of a text",
 * 1985.
 */
export class Substrings {
  // By state: its transitions, the length of the longest run that ends in it, and its suffix link.
  private readonly next: Map<string, number>[] = [new Map<string, number>()];
  private readonly longest: number[] = [0];
  private readonly suffix: number[] = [-1];

  constructor(tokens: Iterable<string>) {
    let last = 0;
    for (const token of tokens) last = this.extended(last, token);
  }

  /** Appends a token; `last` is the state of the whole sequence so far. @returns the state of the whole sequence */
  private extended(last: number, token: string): number {
    const whole = this.add(new Map(), this.longest[last]! + 1, 0);
    let state = last;
    for (; state !== -1 && !this.next[state]!.has(token); state = this.suffix[state]!)
      this.next[state]!.set(token, whole);
    if (state === -1) return whole;
    const known = this.next[state]!.get(token)!;
    if (this.longest[known] === this.longest[state]! + 1) {
      this.suffix[whole] = known;
      return whole;
    }
    const shorter = this.add(new Map(this.next[known]), this.longest[state]! + 1, this.suffix[known]!);
    for (; state !== -1 && this.next[state]!.get(token) === known; state = this.suffix[state]!)
      this.next[state]!.set(token, shorter);
    this.suffix[known] = shorter;
    this.suffix[whole] = shorter;
    return whole;
  }

  private add(next: Map<string, number>, longest: number, suffix: number): number {
    this.longest.push(longest);
    this.suffix.push(suffix);
    return this.next.push(next) - 1;
  }

  /** Returns the state and length of the longest run that ends with this token, given those of the token before. */
  follow(from: Run, token: string): Run {
    let { state, length } = from;
    while (state !== 0 && !this.next[state]!.has(token)) {
      state = this.suffix[state]!;
      length = this.longest[state]!;
    }
    const next = this.next[state]!.get(token);
    return next === undefined ? NO_RUN : { state: next, length: length + 1 };
  }
}

interface Run {
  readonly state: number;
  readonly length: number;
}

const NO_RUN: Run = { state: 0, length: 0 };

/** Yields, for each token, the length of the longest run that ends with it and that the sequence has too. */
export function* longestEndings(tokens: Iterable<string>, sequence: Substrings): Generator<number> {
  let run = NO_RUN;
  for (const token of tokens) {
    run = sequence.follow(run, token);
    yield run.length;
  }
}
