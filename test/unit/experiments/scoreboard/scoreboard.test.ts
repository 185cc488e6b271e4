import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scoreboard, type Board } from '../../../../experiments/scoreboard/board';
import { writeBoard } from '../../../../experiments/scoreboard/files';
import type { Method } from '../../../../experiments/scoreboard/methods';
import { tableOf } from '../../../../experiments/scoreboard/table';
import { questionTasks } from '../../../../src/core/task/starter/questions/world';
import { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { CELLS, methods, plan, stage, tasksOf, type Stage } from './stage';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-scoreboard-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** For what does not depend on how many methods there are. */
const two = { methods: methods.filter(({ name }) => name === 'zero-shot' || name === 'sweet-rl') };

const rowsIn = async (place: string): Promise<Record<string, unknown>[]> => {
  const lines = (await readFile(path.join(place, 'rows.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
};

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
      const chosen = [...board.choices.values()].map(({ chosen: one }) => one?.setting.name);
      expect(chosen).toEqual(['–', '–', 'strong', 'strong', 'β 0.3, NLL 1']);
      expect(played.trained.toSorted()).toEqual([
        'multiturn-dpo 0.1 seed 1',
        'multiturn-dpo 0.1 seed 2',
        'multiturn-dpo 0.1 seed 9',
        'rft 0.1 seed 9',
        'rft 0.5 seed 1',
        'rft 0.5 seed 2', // for the composed agent; the method itself has one seed
        'rft 0.5 seed 9',
        'sweet-rl 0.3 seed 1', // for the ablation
        'sweet-rl 0.3 seed 9',
        'sweet-rl 0.95 seed 1',
        'sweet-rl 0.95 seed 2',
        'sweet-rl 0.95 seed 9',
      ]);
    });

    it('gives anchors and the best new method all seeds, and others the first few', () => {
      expect(board.main.map(({ method, seeds }) => [method.name, seeds.length])).toEqual([
        ['zero-shot', 2],
        ['either', 2],
        ['rft', 1],
        ['sweet-rl', 2],
        ['multiturn-dpo', 2],
      ]);
      expect(board.best).toEqual(['either']);
      expect(board.cells).toEqual({
        done: CELLS.development + CELLS.test,
        total: CELLS.development + CELLS.test,
      });
    });

    it('keeps a row for each cell and temperature: greedy play once, sampled play with its rollouts', async () => {
      const rows = await rowsIn(own);
      expect(rows).toHaveLength(2 * (CELLS.development + CELLS.test));
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
      const test = rows.filter(({ split }) => split === 'test');
      const rollouts = test.map((row) => `${String(row.temperature)} ${String(row.rollouts)}`);
      expect(new Set(rollouts)).toEqual(new Set(['1 2', '0 1']));
      expect(test[0]!.success).toMatch(/^[0-2]{6}$/);
      expect(JSON.stringify(rows)).not.toContain(own);
    });

    it('counts dialogues once for an agent of two models, and adds up their tokens', async () => {
      const costsOf = async (name: string): Promise<unknown> =>
        (await rowsIn(own)).find(({ method, split }) => method === name && split === 'test')?.costs;
      const none = { collected: 0, played: 0, sampled: 0, trained: 0, minutes: 0 };
      expect(await costsOf('zero-shot')).toEqual(none);
      expect(await costsOf('rft')).toMatchObject({ collected: 12, trained: 1000, minutes: 2 });
      const { sampled } = (await costsOf('rft')) as { sampled: number };
      expect(await costsOf('either')).toMatchObject({ collected: 12, trained: 2000, sampled: sampled + 100 });
    });

    it('collects other dialogues about other tasks for each seed', async () => {
      const folders = await readdir(path.join(own, 'out', 'offline'));
      expect(folders.map((name) => name.split('-')[1]).toSorted()).toEqual(['1', '2', '9']);
      expect(new Set(folders.map((name) => name.split('-')[2])).size).toBe(3);
    });

    it('writes a page with its pictures, and the same for programs', async () => {
      const { to } = played;
      const players = { start: 'starter', simulator: 'rules' };
      const page = await writeBoard(to.out, board, tableOf(board, plan), { plan, methods, players });
      const text = await readFile(page, 'utf8');
      expect(text).toMatch(/\| sweet-rl \| strong \| 2 \| \d+\.\d % \[/);
      expect(text).toContain('**Primary**: either − sweet-rl, above zero');
      expect(text).toContain('sweet-rl − rft, at least +12.0 points');
      expect(text).toContain('sweet-rl − multiturn-dpo');
      const shown = [...text.matchAll(/\]\((\w+\.svg)\)/g)].map(([, name]) => name);
      expect(shown).toContain('compute.svg');
      expect(await readdir(to.out)).toEqual(expect.arrayContaining(shown));
      const summary = JSON.parse(await readFile(path.join(to.out, 'scoreboard.json'), 'utf8')) as object;
      expect(summary).toHaveProperty('targets');
    });

    it('goes on from the rows alone: on another machine nothing is trained or played again', async () => {
      const elsewhere = await stage(folder, { rows: path.join(own, 'rows.jsonl') });
      expect(await scoreboard(elsewhere.to)).toEqual(board);
      expect(elsewhere.trained).toEqual([]);
      expect(elsewhere.turns.asked).toBe(0);
    });
  });

  it('compares at each method’s own temperature, and calls nothing met before all seeds are there', async () => {
    // With so many tasks and seeds the difference is significant.
    const test = { ...plan.test, tasks: 30, rollouts: 1 };
    const large = { ...plan, test, seeds: [1, 2, 3], fewSeeds: 3 };
    const { to } = await stage(folder, { plan: large });
    const { targets, rows } = tableOf(await scoreboard(to), large);
    const claim = targets.find(({ better, worse }) => better === 'sweet-rl' && worse === 'rft')!;
    expect(claim).toMatchObject({ met: true, planned: 3 });
    expect(claim.difference!.success.tasks).toBe(30);
    expect(claim.difference!.temperatures).toEqual(
      ['sweet-rl', 'rft'].map((method) => rows.find(({ name }) => name === method)!.own),
    );
    // Two primary comparisons share the 5 % of error.
    const primary = targets.filter(({ kind }) => kind === 'primary');
    expect(primary.map(({ difference }) => difference!.level)).toEqual([0.975, 0.975]);

    const more = await stage(folder, { plan: { ...large, seeds: [1, 2, 3, 4] } });
    const piece = { ...more.to.piece, seeds: [] };
    const partial = tableOf(await scoreboard({ ...more.to, piece }), more.to.plan);
    expect(partial.targets.find(({ worse }) => worse === 'multiturn-dpo')).toMatchObject({
      met: undefined,
      planned: 4,
    });
  });

  it('counts lost questions in place of missed decisions in twenty questions, and decides nothing there', async () => {
    const { to } = await stage(folder, {
      plan: { ...plan, name: 'twenty-questions', world: 'twenty-questions', decides: false },
      tasks: tasksOf(questionTasks),
    });
    const board = await scoreboard(to);
    const [row] = await rowsIn(folder);
    expect(row).toMatchObject({ missed: null, lost: expect.any(Number) as number });
    const table = tableOf(board, to.plan);
    expect(table.targets).toEqual([]);
    expect(board.equal).toEqual([]);
    const players = { start: 'starter-questions', simulator: 'rules' };
    const page = await writeBoard(to.out, board, table, { plan: to.plan, methods, players });
    const text = await readFile(page, 'utf8');
    expect(text).toContain('this table is for orientation');
    expect(text).toContain('](lost.svg)');
    expect(await readdir(to.out)).toContain('lost.svg');
  });

  it('works on its piece only, and plays no test task before the method’s choice', async () => {
    const first = await stage(folder, { piece: { methods: ['either'], seeds: [2] } });
    expect((await scoreboard(first.to)).cells.done).toBe(0);
    const second = await stage(folder, { piece: { methods: ['rft', 'sweet-rl', 'either'], seeds: [2] } });
    await scoreboard(second.to);
    const rows = await rowsIn(folder);
    const test = rows.filter(({ split }) => split === 'test');
    expect(new Set(test.map(({ method, seed }) => `${String(method)} ${String(seed)}`))).toEqual(
      new Set(['sweet-rl 2', 'either 2']),
    );
    const splits = rows.map(({ method, split }) => `${String(method)} ${String(split)}`);
    expect(splits.lastIndexOf('sweet-rl development')).toBeLessThan(splits.indexOf('sweet-rl test'));
  });

  it('lets the student of the first round play the tasks of the second, and learn from both', async () => {
    const inRounds: Method = {
      ...{ name: 'twice', role: 'new', about: 'In two rounds.', rollouts: 1, rounds: 2 },
      fields: { method: 'distill' },
      settings: [{ name: '–', fields: { policy: { learning_rate: 0.6 } } }],
    };
    const { to, trained } = await stage(folder, {
      methods: [...two.methods, inRounds],
      piece: { methods: ['twice'], seeds: [] },
    });
    await scoreboard(to);
    expect(trained).toEqual(['distill 0.6 seed 9', 'distill 0.6 seed 9']);
    const [row] = await rowsIn(folder);
    expect(row!.costs).toMatchObject({ collected: 12, trained: 2000, minutes: 4 });
    const offline = path.join(to.out, 'offline');
    const log = await TrajectoryLog.open(path.join(offline, (await readdir(offline))[0]!));
    const outlines = log.outlines();
    expect(outlines).toHaveLength(12);
    expect(outlines.filter(({ agent }) => agent === to.start.name)).toHaveLength(6);
    await log.close();
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
    const { cells } = await scoreboard(second.to);
    expect(first.trained.length + second.trained.length).toBe(12);
    expect(cells.done).toBe(cells.total);
  });

  it('ends without an error when its minutes are over, and counts nothing that is half done', async () => {
    const { to } = await stage(folder, two);
    const never = (): Promise<never> =>
      new Promise((_, reject) => {
        setTimeout(() => reject(new Error('stopped')), 600);
      });
    const hung = await scoreboard({
      ...to,
      piece: { ...to.piece, minutes: 0.005 },
      train: never,
    });
    expect(hung.isOutOfTime).toBe(true);
    expect(hung.failures).toEqual([]);
    const { cells } = await scoreboard(to);
    expect(cells.done).toBe(cells.total);
  });

  it('tells of a failed training, goes on with the others, and tries it again the next time', async () => {
    const { to } = await stage(folder);
    const failing = await scoreboard({
      ...to,
      train: (options) =>
        options.configuration.forTrainer.method === 'rft'
          ? Promise.reject(new Error('The loss is no number.'))
          : to.train(options),
    });
    expect(failing.choices.get('rft')!.chosen).toBeUndefined();
    expect(failing.failures.map(({ message }) => message)).toEqual(
      Array.from({ length: 2 }, () => 'The loss is no number.'),
    );
    expect(failing.main.map(({ method }) => method.name)).toEqual(['zero-shot', 'sweet-rl', 'multiturn-dpo']);
    const { cells, failures } = await scoreboard(to);
    expect(failures).toEqual([]);
    expect(cells.done).toBe(cells.total);
  });

  it('measures how well the critics of the first seed rank turns', async () => {
    const { to } = await stage(folder, { ...two, withCredit: true });
    const { credit } = await scoreboard(to);
    expect(credit!.scores.map(({ name }) => name)).toEqual(['sweet-rl', 'untrained-score']);
    expect(credit!.scores[0]!.seen.auc!.mean).toBeGreaterThan(0.9);
  });

  it('names the line of the rows that it cannot read', async () => {
    const { to } = await stage(folder);
    await writeFile(to.rows, '\n{"key":"a"}\n');
    await expect(scoreboard(to)).rejects.toThrow(/^Line 2 of .*rows\.jsonl is not a row/);
  });
});
