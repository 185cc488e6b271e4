import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from '../../../src/core/trajectory/files';
import { taskRow } from '../../fixtures/tasks';
import type { Findings } from './findings';
import type { VictimPlan } from './victim';
import type { Life } from './findings';

const ROWS = 1000;

/** Bodies of answers with their allowed rewards; these are rare. */
const RARE = [
  { body: 'while True: pass', rewards: [0] },
  { body: 'kept = []\n    while True: kept.append(kept)', rewards: [0] },
  { body: 'import numpy\n    return int(numpy.sum(numpy.arange(25)))', rewards: [0.5, null] },
];
const CHEAP = [
  { body: 'return 300', rewards: [0.5] },
  { body: 'return 300 if grams <= 500 else 700', rewards: [1] },
  { body: 'return None', rewards: [0] },
];
const RESULT_INTERVAL = 50;
const answerOf = (n: number): (typeof CHEAP)[number] | (typeof RARE)[number] =>
  n % RESULT_INTERVAL === 0 ? RARE[(n / RESULT_INTERVAL) % RARE.length]! : CHEAP[n % CHEAP.length]!;

interface Line {
  readonly line: number;
  readonly reward: number | null;
}

/** Runs of `tandem grade --out`, one file of grades after the other. */
export class Grading {
  #round = 0;
  #whole = 0;
  readonly #rows: string;

  private constructor(
    private readonly folder: string,
    private readonly findings: Findings,
  ) {
    this.#rows = path.join(folder, 'rows.jsonl');
  }

  static async of(folder: string, findings: Findings): Promise<Grading> {
    const made = new Grading(folder, findings);
    const rows = Array.from({ length: ROWS }, (_, n) => {
      const answer = `def parcel_fee(grams):\n    ${answerOf(n).body}\n# ${n}`;
      return `${JSON.stringify({ id: `row-${n}`, task: taskRow(), answer })}\n`;
    });
    await writeFile(made.#rows, rows.join(''));
    return made;
  }

  /** Number of complete gradings of all rows. */
  get whole(): number {
    return this.#whole;
  }

  get args(): readonly string[] {
    return ['grade', this.#rows, '--jobs', '1', '--out', this.#out];
  }

  get plan(): VictimPlan {
    return {
      name: 'grade',
      next: () => this.args,
      worker: /grader\.js/,
      seconds: 12,
      parts: [/grader\.js/, /native/],
      after: (life) => this.look(life),
    };
  }

  async look({ code, stdout, stderr }: Life): Promise<void> {
    const { lines, broken } = await this.#written();
    const told = Number([...stderr.matchAll(/grade: (\d+)\/\d+ answers/g)].at(-1)?.[1] ?? 0);
    if (lines.length < told)
      this.#violation(`it said ${told} answers were graded, and its file has ${lines.length}`);
    if (new Set(lines.map(({ line }) => line)).size < lines.length)
      this.#violation('its file has a row twice');
    for (const { line, reward } of lines)
      if (!(answerOf(line - 1).rewards as (number | null)[]).includes(reward))
        this.#violation(`row ${line} has reward ${reward}, not ${answerOf(line - 1).rewards.join(' or ')}`);
    if (code !== 0) return;
    const passed = lines.filter(({ reward }) => reward === 1).length;
    const table = stdout.split('\n').filter((text) => text.trimStart().startsWith('row-')).length;
    if (lines.length !== ROWS || table !== ROWS || !stdout.includes(`${passed} of `))
      this.#violation(
        `it ended well with ${lines.length} rows in its file (${broken} torn lines) and ${table} in its table: ${stdout.slice(-200)}`,
      );
    this.#whole++;
    this.#round++;
  }

  get #out(): string {
    return path.join(this.folder, `grades-${this.#round}.jsonl`);
  }

  async #written(): Promise<{ lines: Line[]; broken: number }> {
    const text = (await ifThere(() => readFile(this.#out, 'utf8'))) ?? '';
    const lines = text.split('\n').flatMap((each) => {
      try {
        return [JSON.parse(each) as Line];
      } catch {
        return [];
      }
    });
    return { lines, broken: text.split('\n').length - 1 - lines.length };
  }

  #violation(what: string): void {
    this.findings.violation('grade', `${what} (${this.#out})`);
  }
}
