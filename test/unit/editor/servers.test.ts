import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeys } from '../../../src/editor/apiKeys';
import { servedDetails, servedWords } from '../../../src/editor/models/servedWords';
import { specOf, validateAddress, type Server } from '../../../src/editor/models/server';
import { Servers } from '../../../src/editor/models/servers';
import { dollars, useDocument, useWords } from '../../../src/editor/models/use';
import { startChatServer } from '../../fixtures/chat-server';
import { answer, status } from '../../fixtures/chat-server-replies';
import { english } from './translate';

const qwen: Server = { name: 'Lab', baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen3' };

/** Settings and secrets as the editor keeps them, in memory. */
function kept(servers: readonly unknown[] = []) {
  const settings = {
    servers,
    set(_: 'servers', value: Server[]): Promise<void> {
      // As written to a file and read again.
      settings.servers = JSON.parse(JSON.stringify(value)) as unknown[];
      return Promise.resolve();
    },
  };
  const secrets = new Map<string, string>();
  const keys = new ApiKeys({
    get: (key) => Promise.resolve(secrets.get(key)),
    store: (key, value) => Promise.resolve(void secrets.set(key, value)),
    delete: (key) => Promise.resolve(void secrets.delete(key)),
  });
  const changes: string[] = [];
  return {
    settings,
    secrets,
    changes,
    servers: new Servers(settings, keys, () => changes.push('changed'), english),
  };
}

describe('the connected servers', () => {
  it('are kept without their keys, one in the place of the other when it is edited', async () => {
    const { servers, settings, secrets } = kept();
    await servers.save(qwen);
    await servers.save({ ...qwen, name: 'Home', model: 'llama' });
    await servers.setKey(qwen.baseUrl, 'sk-secret');
    await servers.save({ ...qwen, model: 'qwen4' }, qwen);
    expect(servers.all.map(({ model }) => model)).toEqual(['qwen4', 'llama']);
    expect(JSON.stringify(settings.servers)).not.toContain('sk-secret');
    expect([...secrets.values()]).toEqual(['sk-secret']);
  });

  it('leave with their key, unless another model needs it', async () => {
    const { servers, secrets } = kept([qwen, { ...qwen, model: 'llama' }]);
    await servers.setKey(qwen.baseUrl, 'sk-secret');
    await servers.remove(qwen);
    expect(secrets.size).toBe(1);
    await servers.remove({ ...qwen, model: 'llama' });
    expect(secrets.size).toBe(0);
    expect(servers.all).toEqual([]);
  });

  it('tell of an entry that was written by hand and cannot be used, and keep the others', () => {
    const { servers } = kept([
      { name: 'x', model: 'y' },
      qwen,
      7,
      { ...qwen, price: { prompt: -1, completion: 0 } },
    ]);
    expect(servers.all).toEqual([qwen]);
    expect(servers.problems).toHaveLength(3);
    expect(servers.problems[0]).toMatch(/^Entry 1 of tandem\.servers cannot be used\. baseUrl: /);
    expect(servers.problems[2]).toMatch(/^Entry 4 .* price\.prompt: /);
  });

  it('are untested, then work or fail, with the key that is kept', async () => {
    const server = await startChatServer({ reply: () => answer('Hello.'), key: 'sk-secret' });
    onTestFinished(() => server.close());
    const there = { ...qwen, baseUrl: server.url };
    const { servers, changes } = kept([there]);
    expect(servers.state(there)).toEqual({ kind: 'untested' });
    await servers.test(there);
    expect(servers.state(there)).toMatchObject({
      kind: 'fails',
      why: expect.stringContaining('asks for a key') as string,
    });
    await servers.setKey(there.baseUrl, 'sk-secret');
    expect(servers.state(there)).toEqual({ kind: 'untested' });
    await servers.test(there);
    expect(servers.state(there)).toMatchObject({ kind: 'works' });
    expect(changes.length).toBeGreaterThan(3);
  });

  it('are what their last message in a dialogue says', async () => {
    const replies = [answer('Hello.'), status(401, { message: 'Bad key' })];
    const server = await startChatServer({ reply: ({ index }) => replies[index]! });
    onTestFinished(() => server.close());
    const there = { ...qwen, baseUrl: server.url };
    const { servers } = kept([there]);
    const { OpenAiModel } = await import('../../../src/core/model/openai');
    const model = servers.watched(
      new OpenAiModel({ model: there.model, baseUrl: there.baseUrl, apiKey: '' }),
    );
    const ask = () => model.generate([{ role: 'user', content: 'Hi.' }], { temperature: 0, maxTokens: 5 });
    await ask();
    expect(servers.state(there)).toMatchObject({ kind: 'works' });
    await expect(ask()).rejects.toThrow('Bad key');
    expect(servers.state(there)).toMatchObject({
      kind: 'fails',
      why: expect.stringContaining('Bad key') as string,
    });
  });

  it('have an address without a name or a password in it', () => {
    expect(validateAddress('http://me:secret@127.0.0.1/v1', english)).toContain('the key is asked for next');
  });
});

const use = { turns: 12, replies: 1, promptTokens: 30_000, completionTokens: 4_100, uncounted: 0 };
const priced: Server = { ...qwen, price: { prompt: 0.15, completion: 0.6 } };

describe('the words of a connected model', () => {
  it('tell who plays, how it is, where it is and what it has cost', () => {
    const row = { roles: ['agent'], state: { kind: 'works', notes: ['No logprobs.'] } } as const;
    expect(servedWords(priced, row, use, english)).toBe(
      'agent · works · qwen3 at 127.0.0.1:8000 · 12 turns · 1 reply · 34,100 tokens · $0.00696',
    );
    expect(servedDetails(priced, row, use, english)).toContain('No logprobs.');
    const failed = { roles: [], state: { kind: 'fails', why: 'Nothing listens there.' } } as const;
    expect(servedWords({ ...qwen, name: 'qwen3' }, failed, undefined, english)).toBe(
      'fails: Nothing listens there. · 127.0.0.1:8000',
    );
    expect(servedDetails(qwen, failed, undefined, english)[0]).toBe('Nothing listens there.');
  });

  it('write small sums with the digits that tell them apart', () => {
    expect([0, 0.5, 12.345, 0.0006, 0.000_001].map(dollars)).toEqual([
      '$0.00',
      '$0.50',
      '$12.35',
      '$0.0006',
      '$0.000001',
    ]);
    expect(useWords({ ...use, turns: 1, replies: 0, promptTokens: 0, completionTokens: 0 }, english)).toBe(
      '1 turn',
    );
  });
});

describe('the document of use and cost', () => {
  it('has a row for each model, the most used first, and says what is not known', () => {
    const text = useDocument(
      {
        'script:a|b.json': { turns: 1, replies: 0, promptTokens: 0, completionTokens: 0, uncounted: 1 },
        [specOf(priced)]: use,
        'openai:other@http://127.0.0.1:1/v1': { ...use, turns: 2 },
      },
      [priced],
      { calledBy: (name) => (name === specOf(priced) ? priced.name : name) },
      english,
    );
    const lines = text.split('\n').filter((line) => line.startsWith('|'));
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
    const rows = lines.map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows[2]).toBe(
      '| Lab (openai:qwen3@http://127.0.0.1:8000/v1) | 12 | 1 | 30,000 | 4,100 | $0.00696 |',
    );
    expect(rows[4]).toBe('| script:a\\|b.json | 1 | 0 | – | – | – |');
    expect(text).toContain('Cost in all: $0.00696.');
    expect(text).toContain('Models without a price: 1.');
    expect(text).toContain('Messages of which no tokens were counted: 1.');
  });

  it('says so when nothing was played yet', () => {
    expect(useDocument({}, [], { calledBy: String }, english)).toContain(
      'No model has written anything in this log yet.',
    );
  });
});
