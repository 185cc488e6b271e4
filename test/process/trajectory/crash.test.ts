import { describe, expect, it } from 'vitest';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { openLog, temporaryFolder } from '../../fixtures/log';
import { kill, printed, program, type Child } from '../../unit/trajectory/processes/start';
import { seeded } from '../../unit/trajectory/random';

/** Expects every acknowledged turn of the child in the log. */
async function expectAcknowledged(log: TrajectoryLog, name: string, child: Child): Promise<number> {
  // A kill may cut the last line that the child printed.
  const lines = child.output
    .slice(0, child.output.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  const turns = new Map<string, Set<number>>();
  for (const line of lines) {
    const [number, turn] = line.split(' ') as [string, string];
    const id = `${name}-${number}`;
    if (!turns.has(id)) turns.set(id, new Set());
    turns.get(id)!.add(Number(turn));
  }
  for (const [id, acknowledged] of turns) {
    const trajectory = await log.trajectory(id);
    const logged = trajectory?.turns.map(({ agent }) => agent.turn) ?? [];
    expect(logged).toEqual(expect.arrayContaining([...acknowledged]));
    for (const { agent } of trajectory!.turns) expect(agent.text).toMatch(new RegExp(`^(${id} )+$`));
  }
  return lines.length;
}

/** Number of kills. */
const ROUNDS = 4;
/** Minimum number of acknowledged turns before a kill. */
const MIN_KILLS = 5;

describe('killing a process that appends', () => {
  const append = program('append');

  it('loses nothing it has acknowledged, at random moments', async () => {
    const folder = await temporaryFolder();
    const random = seeded(3);
    const children: [string, Child][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = append(folder, `round${round}`);
      children.push([`round${round}`, child]);
      await printed(child, new RegExp(`^(\\d+ \\d+\n){${MIN_KILLS + Math.floor(random() * 20)}}`));
      await kill(child);
      const log = await openLog(folder);
      await expectAcknowledged(log, `round${round}`, child);
      await log.close();
    }
    const log = await openLog(folder);
    let acknowledged = 0;
    for (const [name, child] of children) acknowledged += await expectAcknowledged(log, name, child);
    expect(acknowledged).toBeGreaterThanOrEqual(ROUNDS * MIN_KILLS);
    expect(log.problems.every(({ reason }) => reason.startsWith('The last line is torn'))).toBe(true);
  });

  it('disturbs none of the other processes that append to the same log', async () => {
    const folder = await temporaryFolder();
    const reader = await openLog(folder);
    const names = ['one', 'two', 'three'];
    const children = names.map((name) => append(folder, name));
    await Promise.all(children.map((child) => printed(child, /^3 1$/m)));
    await kill(children[0]!);
    const atKill = children.map(({ output }) => output.length);
    await reader.refresh();
    await Promise.all(
      [1, 2].map((index) => printed(children[index]!, new RegExp(`^[^]{${atKill[index]! + 40},}`))),
    );
    await Promise.all(children.map(kill));
    await reader.refresh();
    for (const [index, child] of children.entries()) {
      for (const log of [reader, await openLog(folder)]) {
        expect(await expectAcknowledged(log, names[index]!, child)).toBeGreaterThan(9);
      }
    }
  });
});
