import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../../fault';
import { ScoringProcess, type ReadDialogue } from '../../model/local/critic/process';
import { scoreTrajectories, type Scored } from '../convert';
import { advantageOf, logRatios } from '../../model/local/critic/turnScorer';
import type { Trainer } from '../trainer';
import type { Credit, Scorable, TurnCredit } from './credit';
import type { Critic } from './critics';

export interface CreditOptions {
  readonly scoring: string;
  /** Called only when the critic has no usable graphs. */
  readonly trainer: () => Promise<Trainer>;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/**
 * Uses ONNX Runtime or the trainer.
 * @throws {Fault} `training/cannot-score` for a dialogue that the critic cannot read; `model/*` for the critic's
 * folder
 */
export async function computeCredits(
  critic: Critic,
  scorables: readonly Scorable[],
  options: CreditOptions,
): Promise<Credit[]> {
  return critic.runner === 'onnx'
    ? byOnnx(critic, scorables, options)
    : byTrainer(critic, scorables, options);
}

async function byOnnx(
  critic: Critic,
  scorables: readonly Scorable[],
  { scoring, signal }: CreditOptions,
): Promise<Credit[]> {
  return ScoringProcess.during({ script: scoring, folder: critic.folder, signal }, (process) =>
    Promise.all(
      scorables.map(async (scorable) => {
        const { messages, turns, hiddenInformation } = scorable.dialogue;
        const told = hiddenInformation === undefined ? {} : { hiddenInformation };
        const read = await process.ask({ messages, turns, ...told });
        return creditOf(critic, scorable, turnsRead(read, critic));
      }),
    ),
  );
}

type Said = Omit<TurnCredit, 'turn'>;

function turnsRead(read: ReadDialogue, { about }: Critic): Said[] {
  if ('why' in read) {
    throw new Fault('training/cannot-score', `This critic cannot score the dialogue. ${read.reason}`);
  }
  return read.turns.map((turn) => ({
    ...advantageOf(turn, about),
    tokens: { texts: [...turn.texts], ratios: rounded(logRatios(turn, about)) },
  }));
}

async function byTrainer(
  critic: Critic,
  scorables: readonly Scorable[],
  { trainer, signal, onLine }: CreditOptions,
): Promise<Credit[]> {
  const temporary = await mkdtemp(join(tmpdir(), 'tandem-credit-'));
  try {
    const file = join(temporary, 'trajectories.jsonl');
    await writeFile(file, scorables.map(({ row }) => `${JSON.stringify(row)}\n`).join(''));
    const scored = await scoreTrajectories(await trainer(), {
      critic: critic.folder,
      trajectories: [file],
      withTokens: true,
      ...(signal && { signal }),
      ...(onLine && { onLine }),
    });
    return scorables.map((scorable) => creditOf(critic, scorable, turnsScored(scored, scorable)));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function turnsScored(scored: readonly Scored[], { episode }: Scorable): Said[] {
  const row = scored.find(({ id }) => id === episode);
  if (row === undefined) {
    throw new Fault('training/cannot-score', `This critic cannot score the dialogue ${episode}.`);
  }
  return row.turns.map(({ advantage, untrained, texts, log_ratios: ratios }) => ({
    advantage,
    untrained,
    ...(texts && ratios && { tokens: { texts, ratios: rounded(ratios) } }),
  }));
}

const creditOf = (critic: Critic, { episode, of, turns }: Scorable, said: readonly Said[]): Credit => ({
  version: 1,
  episode,
  critic: critic.id,
  of,
  unit: critic.unit,
  turns: said.map((each, index) => ({ turn: turns[index]!, ...each })),
});

/** More decimals would only make the files longer. */
const rounded = (ratios: readonly number[]): number[] => ratios.map((ratio) => Number(ratio.toFixed(5)));
