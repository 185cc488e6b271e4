import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exportTrajectories } from '../../../../src/core/trajectory/export/export';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { chosen, render } from '../../../fixtures/choices';
import { openLog, temporaryFolder } from '../../../fixtures/log';

async function filled(): Promise<TrajectoryLog> {
  const log = await openLog();
  await chosen(log, 'e1', [1, 0]);
  return log;
}

const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8')) as unknown;

it('enters an export beside those that the folder has, and once however often it is made', async () => {
  const log = await filled();
  const folder = await temporaryFolder();
  const mine = { file_name: 'mine.json', columns: { prompt: 'question' } };
  await writeFile(join(folder, 'dataset_info.json'), JSON.stringify({ mine }));
  for (const format of ['llamafactory-ranking', 'llamafactory-sft', 'llamafactory-ranking'] as const)
    await exportTrajectories(log, join(folder, `${format}.jsonl`), { format, render });
  const tags = {
    ...{ role_tag: 'role', content_tag: 'content' },
    ...{ user_tag: 'user', assistant_tag: 'assistant', system_tag: 'system' },
  };
  expect(await read(join(folder, 'dataset_info.json'))).toEqual({
    mine,
    'llamafactory-ranking': {
      ...{ file_name: 'llamafactory-ranking.jsonl', formatting: 'sharegpt', ranking: true, tags },
      columns: { messages: 'messages', chosen: 'chosen', rejected: 'rejected' },
    },
    'llamafactory-sft': {
      ...{ file_name: 'llamafactory-sft.jsonl', formatting: 'sharegpt', tags },
      columns: { messages: 'messages' },
    },
  });
});

it.each([
  ['is no list', '[', /is not a list of datasets of LLaMA-Factory; nothing was written/],
  [
    'is nested too deeply',
    `{"a": {"b": ${'['.repeat(5000)}${']'.repeat(5000)}}}`,
    /is not a list of datasets of LLaMA-Factory; nothing was written/,
  ],
  [
    'has another dataset of that name',
    '{"out": {"file_name": "other.json"}}',
    /has a dataset out already, of the file other\.json; nothing was written/,
  ],
])('writes nothing where dataset_info.json %s', async (_, text, sentence) => {
  const folder = await temporaryFolder();
  const info = join(folder, 'dataset_info.json');
  await writeFile(info, text);
  const format = 'llamafactory-sft';
  await expect(
    exportTrajectories(await filled(), join(folder, 'out.jsonl'), { format, render }),
  ).rejects.toThrow(sentence);
  expect([await readdir(folder), await readFile(info, 'utf8')]).toEqual([['dataset_info.json'], text]);
});
