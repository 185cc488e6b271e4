import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { agentMessages } from '../../src/core/dialogue/conversation';
import { parseAgentMessage } from '../../src/core/dialogue/protocol';
import { Fault } from '../../src/core/fault';
import { Consents } from '../../src/core/trajectory/consent';
import { ifThere, writeAtomically } from '../../src/core/trajectory/files';
import { trajectoryRow } from '../../src/core/trajectory/export/rows';
import type { Surroundings } from './surroundings';
import type { CreditState } from './monteCarloCredit';

/** A critic's score, and the untrained baseline, for each candidate of each state. */
export interface CandidateScores {
  readonly advantage: readonly (readonly number[])[];
  readonly untrained: readonly (readonly number[])[];
}

const schema = z.object({
  advantage: z.array(z.array(z.number())),
  untrained: z.array(z.array(z.number())),
});

/**
 * Has an exported critic score the candidates: each becomes a row that ends with it, and the score of the last turn is
 * used.
 * @param folder the folder of rows and scores; existing scores are read
 * @param name a name for the critic, unique in the folder
 */
export async function scoresOf(
  critic: string,
  name: string,
  states: readonly CreditState[],
  folder: string,
  { score, prompts, signal }: Surroundings,
): Promise<CandidateScores> {
  const kept = join(folder, `scores-${name}.json`);
  const text = await ifThere(() => readFile(kept, 'utf8'));
  if (text !== undefined) return schema.parse(JSON.parse(text));
  await mkdir(folder, { recursive: true });
  const rows = join(folder, 'candidates.jsonl');
  await writeFile(rows, states.flatMap((state) => rowsOf(state, prompts)).join(''));
  const scored = await score({ critic, trajectories: [rows], signal });
  const last = new Map(scored.map(({ id, turns }) => [id, turns.at(-1)]));
  const of = (figure: 'advantage' | 'untrained'): number[][] =>
    states.map((state) => state.candidates.map((_, i) => last.get(idOf(state, i))?.[figure] ?? Number.NaN));
  const scores = { advantage: of('advantage'), untrained: of('untrained') };
  if ([...scores.advantage, ...scores.untrained].flat().some(Number.isNaN)) throw notScored(critic, rows);
  await writeAtomically(kept, (file) => file.writeFile(JSON.stringify(scores)));
  return scores;
}

function notScored(critic: string, rows: string): Fault {
  const message = `The critic in ${critic} has no score for some of the candidates in ${rows}; \`tandem score\` on that file says which it leaves out.`;
  return new Fault('study/not-scored', message);
}

const idOf = ({ id }: CreditState, candidate: number): string => `${id}-${candidate}`;

function rowsOf(state: CreditState, prompts: Surroundings['prompts']): string[] {
  const { trajectory, history, candidates } = state;
  return candidates.map((agent, i) => {
    const turns = [...history, { agent }];
    const one = { ...trajectory, id: idOf(state, i), turns, answer: undefined };
    const messages = agentMessages(trajectory.task, turns, trajectory.started.protocol, prompts);
    const row = trajectoryRow(
      { trajectory: one, grade: undefined, messages, consents: new Consents([]) },
      (turn) => parseAgentMessage(turn.agent.text).visible,
    );
    return `${JSON.stringify(row)}\n`;
  });
}
