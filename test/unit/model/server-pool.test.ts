import { expect, it, onTestFinished } from 'vitest';
import { openModel } from '../../../src/core/model/spec';
import { startChatServer, type ChatServer, type ChatServerOptions } from '../../fixtures/chat-server';
import { answer, cutAfter, raw, status, type Reply } from '../../fixtures/chat-server-replies';

const question = [{ role: 'user', content: 'Well?' }] as const;
const sampling = { temperature: 0, maxTokens: 10 };

async function start(reply: ChatServerOptions['reply'], key?: string): Promise<ChatServer> {
  const server = await startChatServer({ reply, ...(key !== undefined && { key }) });
  onTestFinished(() => server.close());
  return server;
}

const open = (servers: readonly ChatServer[], options: Parameters<typeof openModel>[1] = {}) =>
  openModel(`openai:m@${servers.map(({ url }) => url).join(',')}`, {
    retry: { firstWaitMs: 20, longestWaitMs: 20 },
    ...options,
  });

/** A server whose answers wait until they are let go. */
async function holding(text: string) {
  const waiting: (() => void)[] = [];
  const server = await start(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return answer(text);
  });
  return { server, letGo: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

it('a request goes to the server that has the fewest open ones', async () => {
  const slow = await holding('slow');
  const quick = await start(() => answer('quick'));
  const model = open([slow.server, quick]);
  expect(model.name).toBe(`openai:m@${slow.server.url},${quick.url}`);
  const first = model.generate(question, sampling);
  await slow.server.request(0);
  for (let more = 0; more < 4; more++) expect((await model.generate(question, sampling)).text).toBe('quick');
  slow.letGo();
  expect((await first).text).toBe('slow');
  expect([slow.server.requests.length, quick.requests.length]).toEqual([1, 4]);
  // None is busy now: the one that has had the fewest is next.
  const next = model.generate(question, sampling);
  await slow.server.request(1);
  slow.letGo();
  await next;
  expect(model.counts?.requests).toBe(6);
});

it('a server that fails is left out, what it failed at is asked elsewhere, and it is taken back', async () => {
  let reply: Reply = status(500, { message: 'out of memory' });
  const failing = await start(() => reply);
  const steady = await start(() => answer('steady'));
  const model = open([failing, steady]);
  const restarts: string[] = [];
  const generation = await model.generate(question, sampling, { onRestart: (why) => restarts.push(why) });
  expect(generation.text).toBe('steady');
  expect(generation.timing.attempts).toBe(2);
  expect(restarts).toEqual([expect.stringMatching(/answers 500: out of memory; attempt 2 of 10 goes/)]);
  expect(model.counts).toMatchObject({ requests: 2, retries: 1 });
  reply = cutAfter('half an ans');
  await expect
    .poll(async () => {
      await model.generate(question, sampling);
      return failing.requests.length;
    })
    .toBeGreaterThanOrEqual(2);
  reply = answer('well again');
  await expect.poll(async () => (await model.generate(question, sampling)).text).toBe('well again');
});

it('a server that is not there costs nothing but its own requests, however many come at once', async () => {
  const gone = await start(() => answer('never'));
  await gone.close();
  const there = await start(() => answer('there'));
  const model = open([gone, there], { retry: { firstWaitMs: 60_000, longestWaitMs: 60_000 } });
  const all = await Promise.all(Array.from({ length: 20 }, () => model.generate(question, sampling)));
  expect(all.every(({ text }) => text === 'there')).toBe(true);
  const { retries } = model.counts!;
  await Promise.all(Array.from({ length: 20 }, () => model.generate(question, sampling)));
  expect(model.counts!.retries, 'it is left out').toBe(retries);
});

const locked = status(401, { message: 'Incorrect key' });
const lacking = status(404, { message: 'The model `m` does not exist' });
const elsewhere = raw('application/json', '{"detail":"Not Found"}', 404);
const spent = status(429, { message: 'You exceeded your quota', code: 'insufficient_quota' });
const signIn = raw('text/html', '<!doctype html><title>Sign in</title>');

/** Left out for longer than any test takes. */
const forLong = { retry: { firstWaitMs: 600_000, longestWaitMs: 600_000 } };

it.each([
  ['a wrong key', locked, 'answers 401: Incorrect key. Name the variable'],
  ['no access', status(403, { message: 'No access' }), 'answers 403: No access'],
  ['a model that it does not have', lacking, 'Correct the name'],
  ['a wrong path', elsewhere, 'Correct the base URL'],
  ['a path that takes no messages', status(405), 'Correct the base URL'],
  ['no credit', spent, 'The account has no credit left'],
  ['a payment due', status(402, { message: 'Insufficient balance' }), 'The account has no credit left'],
  ['a page to sign in', signIn, 'web page "Sign in"'],
])('a server that refuses with %s is left out and named, and another answers', async (_, reply, words) => {
  const refusing = await start(() => reply);
  const steady = await holding('steady');
  const model = open([refusing, steady.server], forLong);
  const burst = Array.from({ length: 8 }, () => model.generate(question, sampling));
  // All are with the steady server before it answers any.
  await steady.server.request(7);
  const refused = refusing.requests.length;
  const later = Array.from({ length: 8 }, () => model.generate(question, sampling));
  await steady.server.request(15);
  steady.letGo();
  const texts = (await Promise.all([...burst, ...later])).map(({ text }) => text);
  expect(new Set(texts)).toEqual(new Set(['steady']));
  expect(refusing.requests.length, 'it is left out').toBe(refused);
  expect(model.counts!.retries).toBe(refused);
  expect(model.notes?.filter((note) => note.includes(refusing.url))).toEqual([
    expect.stringContaining(words),
  ]);
  expect(model.notes?.[0]).toMatch(/\. It is left out as long as it refuses\.$/);
});

it('a server that refused is taken back when it answers, and is named no more', async () => {
  let reply: Reply = locked;
  const mended = await start(() => reply);
  const steady = await start(() => answer('steady'));
  const model = open([mended, steady]);
  expect((await model.generate(question, sampling)).text).toBe('steady');
  expect(model.notes?.join()).toContain('answers 401');
  reply = answer('mended');
  await expect.poll(async () => (await model.generate(question, sampling)).text).toBe('mended');
  expect(model.notes?.join()).not.toContain('answers 401');
});

it('when all refuse, each has been asked once, and the fault is the one that is mended most surely', async () => {
  const replies = [signIn, elsewhere, spent, lacking, locked];
  const servers = await Promise.all(replies.map((reply) => start(() => reply)));
  const model = open(servers, forLong);
  await expect(model.generate(question, sampling)).rejects.toMatchObject({ code: 'model/unauthorized' });
  expect(servers.map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1, 1]);
  // None is waited for, because all may have been mended meanwhile.
  await expect(model.generate(question, sampling)).rejects.toMatchObject({ code: 'model/unauthorized' });
  expect(servers.map(({ requests }) => requests.length)).toEqual([2, 2, 2, 2, 2]);
  for (const [most, code] of [
    [4, 'model/unknown-model'],
    [3, 'model/no-credit'],
  ] as const)
    await expect(open(servers.slice(0, most), forLong).generate(question, sampling)).rejects.toMatchObject({
      code,
    });
});

