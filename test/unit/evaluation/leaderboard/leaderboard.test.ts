import { describe, expect, it } from 'vitest';
import { mulberry32 } from '../../../../src/core/random';
import { fitBradleyTerry, winProbability } from '../../../../src/core/evaluation/leaderboard/bradleyTerry';
import {
  Judgements,
  leaderboardOf,
  type Judgement,
  type Leaderboard,
} from '../../../../src/core/evaluation/leaderboard/leaderboard';
import { leaderboardNotes } from '../../../../src/core/evaluation/report/leaderboard';
import { inEnglish } from '../../../../src/core/evaluation/report/table';
import { agentTurn, answered, candidates, choice, doubling, openLog, started } from '../../../fixtures/log';

const times = (count: number, judgement: Judgement): Judgement[] =>
  Array.from({ length: count }, () => judgement);

const beats = (winner: string, loser: string, count = 1): Judgement[] =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? { agents: [winner, loser], picked: 0 } : { agents: [loser, winner], picked: 1 },
  );

const place = ({ places }: Leaderboard, model: string) => places.find((one) => one.model === model)!;

/** Makes choices by the Bradley–Terry model with evenly drawn pairs; a fraction of them are ties. */
function played(
  strengths: Readonly<Record<string, number>>,
  count: number,
  seed: number,
  ties = 0,
): Judgement[] {
  const random = mulberry32(seed);
  const names = Object.keys(strengths);
  return Array.from({ length: count }, (): Judgement => {
    const a = Math.floor(random() * names.length);
    const b = (a + 1 + Math.floor(random() * (names.length - 1))) % names.length;
    const agents = [names[a]!, names[b]!] as const;
    if (random() < ties) return { agents, picked: 'equal' };
    const first = random() < winProbability(strengths[agents[0]]! - strengths[agents[1]]!);
    return { agents, picked: first ? 0 : 1 };
  });
}

describe('the strengths of models', () => {
  it('lie in their 95 % intervals in about 95 of 100 worlds', () => {
    const truth = { a: 0.6, b: 0, c: -0.6 };
    let inside = 0;
    for (let world = 0; world < 200; world += 1) {
      const found = leaderboardOf(played(truth, 120, 100 + world));
      for (const [model, strength] of Object.entries(truth)) {
        const { interval } = place(found, model);
        const expected = winProbability(strength);
        if (interval.low <= expected && expected <= interval.high) inside += 1;
      }
    }
    expect(inside / 600).toBeGreaterThan(0.92);
    expect(inside / 600).toBeLessThan(0.985);
  });

  it('satisfy what makes the likelihood greatest: with the prior’s game, as many wins as expected', () => {
    const pairings = [
      { players: [0, 1], games: 7, score: 5.5 },
      { players: [1, 2], games: 4, score: 1 },
    ] as const;
    const { strengths } = fitBradleyTerry(3, pairings);
    const won = [5.5, 1.5 + 1, 3];
    const expected = [0, 0, 0];
    for (const {
      players: [i, j],
      games,
    } of pairings) {
      const chance = winProbability(strengths[i]! - strengths[j]!);
      expected[i]! += games * chance;
      expected[j]! += games * (1 - chance);
    }
    strengths.forEach((strength, player) => {
      expect(expected[player]! + winProbability(strength)).toBeCloseTo(won[player]! + 0.5, 6);
    });
  });

  it('count a tie as half a win for each, whether both are good or neither is', () => {
    const found = leaderboardOf([
      { agents: ['a', 'b'], picked: 'equal' },
      { agents: ['b', 'a'], picked: 'neither' },
      ...beats('a', 'c', 2),
      ...beats('b', 'c', 2),
    ]);
    expect(place(found, 'a').strength).toBeCloseTo(place(found, 'b').strength, 8);
    expect(place(found, 'a')).toMatchObject({ choices: 4, wins: 2, losses: 0, equal: 1, neither: 1 });
    expect(found).toMatchObject({ equal: 1, neither: 1, choices: 6 });
  });
});

const remarks = (found: Leaderboard): string[] => leaderboardNotes(found).map(inEnglish);

describe('the table', () => {
  it('says when no choices connect two groups of models, and compares nobody across', () => {
    const found = leaderboardOf([...beats('a', 'b', 9), ...beats('c', 'd', 2), ...beats('d', 'e', 2)]);
    expect(found.groups).toBe(2);
    expect(found.places.map(({ model, group }) => `${group} ${model}`)).toEqual([
      '0 c',
      '0 d',
      '0 e',
      '1 a',
      '1 b',
    ]);
    // Within a group the mean is 0.
    expect(place(found, 'a').strength + place(found, 'b').strength).toBeCloseTo(0, 8);
    expect(remarks(found).join(' ')).toContain('No choices connect the groups');
    expect(remarks(leaderboardOf(beats('a', 'b', 9))).join(' ')).not.toContain('connect');
  });

  it('reports how often the first shown was chosen, also between two messages of one model', () => {
    const found = leaderboardOf([
      ...times(30, { agents: ['a', 'a'], picked: 0 }),
      ...times(6, { agents: ['a', 'a'], picked: 1 }),
      ...times(4, { agents: ['a', 'a'], picked: 'equal' }),
    ]);
    expect(found).toMatchObject({ choices: 40, ofOneModel: 40, firstShown: { decided: 36, share: 30 / 36 } });
    expect(found.firstShown.interval.low).toBeGreaterThan(0.5);
    expect(remarks(found).join(' ')).toContain('people favour the first');
    expect(place(found, 'a')).toMatchObject({ choices: 0, wins: 0, strength: 0 });
  });
});

describe('the choices of a log', () => {
  it('are those of every dialogue that is over or skipped, and are read again when one has changed', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    const skipped = { event: 'abandoned', episode: 'e2', reason: 'skipped', message: 'Too hard' } as const;
    await log.appendAll([started('e1'), candidates('e1', 1), choice('e1', 1, 1), agentTurn('e1', 1)]);
    await log.appendAll([started('e2'), candidates('e2', 1), choice('e2', 1, 'neither'), skipped]);
    await log.append(started('e3'));
    const judgements = new Judgements();
    log.onDidChange((episodes) => judgements.forget(episodes));
    const agents = ['openai:agent', 'openai:rival'];
    // The table must not reveal the authors in a dialogue that is still being played.
    expect(await judgements.of(log)).toEqual([{ agents, picked: 'neither' }]);
    await log.append(answered('e1', 1));
    expect(await judgements.of(log)).toEqual([
      { agents, picked: 1 },
      { agents, picked: 'neither' },
    ]);
    const resumed = { event: 'resumed', episode: 'e2' } as const;
    await log.appendAll([resumed, candidates('e2', 1), choice('e2', 1, 'equal'), skipped]);
    expect((await judgements.of(log)).map(({ picked }) => picked)).toEqual([1, 'neither', 'equal']);
    await log.delete(['e1']);
    expect((await judgements.of(log)).map(({ picked }) => picked)).toEqual(['neither', 'equal']);
  });
});
