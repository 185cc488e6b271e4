import type { Life } from './victim';

/** A command says so of itself when it meets what it does not foresee. */
const FAULT =
  /This is a fault in Tandem|The system refuses|cannot be read; delete it|Traceback \(most recent/;

/** Counts what was killed and how commands ended, and keeps each violation, which it prints at once. */
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
    // How often each sentence was the last one tells whether the commands did anything at all.
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