it('beside a server that refuses, one that fails is waited for and gets all its attempts', async () => {
  const refusing = await start(() => locked);
  const loading = await start(({ index }) =>
    index < 3 ? status(503, { message: 'loading' }) : answer('loaded'),
  );
  const model = open([refusing, loading], { retry: { attempts: 3, firstWaitMs: 1, longestWaitMs: 1 } });
  await expect(model.generate(question, sampling)).rejects.toThrow(/answers 503: loading/);
  expect([refusing.requests.length, loading.requests.length]).toEqual([1, 3]);
  expect((await model.generate(question, sampling)).text).toBe('loaded');
});

it('a request that a server finds wrong fails at once, and the server stays in', async () => {
  const strict = await start(() => status(400, { message: 'Prompt too long' }));
  const other = await start(() => answer('other'));
  const model = open([strict, other], forLong);
  await expect(model.generate(question, sampling)).rejects.toMatchObject({ code: 'model/too-long' });
  expect(other.requests).toEqual([]);
  expect((await model.generate(question, sampling)).text).toBe('other');
  await expect(model.generate(question, sampling)).rejects.toMatchObject({ code: 'model/too-long' });
});

it("a server that asks for a wait of hours is left out, and its wait is nobody else's", async () => {
  const daily = await start(() => status(429, { message: 'Daily limit' }, { 'retry-after': '36000' }));
  const other = await start(() => answer('other'));
  expect((await open([daily, other]).generate(question, sampling)).text).toBe('other');
  await expect(open([daily]).generate(question, sampling)).rejects.toThrow(/asks to wait 36000 s/);
  await expect(open([daily, daily]).generate(question, sampling)).rejects.toThrow(/asks to wait 36000 s/);
});

it('each server gets its own key and no other', async () => {
  const [one, other] = [
    await start(() => answer('one'), 'sk-one'),
    await start(() => answer('other'), 'sk-other'),
  ];
  const model = open([one, other], { keyOf: (spec) => (spec.endsWith(one.url) ? 'sk-one' : 'sk-other') });
  const texts = [await model.generate(question, sampling), await model.generate(question, sampling)];
  expect(texts.map(({ text }) => text).sort()).toEqual(['one', 'other']);
});
