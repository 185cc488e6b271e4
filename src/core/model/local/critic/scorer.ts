import { statSync } from 'node:fs';
import { Tensor, type InferenceSession } from '../runtime';
import { messageOf } from '../../../fault';
import { damaged } from '../files';
import { createSession } from '../graph';
import { passesOf } from './passes';
import type { Turn } from './turns';

/** A graph that gives log-probabilities of chosen tokens: input_ids (1, T), positions (N), targets (N) → log_probs (N). */
export class Scorer {
  private constructor(private readonly session: InferenceSession) {}

  /** @throws {Fault} `model/damaged-folder` */
  static async open(file: string): Promise<Scorer> {
    try {
      return new Scorer(await createSession(file, statSync(file).size, 'cpu'));
    } catch (error) {
      throw damaged(file, messageOf(error), error);
    }
  }

  /** Of each turn the natural log-probabilities of its tokens. */
  async logProbs(turns: readonly Turn[]): Promise<number[][]> {
    const found: number[][] = turns.map(() => []);
    for (const { ids, positions, targets, turns: covered } of passesOf(turns)) {
      const { log_probs } = await this.session.run({
        input_ids: tensor(ids, [1, ids.length]),
        positions: tensor(positions, [positions.length]),
        targets: tensor(targets, [targets.length]),
      });
      const values = [...(log_probs!.data as Float32Array)];
      for (const number of covered) found[number] = values.splice(0, turns[number]!.response.length);
    }
    return found;
  }
}

const tensor = (values: readonly number[], shape: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), shape);
