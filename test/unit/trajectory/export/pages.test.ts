import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exportTrajectories } from '../../../../src/core/trajectory/export/export';
import { FORMAT_IDS, type FormatId } from '../../../../src/core/trajectory/export/formats';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { agentTurn, answered, openLog, reply, started, temporaryFolder } from '../../../fixtures/log';
import { bakery, pageOf, shows } from '../../../fixtures/pages';

async function playPage(log: TrajectoryLog, episode: string, score: number, renderer = 'a test') {
  const page = { measure: 'structure', version: 1, score, parts: {}, drafts: [{ turn: 1, score }], renderer };
  await log.recordTask(bakery);
  await log.appendAll(
    [
      started(episode, { task: bakery.id }),
      agentTurn(episode, 1, shows('Golden Crust')),
      { ...reply(episode, 1), shown: 'differences' } as ReturnType<typeof reply>,
      agentTurn(episode, 2, 'OUTPUT:\nI WANT TO ANSWER:\nAs above.'),
      answered(episode, 2, pageOf('Golden Crust')),
      {
        ...{ event: 'grade', episode },
        grade: { mode: 'fixed', reward: score, success: null, tests: [], page },
      },
    ],
    { durable: true },
  );
}

async function exported(log: TrajectoryLog, format: FormatId, options: object = {}) {
  const file = join(await temporaryFolder(), format === 'inspect' ? 'rows.json' : 'rows.jsonl');
  const render = () => [
    { role: 'user', content: 'A page, please.' } as const,
    { role: 'assistant', content: shows('Golden Crust') } as const,
  ];
  const visible = () => '';
  const result = await exportTrajectories(log, file, { format, render, visible, ...options });
  const text = await readFile(file, 'utf8');
  const rows = format === 'inspect' ? [] : text.trim().split('\n').filter(Boolean);
  return {
    ...result,
    text,
    rowsRead: rows.map((row) => JSON.parse(row) as Record<string, unknown>),
    cardText: await readFile(`${file}.md`, 'utf8'),
  };
}

/** Rows of two dialogues about a page, or the reason why there is none. */
const expected: Record<FormatId, number | string> = {
  ...{
    trajectories: 2,
    chat: 2,
    preferences: 1,
    'llamafactory-sft': 2,
    'axolotl-sft': 2,
    atif: 2,
    sts: 2,
    inspect: 2,
  },
  choices: 'without a choice between candidates',
  unpaired: 'without a thumb',
  feedback: 'without feedback on a turn',
  stepwise: 'without a verdict on a critic',
  replies: 'without a reply to learn from',
  edits: 'without an edited suggestion',
  generator: 'outside of a search tree',
  verifier: 'outside of a search tree',
  refiner: 'outside of a search tree',
  'llamafactory-ranking': 'without a choice between candidates',
  'axolotl-dpo': 'without a choice between candidates',
};

it.each(FORMAT_IDS)('%s holds dialogues about pages, or says what they lack', async (format) => {
  const log = await openLog();
  await playPage(log, 'worse', 0.4);
  await playPage(log, 'better', 0.7);
  const { rows, leftOut, cardText } = await exported(log, format, { pairs: 'all' });
  const wanted = expected[format];
  if (typeof wanted === 'number') expect({ rows, leftOut }).toEqual({ rows: wanted, leftOut: {} });
  else expect({ rows, leftOut }).toEqual({ rows: 0, leftOut: { [wanted]: 2 } });
  if (wanted === 0 || typeof wanted === 'string') return;
  expect(cardText).toContain('on web pages with hidden information');
  expect(cardText).toMatch(/mean score of web pages \(structure 1, drawn by a test; graded: 2\) \| 0\.550/);
  expect(cardText).toMatch(/\| mean reward \| – \|/);
});

it('rows of trajectories say what was shown, and that a page has no success', async () => {
  const log = await openLog();
  await playPage(log, 'one', 0.4);
  const { rowsRead } = await exported(log, 'trajectories');
  expect(rowsRead[0]).toMatchObject({
    task: { kind: 'page', ground_truth: bakery.reference },
    reward: 0.4,
    tandem: { success: null, turns: [{ reply_shown: 'differences' }, {}] },
  });
  expect((await exported(log, 'trajectories', { onlySuccess: true })).leftOut).toEqual({
    'not a success': 1,
  });
});

it('a log of Inspect AI has the score of a page', async () => {
  const log = await openLog();
  await playPage(log, 'one', 0.4);
  const { samples } = JSON.parse((await exported(log, 'inspect')).text) as { samples: object[] };
  expect(samples).toMatchObject([{ target: bakery.reference, scores: { reward: { value: 0.4 } } }]);
});

it('pairs no scores of two renderers, and gives each its own mean', async () => {
  const log = await openLog();
  await playPage(log, 'worse', 0.4);
  await playPage(log, 'better', 0.7, 'another');
  const { rows, leftOut } = await exported(log, 'preferences', { pairs: 'all' });
  expect(rows).toBe(0);
  expect(leftOut).toEqual({ 'paired only with trajectories of other prompts or measures': 2 });
  const { cardText } = await exported(log, 'chat');
  expect(cardText).toMatch(
    /drawn by a test; graded: 1\) \| 0\.400[^]*drawn by another; graded: 1\) \| 0\.700/,
  );
});
