import { existsSync } from 'node:fs';
import path from 'node:path';
import { scoreTrajectories, type Scored } from '../../core/training/score';
import type { Install, Outcome, Surroundings } from '../command';
import { wrongUse } from '../command';
import { table } from '../terminal';
import { openShippedTrainer } from '../trainer';

interface Options {
  readonly critic: string;
  readonly base?: string;
  readonly out?: string;
  readonly overwrite?: boolean;
}

export const installScore: Install = (program, perform) => {
  program
    .command('score')
    .description(
      'turn advantages of trajectories by the critic of a run, with the untrained score as a control',
    )
    .argument('<trajectories...>', 'files of published or exported rows, or data folders')
    .requiredOption('--critic <model>', 'the folder `critic` of a run')
    .option('--base <model>', 'the base that the critic was trained with, when it is not where it was')
    .option('--out <file>', 'write the rows into this file, JSON lines')
    .option('--overwrite', 'replace a file of that name')
    .action((trajectories: string[], options: Options) => perform((to) => score(trajectories, options, to)));
};

async function score(trajectories: string[], options: Options, to: Surroundings): Promise<Outcome> {
  const { critic, base, out, overwrite } = options;
  if (out !== undefined && existsSync(out) && overwrite !== true) {
    throw wrongUse(`${out} is there already; add --overwrite to replace it.`);
  }
  const rows = await scoreTrajectories(await openShippedTrainer(to), {
    ...{ critic, trajectories, out },
    // A folder, unless it is a name on the hub.
    ...(base !== undefined && { base: existsSync(base) ? path.resolve(base) : base }),
    signal: to.signal,
    onLine: (line) => process.stderr.write(`${line}\n`),
  });
  const turns = rows.reduce((sum, row) => sum + row.turns.length, 0);
  return {
    rows,
    summary: { trajectories: rows.length, turns, ...(out !== undefined && { file: out }) },
    print: () => (out === undefined ? inWords(rows) : `${rows.length} trajectories are in ${out}.`),
  };
}

/** A line for each turn. */
function inWords(rows: readonly Scored[]): string {
  const head = ['trajectory', 'task', 'reward', 'turn', 'tokens', 'advantage', 'untrained'];
  const lines = rows.flatMap(({ id, task, reward, turns }) =>
    turns.map(({ turn, tokens, advantage, untrained }) => [
      id,
      task,
      reward?.toFixed(2) ?? '–',
      String(turn + 1),
      String(tokens),
      nats(advantage),
      nats(untrained),
    ]),
  );
  return table([head, ...lines]);
}

/** With a real minus sign. */
function nats(value: number | null): string {
  return value === null ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
}
