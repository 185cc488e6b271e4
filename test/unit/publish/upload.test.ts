import { writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { publicationOf } from '../../../src/core/publish/publication';
import { ownerOf, upload, type Published, type UploadOptions } from '../../../src/core/publish/upload';
import { temporaryFolder } from '../../fixtures/log';
import { PublishingHub } from '../../fixtures/publishing-hub';

const LARGE = `${JSON.stringify({ text: 'x'.repeat(5000) })}\n`;
const CARD = '# rows.jsonl\n';

interface Scene {
  readonly hub: PublishingHub;
  readonly file: string;
  readonly notices: string[];
  readonly progress: { done: number; total: number }[];
  readonly publish: (options?: Partial<UploadOptions>) => Promise<Published>;
}

/** A hub, and rows that it stores as a large file. */
async function scene(): Promise<Scene> {
  const hub = await PublishingHub.start();
  onTestFinished(() => hub.close());
  const file = path.join(await temporaryFolder(), 'rows.jsonl');
  await writeFile(file, LARGE);
  await writeFile(`${file}.md`, CARD);
  const publication = await publicationOf(file);
  const notices: string[] = [];
  const progress: Scene['progress'] = [];
  const publish: Scene['publish'] = (options) =>
    upload(publication, {
      ...{ repository: 'ada/rows', accessToken: 'hf_ada', hubUrl: hub.url, retryDelay: 1 },
      onNotice: (sentence) => notices.push(sentence),
      onProgress: (told) => progress.push(told),
      ...options,
    });
  return { hub, file, notices, progress, publish };
}

const puts = ({ requests }: PublishingHub) => requests.filter((request) => request.startsWith('PUT')).length;

it('makes a private dataset and puts all files into one commit', async () => {
  const { hub, publish, progress } = await scene();
  expect(await publish()).toEqual({
    url: `${hub.url}/datasets/ada/rows`,
    commit: '1'.padStart(40, '0'),
    isPrivate: true,
  });
  expect(hub.repositories.get('datasets/ada/rows')!.visibility).toBe('private');
  expect(hub.files('datasets/ada/rows')).toEqual({ 'rows.jsonl': LARGE, 'README.md': CARD });
  const total = LARGE.length + CARD.length;
  expect(progress.at(-1)).toEqual({ done: total, total });
});

it('adds a commit to the repository that is there, and sends no large file twice', async () => {
  const { hub, publish } = await scene();
  await publish();
  expect((await publish()).commit).toBe('2'.padStart(40, '0'));
  expect(puts(hub)).toBe(1);
});

it('publishes for everybody only when asked', async () => {
  const { hub, publish } = await scene();
  expect(await publish({ isPublic: true })).toMatchObject({ isPrivate: false });
  expect(hub.repositories.get('datasets/ada/rows')!.visibility).toBe('public');
  await expect(publish()).rejects.toMatchObject({
    code: 'publish/public-there',
    message: expect.stringMatching(/ada\/rows is public: everybody could read/) as string,
  });
  expect(hub.repositories.get('datasets/ada/rows')!.commits).toHaveLength(1);
});

it.each([
  ['the creation', '/api/repos/create'],
  ['a large file', '/store/'],
  ['the commit', '/commit/'],
])('repeats what breaks: %s', async (_, at) => {
  const { hub, publish, notices } = await scene();
  hub.next({ at, status: 'broken' }, { at, status: 503 });
  await publish();
  expect(hub.files('datasets/ada/rows')).toEqual({ 'rows.jsonl': LARGE, 'README.md': CARD });
  expect(notices).toHaveLength(2);
  expect(notices[1]).toMatch(/next attempt in 1 s/);
});

it('gives up after five attempts, and the next call sends only what is missing', async () => {
  const { hub, publish } = await scene();
  hub.next(...Array.from({ length: 5 }, () => ({ at: '/commit/', status: 'broken' as const })));
  await expect(publish()).rejects.toMatchObject({
    code: 'publish/unreachable',
    message: expect.stringMatching(
      /cannot be reached \(.+\); check the network, then publish again/,
    ) as string,
  });
  expect(hub.repositories.get('datasets/ada/rows')!.commits).toEqual([]);
  await publish();
  expect(puts(hub)).toBe(1);
});

it.each([
  [
    'a token of nobody',
    { accessToken: 'hf_bob' },
    'publish/forbidden',
    /does not open the dataset ada\/rows to this token \(401\)/,
  ],
  [
    'a foreign owner',
    { repository: 'bob/rows' },
    'publish/forbidden',
    /does not open the dataset bob\/rows to this token \(403\)/,
  ],
  ['no token', { accessToken: undefined }, 'task/bad-token', /Set HF_TOKEN/],
  ['no owner', { repository: 'rows' }, 'publish/no-repository', /"rows" is no repository/],
])('refuses %s in a sentence', async (_, options, code, message) => {
  const { publish } = await scene();
  await expect(publish(options)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  });
});

it('is stopped by its signal, and nothing appears', async () => {
  const { hub, publish } = await scene();
  const stop = new AbortController();
  const reason = new Error('enough');
  await expect(publish({ signal: stop.signal, onProgress: () => stop.abort(reason) })).rejects.toBe(reason);
  expect(hub.repositories.get('datasets/ada/rows')!.commits).toEqual([]);
});

it.each(['/api/datasets/ada/rows', '/api/repos/create', '/commit/'])(
  'says in a sentence that a page to sign in answers for the hub, at %s',
  async (at) => {
    const { hub, publish } = await scene();
    hub.next({ at, status: 'page' });
    await expect(publish()).rejects.toMatchObject({ code: 'publish/not-a-hub' });
    expect(hub.repositories.get('datasets/ada/rows')?.commits ?? []).toEqual([]);
  },
);

it('sends nothing that has changed since it was searched', async () => {
  const { hub, file, publish } = await scene();
  await writeFile(file, LARGE.replace('x', 'y'));
  await expect(publish()).rejects.toMatchObject({ code: 'publish/changed' });
  expect(hub.repositories.get('datasets/ada/rows')!.commits).toEqual([]);
});

it('sends nothing that changes while it goes up', async () => {
  const { hub, file, publish } = await scene();
  hub.onRequest = (pathname) => {
    if (pathname.includes('/preupload/')) writeFileSync(file, LARGE.replace('x', 'y'));
  };
  await expect(publish()).rejects.toMatchObject({ code: 'publish/changed' });
  expect(hub.repositories.get('datasets/ada/rows')!.commits).toEqual([]);
});

it.each(['null', '{"private":true}'])('says so of an answer of other JSON, such as %s', async (json) => {
  const { publish } = await scene();
  const server = createServer((request, response) => {
    request.resume();
    response.end(json);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const hubUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(publish({ hubUrl })).rejects.toMatchObject({ code: 'publish/not-a-hub' });
});

it('knows the owner of a token, and says when the hub does not', async () => {
  const { hub } = await scene();
  expect(await ownerOf({ accessToken: 'hf_ada', hubUrl: `${hub.url}/` })).toBe('ada');
  await expect(ownerOf({ accessToken: 'hf_bob', hubUrl: hub.url })).rejects.toThrow(
    /does not open the account to this token/,
  );
});
