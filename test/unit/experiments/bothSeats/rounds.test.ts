import { expect, it } from 'vitest';
import { alternate } from '../../../../experiments/bothSeats/rounds';
import type { AgentFigures } from '../../../../src/core/evaluation/figureSchemas';

it('trains each seat with the newest partner, and judges it with one that it was not trained with', async () => {
  const trained: string[] = [];
  const judged: string[] = [];
  await alternate({
    start: { agent: 'A0', collaborator: 'C0' },
    rounds: 2,
    train: ({ seat, round, base, partner }) => {
      trained.push(`${base} with ${partner}`);
      return Promise.resolve(`${seat === 'agent' ? 'A' : 'C'}${round}`);
    },
    judge: ({ agent, simulator }) => {
      judged.push(`${agent} and ${simulator}`);
      return Promise.resolve({} as AgentFigures);
    },
  });
  expect(trained).toEqual(['A0 with C0', 'C0 with A1', 'A1 with C1', 'C1 with A2']);
  expect(judged.slice(-3)).toEqual(['local:A2 and rules', 'local:A0 and local:C2', 'local:A2 and local:C2']);
});
