import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { root } from '../../../scripts/setup/project.mjs';
import { DOWNLOADS } from '../../../src/core/task/downloads';
import { ClipEmbedder } from '../../../src/core/model/local/clip/embedder';
import { startDatasetHub } from '../../fixtures/dataset-hub';
import { Hub } from '../../fixtures/hub';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();

it('tandem download clip fetches the graph with its license, which is then used', async () => {
  const { repository, files } = DOWNLOADS.clip;
  const content = await readFile(path.join(root, 'test/fixtures/clip/onnx/vision_model.onnx'));
  const hub = await Hub.start(files, content, 'lfs', repository);
  try {
    const clip = path.join(folder, 'clip');
    const download = ['download', 'clip', '--hub', hub.url, '--to', clip];
    const unread = await tandem(...download);
    expect(unread).toMatchObject({ code: 2, stderr: expect.stringContaining('MIT License') as string });
    const { stdout, code } = await tandem(...download, '--accept-licence');
    expect(code).toBe(0);
    expect(stdout).toContain(`commit ${hub.commit}, SHA-256 as published`);
    expect(await readFile(path.join(clip, 'licence-vision_model.txt'), 'utf8')).toContain('(c) 2021 OpenAI');
    const embedder = new ClipEmbedder(path.join(root, 'dist/embedding.js'), clip);
    expect(await embedder.embed(undefined)).toHaveLength(16);
    await embedder.close();
  } finally {
    await hub.close();
  }
});

it('tandem download frontend-train makes a pack of 10,000 pages', async () => {
  const shard = (first: number): Buffer => {
    const rows = Array.from({ length: 6000 }, (_, index) => first + index);
    const columnData = [
      { name: 'text', data: rows.map((row) => `<html>${row}</html>`), type: 'STRING' as const },
      { name: 'llm_generated_idea', data: rows.map((row) => `Idea ${row}`), type: 'STRING' as const },
    ];
    return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 1000 }));
  };
  const files = new Map([
    ['README.md', Buffer.from('license: cc-by-4.0')],
    ['v0.2/train-00000.parquet', shard(0)],
    ['v0.2/train-00001.parquet', shard(6000)],
  ]);
  await using hub = await startDatasetHub(DOWNLOADS['frontend-train'].repository, files);
  const schema = z.object({ summary: z.object({ file: z.string(), commit: z.string() }) });
  const to = path.join(folder, 'websight');
  const { summary } = await json(
    schema,
    ...['download', 'frontend-train', '--hub', hub.url, '--to', to, '--accept-licence'],
  );
  expect(summary).toMatchObject({ file: path.join(to, 'frontend-train.jsonl'), commit: hub.commit });
  const counted = await tandem('tasks', summary.file);
  expect(counted.stdout).toMatch(/frontend-train\.jsonl +10,?000 /);
});
