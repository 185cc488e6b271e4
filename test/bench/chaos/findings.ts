/** Result of one start of a command. */
export interface Life {
  /** Its exit code; null when it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Text of a command after an unexpected error. */
const FAULT =
  /This is a fault in Tandem|The system refuses|cannot be read; delete it|Traceback \(most recent/;

/** Counts kills and exits of commands, and prints and keeps each violation. */
export class Findings {
  readonly violations: string[] = [];
  readonly #kills = new Map<string, number>();
  readonly #ends = new Map<string, number>();
  readonly #begun = performance.now();

  violation(who: string, what: string): void {
    const seconds = ((performance.now() - this.#begun) / 1000).toFixed(0);
    const text = `${seconds} s, ${who}: ${what}`;
    this.violations.push(text);
    console.log(`VIOLATION after ${text}`);
  }

  killed(what: string): void {
    this.#kills.set(what, (this.#kills.get(what) ?? 0) + 1);
  }

  ended(who: string, { code, stdout, stderr }: Life): void {
    const said = `${stderr}\n${stdout}`;
    if (FAULT.test(said) || (code !== null && code > 2))
      this.violation(who, `it ended with code ${code} and said: ${said.trim().slice(-600)}`);
    // The counts of last sentences show whether the commands did any work.
    const last = code === null ? 'was killed' : `code ${code}: ${lastLine(stdout) ?? lastLine(stderr) ?? ''}`;
    const end = `${who} ${last.replaceAll(/\d+/g, 'N').slice(0, 150)}`;
    this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1);
  }

  print(): void {
    const sum = [...this.#kills.values()].reduce((all, one) => all + one, 0);
    console.log(`${sum} kills:`);
    for (const [what, count] of [...this.#kills].sort()) console.log(`  ${count} × ${what}`);
    console.log('How the commands ended:');
    for (const [end, count] of [...this.#ends].sort()) console.log(`  ${count} × ${end}`);
  }
}

const lastLine = (text: string): string | undefined =>
  text.trim() === '' ? undefined : text.trim().split('\n').at(-1);
