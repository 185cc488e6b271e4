import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../../src/core/fault';
import { ifThere } from '../../src/core/trajectory/files';

/** What a model needed before it played; the same for every row of a cell. */
const costsSchema = z.strictObject({
  /** Dialogues that were collected for it, and those that its training played. */
  collected: z.number(),
  played: z.number(),
  /** Tokens that the agent sampled in the collected dialogues and as candidates; those of played dialogues are not known. */
  sampled: z.number(),
  /** Tokens in the steps of the training, as the trainer counts them. */
  trained: z.number(),
  minutes: z.number(),
});

/** One method with one setting and one seed, played on one split at one temperature. Means are per dialogue. */
const rowSchema = z.strictObject({
  key: z.string(),
  method: z.string(),
  setting: z.string(),
  seed: z.number(),
  split: z.enum(['development', 'test']),
  temperature: z.number(),
  rollouts: z.int().min(1).max(9),
  /** A digit for each task in the order of the draw: how many of its rollouts succeeded. */
  success: z.string().regex(/^\d+$/),
  testsPassed: z.number(),
  turns: z.number(),
  /** Null in a world in which nobody has to ask for everything. */
  missed: z.number().nullable(),
  /** Of twenty questions: expected questions lost to the best decision tree. */
  lost: z.number().optional(),
  useless: z.number(),
  /** Fraction of dialogues that ran out of turns, and that a reply gave the reference away in. */
  exhausted: z.number(),
  leaked: z.number(),
  /** Sampled by the agent; null for a model that does not count. */
  tokens: z.number().nullable(),
  seconds: z.number().nullable(),
  costs: costsSchema,
});

export type Costs = z.infer<typeof costsSchema>;
export type Row = z.infer<typeof rowSchema>;

/** Fraction of the rollouts that succeeded, for each task. */
export const successesOf = ({ success, rollouts }: Row): number[] =>
  Array.from(success, (digit) => Number(digit) / rollouts);

/** Finished cells, one a line in a file that is committed, so that another machine goes on from them. */
export class Rows {
  private constructor(
    private readonly file: string,
    private readonly byKey: Map<string, Row>,
  ) {}

  /** @throws {Fault} `study/bad-row` */
  static async open(file: string): Promise<Rows> {
    const text = (await ifThere(() => readFile(file, 'utf8'))) ?? '';
    const rows = new Map<string, Row>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line === '') continue;
      const row = parse(line, file, index + 1);
      // Two machines may have played the same cell; the first one stays, so that a table does not change.
      if (!rows.has(row.key)) rows.set(row.key, row);
    }
    return new Rows(file, rows);
  }

  get(key: string): Row | undefined {
    return this.byKey.get(key);
  }

  get size(): number {
    return this.byKey.size;
  }

  async add(row: Row): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true });
    await appendFile(this.file, `${JSON.stringify(row)}\n`);
    this.byKey.set(row.key, row);
  }
}

function parse(line: string, file: string, number: number): Row {
  try {
    return rowSchema.parse(JSON.parse(line));
  } catch (error) {
    const why =
      error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : messageOf(error);
    throw new Fault(
      'study/bad-row',
      `Line ${number} of ${file} is not a row of the scoreboard (${why}). Delete the line, and the same command plays its cell again.`,
    );
  }
}
