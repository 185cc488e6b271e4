import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportTrajectories, type ExportFormat } from '../../src/core/trajectory/export/export';
import { extensionOf, FORMAT_IDS, type FormatId } from '../../src/core/trajectory/export/formats';
import type { NewEvent } from '../../src/core/trajectory/event';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { chosen, render } from '../fixtures/choices';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  kim,
  play,
  simulator,
  started,
  verdict,
} from '../fixtures/log';
import { askNeighbour, readersFolder, trainersPython, type NeighbourOptions } from './python';

let folder: string;

/** Has one of the tools read the exports. @returns what it says of them */
function readBy(tool: string, options?: NeighbourOptions): Promise<unknown> {
  return askNeighbour(
    [path.resolve('test/neighbours/read_exports.py'), tool, folder, path.resolve('media/starter')],
    {
      ...options,
      env: {
        ...{ HF_DATASETS_CACHE: path.join(folder, 'cache'), CUDA_VISIBLE_DEVICES: '', OMP_NUM_THREADS: '1' },
        // LLaMA-Factory names older versions of what TRL needs; its readers run with the newer ones.
        ...{ DISABLE_VERSION_CHECK: '1', AXOLOTL_DO_NOT_TRACK: '1' },
      },
    },
  );
}

const withTrl = async (): Promise<NeighbourOptions> => ({ python: await trainersPython() });
const withReaders = async (): Promise<NeighbourOptions> => ({
  ...(await withTrl()),
  imports: await readersFolder(),
});

function optionsOf(format: FormatId): ExportFormat {
  if (format === 'trajectories') return { format, visible: ({ agent }) => agent.text };
  return { format, render };
}

/** Logs dialogues with everything that a format needs: rewards, choices, thumbs up and down, verdicts and an edit. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-exports-'));
  const log = await TrajectoryLog.open(path.join(folder, 'data'));
  await chosen(log, 'chosen', [1, 0]);
  // Half a character, as at the end of a text that was cut.
  await play(log, 'good', 1, { agent: 'half \ud83d' });
  const thumb = (episode: string, which: 'up' | 'down'): NewEvent => ({
    ...{ event: 'turn-rating', episode, turn: 1, thumb: which, by: kim.name },
  });
  for (const [episode, reward] of [
    ['good', 1],
    ['bad', 0],
  ] as const) {
    if (episode === 'bad') await play(log, episode, reward);
    await log.append(thumb(episode, reward === 1 ? 'up' : 'down'));
    await log.appendAll([verdict(episode, 1, true), verdict(episode, 2, reward === 1)]);
  }
  await log.appendAll([
    started('edited', { collaborator: kim }),
    agentTurn('edited', 1),
    {
      ...{ event: 'reply', episode: 'edited', turn: 1, text: 'Whole ones.', by: kim.name },
      ...{ author: 'developer-edited-suggestion', suggestion: 'Numbers.', suggestedBy: simulator.name },
    },
    agentTurn('edited', 2, 'OUTPUT: I WANT TO ANSWER: def double(n): return 2 * n'),
    answered('edited', 2),
    graded('edited', 1),
  ]);
  for (const format of FORMAT_IDS)
    await exportTrajectories(log, path.join(folder, `${format}.${extensionOf(format)}`), optionsOf(format));
  await log.close();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('TRL trains on fine-tuning rows, preferences, choices and thumbs, and reads verdicts as steps', async () => {
  expect(await readBy('trl', await withTrl())).toEqual({
    chat: { rows: 4, conversational: true, steps: 1 },
    preferences: { rows: 1, conversational: true, steps: 1 },
    choices: { rows: 2, conversational: true, steps: 1 },
    unpaired: { rows: 2, conversational: true, steps: 1 },
    replies: { rows: 1, conversational: true, steps: 1 },
    edits: { rows: 1, conversational: true, steps: 1 },
    stepwise: {
      rows: 2,
      columns: [
        [expect.any(String), expect.any(String)],
        [true, true],
      ],
    },
  });
});

it('LLaMA-Factory finds both exports by dataset_info.json and tokenizes them', async () => {
  expect(await readBy('llamafactory', await withReaders())).toMatchObject({
    'llamafactory-sft': { rows: 4, columns: expect.arrayContaining(['input_ids', 'labels']) as string[] },
    'llamafactory-ranking': {
      rows: 2,
      columns: expect.arrayContaining(['chosen_input_ids', 'rejected_input_ids']) as string[],
    },
  });
});

it('Axolotl reads preferences, fine-tuning rows and steps with the lines that the cards give it', async () => {
  const read = await readBy('axolotl', await withReaders());
  expect(read).toMatchObject({
    'axolotl-dpo': {
      rl: 'dpo',
      chosen: expect.stringContaining('candidate 1 for 1?') as string,
      rejected: expect.stringContaining('candidate 0 for 1?') as string,
    },
    'axolotl-sft': { rows: 4 },
    // One label at the end of each of the four steps.
    stepwise: { rows: 2, learned: 4 },
  });
  expect((read as { 'axolotl-sft': { learned: number } })['axolotl-sft'].learned).toBeGreaterThan(0);
});

it('Inspect AI reads the dialogues as samples, with and without its header alone', async () => {
  expect(await readBy('inspect')).toMatchObject({
    ...{ status: 'success', mean: 2 / 3, summaries: 4 },
    samples: [
      [doubling.id, 1, null],
      [doubling.id, 2, 1],
      [doubling.id, 3, 0],
      [doubling.id, 4, 1],
    ],
    messages: [
      ['user', doubling.description],
      ['assistant', 'OUTPUT: question 1?'],
      ['user', 'Whole ones.'],
      ['assistant', expect.stringContaining('I WANT TO ANSWER') as string],
    ],
    author: 'developer-edited-suggestion',
  });
});
