import type { AgentFigures } from '../../src/core/evaluation/figureSchemas';

export type Seat = 'agent' | 'collaborator';

/** Folder of the model in each seat. */
export type Seats = Readonly<Record<Seat, string>>;

export interface Training {
  readonly seat: Seat;
  readonly round: number;
  /** Folder of the model that learns. */
  readonly base: string;
  /** Folder of the model in the other seat, which does not learn. */
  readonly partner: string;
}

/** Models as on the command line. */
export interface Pairing {
  readonly agent: string;
  readonly simulator: string;
}

/** Figures after a round; round 0 is the start. */
export interface JudgedRound {
  readonly round: number;
  /** The agent with the rules. */
  readonly agent: AgentFigures;
  /** The collaborator with the agent of the start. */
  readonly collaborator: AgentFigures;
  /** Both as they were trained: success here and not above is a code that only these two share. */
  readonly together: AgentFigures;
}

export interface RoundsOptions {
  readonly start: Seats;
  readonly rounds: number;
  /** Resolves with the folder of the trained model. */
  readonly train: (training: Training) => Promise<string>;
  readonly judge: (pairing: Pairing) => Promise<AgentFigures>;
}

/**
 * Trains the agent with the last collaborator, then the collaborator with the new agent, round after round (MAPoRL, arXiv
 * 2502.18439). Each is judged with a partner that it was not trained with.
 */
export async function alternate(options: RoundsOptions): Promise<JudgedRound[]> {
  const { start, rounds, train } = options;
  let seats = start;
  const judged = [await judgedRound(0, seats, options)];
  for (let round = 1; round <= rounds; round++) {
    const agent = await train({ seat: 'agent', round, base: seats.agent, partner: seats.collaborator });
    const collaborator = await train({
      seat: 'collaborator',
      round,
      base: seats.collaborator,
      partner: agent,
    });
    seats = { agent, collaborator };
    judged.push(await judgedRound(round, seats, options));
  }
  return judged;
}

async function judgedRound(
  round: number,
  { agent, collaborator }: Seats,
  { start, judge }: RoundsOptions,
): Promise<JudgedRound> {
  return {
    round,
    agent: await judge({ agent: `local:${agent}`, simulator: 'rules' }),
    collaborator: await judge({ agent: `local:${start.agent}`, simulator: `local:${collaborator}` }),
    together: await judge({ agent: `local:${agent}`, simulator: `local:${collaborator}` }),
  };
}
