import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Prompts } from '../../../src/core/dialogue/prompts';
import { gainsOf, dialogueOf } from '../../../src/core/training/scoring/dialogues';
import { countData } from '../../../src/core/training/data/countData';
import { prepareData } from '../../../src/core/training/data/prepare';
import type { LogSelection } from '../../../src/core/training/configuration';
import type { PageTask } from '../../../src/core/task/task';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { agentTurn, answered, openLog, play, reply, started, temporaryFolder } from '../../fixtures/log';

const prompts = resolve('trainer/tandem_trainer/data/prompts');
const html = '<html><body><h1>Bakery</h1></body></html>';
const bakery: PageTask = { kind: 'page', id: 'bakery', description: 'A page for a bakery.', reference: html };

interface Graded {
  readonly score: number;
  readonly measure?: string;
  readonly renderer?: string;
}

function played(
  episode: string,
  { score, measure = 'structure', renderer = 'Chromium 140' }: Graded,
): NewEvent[] {
  const drafts = [
    { turn: 1, score: 0.5 },
    { turn: 2, score },
  ];
  const page = { measure, version: 1, score, parts: {}, drafts, renderer };
  const grade = { mode: 'fixed', reward: score, success: null, tests: [], page } as const;
  return [
    started(episode, { task: bakery.id, prompts: {}, protocol: { maxTurns: 10, replyLimit: 1000 } }),
    agentTurn(episode, 1, `OUTPUT:\n${html}`),
    reply(episode, 1),
    agentTurn(episode, 2, `OUTPUT:\n${html}`),
    answered(episode, 2, html),
    { event: 'grade', episode, grade },
  ];
}

/** A log with five dialogues about a page, one of them by another measure, and one about a function. */
async function logOfPages(): Promise<string> {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await log.recordTask(bakery);
  await log.appendAll(played('a', { score: 0.6 }));
  await log.appendAll(played('b', { score: 0.7 }));
  await log.appendAll(played('c', { score: 0.65 }));
  await log.appendAll(played('d', { score: 1, measure: 'checks' }));
  await log.appendAll(played('e', { score: 0.9, renderer: 'frame 1' }));
  await play(log, 'f', 1);
  await log.close();
  return folder;
}

interface Row {
  readonly reward: number;
  readonly task: object;
  readonly messages: readonly { readonly content: string }[];
  readonly tandem: { readonly episode: string; readonly success: null; readonly page?: object };
}

async function rowsOf(selection: LogSelection): Promise<{ rows: Row[]; leftOut: object }> {
  const run = await temporaryFolder();
  const { left_out: leftOut } = await prepareData(selection, run, { prompts });
  const text = await readFile(join(run, 'data', 'trajectories.jsonl'), 'utf8');
  return {
    rows: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row),
    leftOut,
  };
}

describe('Rows of pages', () => {
  it('hold the score, what it measures, and the wanted page', async () => {
    const { rows, leftOut } = await rowsOf({ log: await logOfPages() });
    expect(leftOut).toEqual({});
    expect(rows.map(({ tandem }) => tandem.episode)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    const [first] = rows;
    expect(first).toMatchObject({
      reward: 0.6,
      task: { kind: 'page', ground_truth: html },
      tandem: {
        grading_mode: 'fixed',
        success: null,
        page: {
          ...{ measure: 'structure', version: 1, renderer: 'Chromium 140' },
          drafts: [
            { turn: 1, score: 0.5 },
            { turn: 2, score: 0.6 },
          ],
        },
      },
    });
    expect(first!.messages[0]!.content).toContain('`https://picsum.photos/id/48/W/H`');
  });

  it('are of one measure and one renderer where the configuration names them', async () => {
    const log = await logOfPages();
    const chosen = async (selection: object): Promise<string> =>
      (await rowsOf({ log, ...selection })).rows.map(({ tandem }) => tandem.episode).join('');
    expect(await chosen({ measure: 'structure 1', renderer: 'Chromium 140' })).toBe('abc');
    expect(await chosen({ measure: 'tests', renderer: 'Chromium 140' })).toBe('f');
    const { leftOut } = await rowsOf({ log, measure: 'structure', renderer: 'Chromium 140' });
    expect(leftOut).toEqual({ 'of another measure': 2, 'drawn by another renderer': 1 });
  });

  it('are counted as pairs by a margin of a tenth', async () => {
    const folder = await logOfPages();
    const log = await TrajectoryLog.open(folder);
    const selection = { log: folder, measure: 'structure', renderer: 'Chromium 140' };
    const pairs = async (margin?: number): Promise<number> =>
      (await countData(log, selection, { pairing: 'paper', margin })).pairs;
    expect([await pairs(), await pairs(0.05), await pairs(0.2)]).toEqual([1, 3, 0]);
    await log.close();
  });

  it('are read for a critic with the wanted page as hidden information', async () => {
    const { rows } = await rowsOf({ log: await logOfPages() });
    const read = dialogueOf(rows[0], 'rows.jsonl:1', await Prompts.load(prompts));
    expect(read).toMatchObject({ id: 'a', task: 'bakery', hiddenInformation: html, reward: 0.6 });
    const { messages, ...published } = rows[0]!;
    expect(dialogueOf(published, 'rows.jsonl:1', await Prompts.load(prompts)).messages).toEqual(messages);
    expect(read.drafts).toEqual([
      { turn: 1, score: 0.5 },
      { turn: 2, score: 0.6 },
    ]);
  });
});

describe('The gain of a turn', () => {
  it('is the score of its draft above the draft before', () => {
    const drafts = [
      { turn: 1, score: 0.5 },
      { turn: 3, score: 0.75 },
      { turn: 4, score: 0.625 },
    ];
    expect([...gainsOf(drafts, 5)]).toEqual([
      [1, 0.5],
      [2, 0],
      [3, 0.25],
      [4, -0.125],
      [5, 0],
    ]);
  });
});
