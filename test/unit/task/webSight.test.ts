import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { download, type DownloadOptions } from '../../../src/core/task/download';
import { DOWNLOADS, type HubFiles } from '../../../src/core/task/downloads';
import { readTasks } from '../../../src/core/task/pack';
import { withPublishedPictures } from '../../../src/core/task/rowTransfer';
import { startDatasetHub, type DatasetHub } from '../../fixtures/dataset-hub';
import { fault } from '../../fixtures/hub-scene';
import { inFolder } from '../../fixtures/tasks';

const { repository } = DOWNLOADS['frontend-train'];

const pageOf = (row: number): string =>
  `<html><body><h1>Page ${row}</h1><img src="https://source.unsplash.com/random/300x200/?real-estate"></body></html>`;

/** Pages beside pictures of 20 KB, in groups of 10 rows. */
const shard = (first: number, count: number): Buffer => {
  const rows = Array.from({ length: count }, (_, index) => first + index);
  const columnData = [
    { name: 'image', data: rows.map(() => new Uint8Array(randomBytes(20_000))), type: 'BYTE_ARRAY' as const },
    { name: 'text', data: rows.map(pageOf), type: 'STRING' as const },
    { name: 'llm_generated_idea', data: rows.map((row) => `Idea ${row}`), type: 'STRING' as const },
  ];
  return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 10 }));
};

const shards = new Map([
  ['README.md', Buffer.from('---\nlicense: cc-by-4.0\n---\n')],
  ['v0.2/train-00000-of-00003.parquet', shard(0, 95)],
  ['v0.2/train-00001-of-00003.parquet', shard(95, 95)],
  ['v0.2/train-00002-of-00003.parquet', shard(190, 95)],
]);

/** Rows 60 to 129: of two of the files, from the middle of a group to the middle of another. */
const source: HubFiles = {
  ...DOWNLOADS['frontend-test'],
  rows: { folder: 'v0.2', first: 65, end: 130 },
};

type Fetch = (options?: Partial<DownloadOptions>) => ReturnType<typeof download>;

async function scene(
  play: (scene: {
    hub: DatasetHub;
    folder: string;
    file: string;
    notices: string[];
    fetch: Fetch;
  }) => Promise<void>,
  options?: { readonly ranges: boolean },
): Promise<void> {
  await using hub = await startDatasetHub(repository, shards, options);
  await inFolder(async (folder) => {
    const notices: string[] = [];
    const fetch: Fetch = (more) =>
      download(source, {
        ...{ folder, hubUrl: hub.url, retryDelay: 1 },
        acceptLicence: () => Promise.resolve(true),
        onNotice: (sentence) => notices.push(sentence),
        ...more,
      });
    await play({ hub, folder, file: join(folder, 'frontend-test.jsonl'), notices, fetch });
  });
}

const rowsIn = async (file: string): Promise<Record<string, string>[]> =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);

const isWhole = async (file: string): Promise<void> =>
  expect((await rowsIn(file)).map(({ problem_description }) => problem_description)).toEqual(
    Array.from({ length: 65 }, (_, index) => `Idea ${65 + index}`),
  );

describe('the rows of WebSight', () => {
  it('are fetched without the pictures beside them, as page tasks with source and license', () =>
    scene(async ({ hub, folder, file, notices, fetch }) => {
      const steps: { received: number; bytes?: number }[] = [];
      const downloaded = await fetch({ onProgress: (step) => steps.push(step) });
      expect(downloaded).toEqual([
        { file, bytes: expect.any(Number) as number, commit: hub.commit, alreadyThere: false },
      ]);
      await isWhole(file);
      expect((await rowsIn(file))[0]).toEqual({
        kind: 'page',
        problem_description: 'Idea 65',
        ground_truth:
          '<html><body><h1>Page 65</h1><img src="https://picsum.photos/id/48/300/200-estate"></body></html>',
        source: 'HuggingFaceM4/WebSight v0.2, row 65',
        license: 'CC-BY-4.0',
      });
      const tasks = [];
      for await (const read of readTasks(file)) if ('task' in read) tasks.push(read.task.kind);
      expect(tasks).toEqual(Array.from({ length: 65 }, () => 'page'));
      expect(steps.at(-1)).toEqual({ received: 65, total: 65, bytes: expect.any(Number) as number });
      // Two files of 1.9 MB are read in part; their ends are fetched with some of the pictures.
      expect(hub.sent()).toBeLessThan(1_400_000);
      expect(hub.parts.map(({ path }) => path)).not.toContain('v0.2/train-00002-of-00003.parquet');
      expect((await readdir(folder)).toSorted()).toEqual([
        ...['frontend-test.jsonl', 'licence-frontend-test.txt', 'source.json'],
      ]);
      expect(await readFile(join(folder, 'licence-frontend-test.txt'), 'utf8')).toContain('CC BY 4.0');
      expect(notices).toEqual([]);
      expect(await fetch()).toMatchObject([{ alreadyThere: true }]);
    }));

  it('are all there once when the connection breaks', () =>
    scene(async ({ hub, file, notices, fetch }) => {
      hub.cut('v0.2/train-00001-of-00003.parquet', 2);
      await fetch();
      await isWhole(file);
      expect(notices).not.toEqual([]);
    }));

  it('continue after the last whole row when a call was stopped', () =>
    scene(async ({ hub, folder, file, fetch }) => {
      const stop = new AbortController();
      const reason = new Error('enough');
      hub.onPart = (path) => {
        if (path.includes('00001')) stop.abort(reason);
      };
      await expect(fetch({ signal: stop.signal })).rejects.toBe(reason);
      expect(await readdir(folder)).not.toContain('frontend-test.jsonl');
      const part = `${file}.part`;
      const before = (await rowsIn(part)).length;
      expect(before).toBe(30);
      // The process ended in the middle of a line.
      await writeFile(part, `${await readFile(part, 'utf8')}{"kind":"pa`);
      hub.onPart = () => undefined;
      const steps: number[] = [];
      await fetch({ onProgress: ({ received }) => steps.push(received) });
      expect(steps[0]).toBe(before);
      await isWhole(file);
    }));

  it('say in one sentence what is wrong', async () => {
    await scene(
      async ({ fetch }) => {
        await expect(fetch()).rejects.toMatchObject(fault('hub-protocol', /does not give parts of a file/));
      },
      { ranges: false },
    );
    await scene(async ({ folder, hub }) => {
      const options = { folder, hubUrl: hub.url, acceptLicence: () => Promise.resolve(true) };
      const rows = { folder: 'v0.2', first: 0, end: 300 };
      await expect(download({ ...source, rows }, options)).rejects.toMatchObject(
        fault('hub-protocol', /has 285 rows, and rows 0 to 299 are wanted/),
      );
    });
    await scene(async ({ folder, file, fetch }) => {
      await mkdir(folder, { recursive: true });
      await writeFile(file, 'something else\n');
      await expect(fetch()).rejects.toMatchObject(fault('file-exists', /is not what this download makes/));
    });
  });
});

it('rewrites the addresses of pictures as the published rows have them', () => {
  const address = 'https://source.unsplash.com/random/';
  expect(withPublishedPictures(`${address}1600x900/?cafe`)).toBe('https://picsum.photos/id/48/1600/900');
  expect(withPublishedPictures(`${address}300x200/?real-estate`)).toBe(
    'https://picsum.photos/id/48/300/200-estate',
  );
});
