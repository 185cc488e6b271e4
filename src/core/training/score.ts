import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { readJsonLines } from '../task/jsonl';
import { ask, sentenceOf, type Trainer, WRONG_USE } from './trainer';

/** What a critic says of one trajectory. */
export const scoredSchema = z.looseObject({
  id: z.string(),
  task: z.string(),
  /** Null when it was not graded. */
  reward: z.number().nullable(),
  turns: z.array(
    z.looseObject({
      /** From 0. */
      turn: z.number().int(),
      tokens: z.number().int(),
      /** How much the turn helped, in nats per token; of a value head the logit of the reward it predicts after it. */
      advantage: z.number().nullable(),
      /** The control: what the base alone would have said. */
      untrained: z.number().nullable(),
      /** What each token adds to the text, and its log-ratio in nats; the ratios are null of a value head. */
      texts: z.array(z.string()).optional(),
      log_ratios: z.array(z.number()).nullish(),
    }),
  ),
});

export type Scored = z.infer<typeof scoredSchema>;

export interface ScoreOptions {
  /** The folder of an exported critic: `critic/` of a run. */
  readonly critic: string;
  /** Files of published or exported rows, or data folders. */
  readonly trajectories: readonly string[];
  /** The base that the critic was trained with, when it is not where it was. */
  readonly base?: string;
  /** Where the rows are kept; nowhere when it is left out. */
  readonly out?: string;
  /** Also `texts` and `log_ratios`. */
  readonly withTokens?: boolean;
  readonly signal?: AbortSignal;
  /** Each line that the trainer says while it works. */
  readonly onLine?: (line: string) => void;
}

/**
 * Turn advantages of any trajectories, graded or not, by an exported critic.
 * @throws {Fault} `training/cannot-score` for a critic, a base or trajectories of no use; `training/not-scored`
 * @throws the signal's reason when it is aborted
 */
export async function scoreTrajectories(trainer: Trainer, options: ScoreOptions): Promise<Scored[]> {
  const { critic, trajectories, base, out, withTokens = false, signal, onLine } = options;
  const temporary = await mkdtemp(join(tmpdir(), 'tandem-score-'));
  try {
    const file = out === undefined ? join(temporary, 'scored.jsonl') : resolve(out);
    const given = [
      '--critic',
      resolve(critic),
      '--out',
      file,
      ...(base === undefined ? [] : ['--base', base]),
      ...(withTokens ? ['--tokens'] : []),
    ];
    const files = trajectories.map((trajectory) => resolve(trajectory));
    let held: string | undefined;
    const answer = await ask(trainer, ['score', ...given, ...files], {
      cwd: temporary,
      signal,
      // One behind: the last line is the trainer's own report, or the sentence of the fault below.
      onLine: (line) => {
        if (held !== undefined) onLine?.(held);
        held = line;
      },
    });
    if (answer.code !== 0) {
      const code = answer.code === WRONG_USE ? 'training/cannot-score' : 'training/not-scored';
      throw new Fault(code, sentenceOf(answer));
    }
    const rows: Scored[] = [];
    for await (const line of readJsonLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) {
      if ('value' in line) rows.push(scoredSchema.parse(line.value));
    }
    return rows;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
