import path from 'node:path';
import { Fault } from '../../../fault';
import type { ChatMessage, Generation } from '../../model';
import { identityOf, readCriticFile, type CriticFile } from './criticFile';
import { ScoringProcess, type ReadTurn } from './process';

/** Scores what an agent could say next, without hidden information. */
export type TurnScorer = Pick<CriticScorer, 'fingerprint' | 'score' | 'close'>;

/** Runs a critic with ONNX Runtime, in a process that starts with the first score. */
export class CriticScorer {
  /** Equal for equal critics. */
  readonly fingerprint: string;
  readonly #folder: string;
  readonly #about: CriticFile;
  readonly #process: ScoringProcess;

  /**
   * @param script path of the built scoring.js
   * @throws {Fault} `model/bad-spec` for one that cannot score an agent at play; as `readCriticFile`
   */
  constructor(folder: string, script: string) {
    this.#folder = path.resolve(folder);
    this.#about = readCriticFile(this.#folder);
    const { hidden_information, score } = this.#about;
    if (hidden_information)
      throw this.#unfit(
        'reads the hidden information, which an agent at play must not. Train one with critic.hidden_information: false.',
      );
    if (score !== 'log-ratio')
      throw this.#unfit('does not score by log-ratios. Train one with critic.score: "log-ratio".');
    this.fingerprint = identityOf(this.#folder);
    this.#process = new ScoringProcess(script, this.#folder);
  }

  /** In nats; undefined for a candidate without tokens, which was cut before its first. */
  async score(
    messages: readonly ChatMessage[],
    { text, finishReason, reasoning, tokens, promptTokenIds }: Generation,
  ): Promise<number | undefined> {
    const turn = { position: messages.length, ids: tokens?.ids, promptIds: promptTokenIds };
    const read = await this.#process.ask({
      messages: [...messages, { role: 'assistant', content: text }],
      turns: [{ ...turn, finishReason, reasoning }],
    });
    return 'why' in read ? undefined : advantageOf(read.turns[0]!, this.#about).advantage;
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  #unfit(why: string): Fault {
    return new Fault('model/bad-spec', `The critic in ${this.#folder} ${why}`);
  }
}

/** In nats. `untrained` is the control, null without hidden information. */
interface Advantage {
  readonly advantage: number;
  readonly untrained: number | null;
}

/**
 * Eq. 3 of SWEET-RL (arXiv 2503.15478): the log-ratio of the turn's tokens between critic and base, as mean or,
 * without length normalisation, as sum. The control compares the base with and without the hidden information.
 */
export function advantageOf(turn: ReadTurn, about: CriticFile): Advantage {
  const { informed, plain } = turn;
  const { length_normalisation: mean } = about;
  return {
    advantage: combined(logRatios(turn, about), mean),
    untrained: informed === undefined ? null : combined(differences(informed, plain), mean),
  };
}

/**
 * One log-ratio for each token, in nats. In the paper's convention the base reads the same text as the critic; in that
 * of its code the base never sees the hidden information.
 */
export function logRatios({ critic, informed, plain }: ReadTurn, about: CriticFile): number[] {
  const sees = about.hidden_information && about.convention === 'paper';
  return differences(critic, sees ? informed! : plain);
}

const differences = (some: readonly number[], others: readonly number[]): number[] =>
  some.map((value, index) => value - others[index]!);

function combined(ratios: readonly number[], mean: boolean): number {
  const sum = ratios.reduce((total, ratio) => total + ratio, 0);
  return mean ? sum / ratios.length : sum;
}
