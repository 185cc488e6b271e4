import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scoreboard, type Board } from '../../../../experiments/scoreboard/board';
import { writeBoard } from '../../../../experiments/scoreboard/files';
import { tableOf } from '../../../../experiments/scoreboard/table';
import { methods, plan, stage, type Stage } from './stage';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-scoreboard-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the scoreboard', () => {
  describe('that is played to its end', () => {
    let own: string;
    let played: Stage;
    let board: Board;
    beforeAll(async () => {
      own = await mkdtemp(path.join(tmpdir(), 'tandem-scoreboard-'));
      played = await stage(own);
      board = await scoreboard(played.to);
    });
    afterAll(() => rm(own, { recursive: true, force: true }));

    it('tries every setting on the development split and trains the best with every seed', () => {
      expect(board.choices.map(({ chosen }) => chosen?.name)).toEqual(['strong', 'strong']);
      expect(played.trained.toSorted()).toEqual([
        'rft 0.1 seed 9',
        'rft 0.5 seed 1',
        'rft 0.5 seed 2',
        'rft 0.5 seed 9',
        'sweet-rl 0.3 seed 9',
        'sweet-rl 0.95 seed 1',
        'sweet-rl 0.95 seed 2',
        'sweet-rl 0.95 seed 9',
      ]);
    });

    it('writes a page with its pictures, and the same for programs', async () => {
      const { to } = played;
      const players = { start: 'starter', simulator: 'rules' };
      const page = await writeBoard(to.out, board, tableOf(board.final, 1), { plan, methods, players });
      const text = await readFile(page, 'utf8');
      expect(text).toMatch(/\| sweet-rl \| strong \| \d+\.\d % \[/);
      expect(text).toContain('sweet-rl − rft, at least +12.0 points');
      const shown = [...text.matchAll(/\]\((\w+\.svg)\)/g)].map(([, name]) => name);
      expect(await readdir(to.out)).toEqual(expect.arrayContaining(shown));
      const summary = JSON.parse(await readFile(path.join(to.out, 'scoreboard.json'), 'utf8')) as object;
      expect(summary).toHaveProperty('targets');
    });

    it('does nothing twice: the second call plays and trains nothing', async () => {
      const second = await stage(own);
      expect(await scoreboard(second.to)).toEqual(board);
      expect(second.trained).toEqual([]);
      expect(second.turns.asked).toBe(0);
    });
  });

  it('compares on the same tasks and seeds, and says whether what was to be shown is', async () => {
    // With so many tasks the difference is significant.
    const test = { ...plan.test, tasks: 40 };
    const { to } = await stage(folder, { plan: { ...plan, test, seeds: [1, 2, 3] } });
    const board = await scoreboard(to);
    const { rows, differences, targets } = tableOf(board.final, 1);
    expect(rows.map(({ method }) => method)).toEqual(['zero-shot', 'rft', 'sweet-rl']);
    expect(rows[2]!.sampled!.success.bySeed).toHaveLength(3);
    expect(rows[2]!.sampled!.success.mean).toBeGreaterThan(rows[1]!.sampled!.success.mean);
    const [difference] = differences.filter(({ worse }) => worse === 'rft');
    expect(difference!.success.tasks).toBe(40);
    expect(difference!.success.interval!.low).toBeGreaterThan(0);
    expect(targets.map(({ met }) => met)).toEqual([false, true, false]);
    // Two seeds are too few for significance.
    const two = board.final.map(({ method, attempts }) => ({ method, attempts: attempts.slice(0, 2) }));
    expect(tableOf(two, 1).targets.map(({ met }) => met)).toEqual([false, false, false]);
  });

  it('goes on where it was stopped', async () => {
    const stop = new AbortController();
    const first = await stage(folder, { signal: stop.signal });
    const stopped = scoreboard({
      ...first.to,
      onProgress: ({ what, isEnd }) => {
        if (isEnd === true && what.includes('seed 1, test')) stop.abort();
      },
    });
    await expect(stopped).rejects.toThrow();
    const second = await stage(folder);
    const board = await scoreboard(second.to);
    expect(first.trained.length + second.trained.length).toBe(8);
    expect(board.final.flatMap(({ attempts }) => attempts)).toHaveLength(6);
  });

  it('keeps a failed training as an attempt, goes on with the others, and tries it again the next time', async () => {
    const { to } = await stage(folder);
    const failing = await scoreboard({
      ...to,
      train: (options) =>
        options.configuration.forTrainer.method === 'rft'
          ? Promise.reject(new Error('The loss is no number.'))
          : to.train(options),
    });
    expect(failing.choices.find(({ method }) => method.name === 'rft')!.chosen).toBeUndefined();
    expect(failing.attempts.filter(({ message }) => message === 'The loss is no number.')).toHaveLength(2);
    const { rows } = tableOf(failing.final, 1);
    expect(rows.find(({ method }) => method === 'rft')!.sampled).toBeUndefined();
    const mended = await scoreboard(to);
    expect(mended.attempts.every(({ state }) => state === 'done')).toBe(true);
  });

  it('plays the test split only when every setting is chosen, and counts for how many tables', async () => {
    const { to, told } = await stage(folder);
    const { testUses } = await scoreboard(to);
    const ends = told.filter(({ isEnd, what }) => isEnd === true && /development|test/.test(what));
    expect(ends.findLastIndex(({ what }) => what.includes('development'))).toBeLessThan(
      ends.findIndex(({ what }) => what.includes('test')),
    );
    expect(testUses).toBe(1);
    const other = methods.filter(({ name }) => name !== 'rft');
    expect((await scoreboard({ ...to, methods: other })).testUses).toBe(2);
    // Playing some of the same tasks, or the same tasks with changed code, also counts as a look at them.
    const fewer = { ...plan, test: { ...plan.test, tasks: 5 } };
    expect((await scoreboard({ ...to, plan: fewer, methods: other })).testUses).toBe(3);
    expect((await scoreboard({ ...to, methods: other, trainerCode: 'mended' })).testUses).toBe(4);
  });
});
