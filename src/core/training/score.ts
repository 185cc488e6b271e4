import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { readJsonLines } from '../task/jsonl';
import { ask, faultOf, oneBehind, type Trainer } from './trainer';

export const scoredSchema = z.looseObject({
  id: z.string(),
  task: z.string(),
  /** Null when the trajectory was not graded. */
  reward: z.number().nullable(),
  turns: z.array(
    z.looseObject({
      /** From 0. */
      turn: z.number().int(),
      tokens: z.number().int(),
      /** In nats per token; for a value head, the logit of the reward predicted after the turn. */
      advantage: z.number().nullable(),
      /** The control: the untrained base. */
      untrained: z.number().nullable(),
      /** Of a page: how much this turn's draft scores above the one before; 0 without a draft. */
      gain: z.number().optional(),
      /** Log-ratios in nats; null for a value head. */
      texts: z.array(z.string()).optional(),
      log_ratios: z.array(z.number()).nullish(),
    }),
  ),
});

export type Scored = z.infer<typeof scoredSchema>;

export interface ScoreOptions {
  /** `critic/` of a run, or another exported critic. */
  readonly critic: string;
  /** Published or exported rows; `withRowsOfLogs` makes such files from data folders. */
  readonly trajectories: readonly string[];
  /** When the critic's base is not where it was during training. */
  readonly base?: string;
  readonly out?: string;
  readonly withTokens?: boolean;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/**
 * The trajectories need not be graded.
 * @throws {Fault} `training/cannot-score` for an unusable critic, base or trajectory; `training/not-scored`
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
    const answer = await ask(trainer, ['score', ...given, ...files], {
      cwd: temporary,
      signal,
      onLine: oneBehind(onLine).onLine,
    });
    if (answer.code !== 0) throw faultOf(answer, ['training/cannot-score', 'training/not-scored']);
    const rows: Scored[] = [];
    for await (const line of readJsonLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) {
      if ('value' in line) rows.push(scoredSchema.parse(line.value));
    }
    return rows;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
