import { describe, expect, it, vi } from 'vitest';
import { OpenAiModel } from '../../../src/core/model/openai';
import { specOf, validateAddress, type ApiKeys } from '../../../src/editor/servers';
import { startChatServer } from '../../fixtures/chat-server';
import { answer, status } from '../../fixtures/chat-server-replies';
import { kept } from './memento';
import { english } from './translate';

const qwen = { name: 'Lab', baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen3' };

/** Returns the key for a model on one server. */
const keyFor = async (keys: ApiKeys, spec: string) => (await keys.forModel(spec))(spec);

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

  it('that are at one origin share its key, and leave with the last of them', async () => {
    const sibling = { ...qwen, baseUrl: 'HTTP://127.0.0.1:8000/other' };
    const { servers, keys, secrets } = kept([qwen, sibling]);
    await servers.setKey(sibling.baseUrl, 'sk-secret');
    expect([...secrets.keys()]).toEqual(['tandem.apiKey http://127.0.0.1:8000']);
    expect(await keyFor(keys, specOf(qwen))).toBe('sk-secret');
    await servers.remove(sibling);
    expect(await keys.forServer(qwen.baseUrl)).toBe('sk-secret');
    await servers.remove(qwen);
    expect(secrets.size).toBe(0);
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

  it('leave alone what they do not know, in the settings and in the entry that is edited', async () => {
    const odd = [{ name: 'x', model: 'y' }, 7, { ...qwen, price: { prompt: -1, completion: 0 } }];
    const newer = {
      ...qwen,
      baseUrl: `${qwen.baseUrl}/`,
      model: 'newer',
      of: 2,
      sampling: { topK: 5, mirostat: 1 },
    };
    const { servers, settings } = kept([odd[0], newer, odd[1], qwen, odd[2]]);
    const llama = { ...qwen, model: 'llama' };
    await servers.save(llama);
    expect(settings.servers).toEqual([odd[0], newer, odd[1], qwen, odd[2], llama]);
    await servers.save({ ...llama, name: 'Home' }, llama);
    await servers.remove(qwen);
    expect(settings.servers).toEqual([odd[0], newer, odd[1], odd[2], { ...llama, name: 'Home' }]);
    const known = servers.all[0]!;
    const price = { prompt: 1, completion: 2 };
    await servers.save({ ...known, name: 'Newer', price }, known);
    expect(settings.servers[1]).toEqual({ ...newer, name: 'Newer', price });
    await servers.save({ ...servers.all[0]!, price: undefined, sampling: undefined }, known);
    const { sampling: _, ...left } = newer;
    expect(settings.servers[1]).toEqual({ ...left, name: 'Newer' });
  });

  it('are untested, then work or fail, with the key that is kept', async () => {
    await using server = await startChatServer({ reply: () => answer('Hello.'), key: 'sk-secret' });
    const there = { ...qwen, baseUrl: server.url };
    const { servers } = kept([there]);
    expect(servers.state(there).kind).toBe('untested');
    await servers.test(there);
    expect(servers.state(there).kind).toBe('fails');
    await servers.setKey(there.baseUrl, 'sk-secret');
    expect(servers.state(there).kind).toBe('untested');
    await servers.test(there);
    expect(servers.state(there).kind).toBe('works');
  });

  it('are what their last message in a dialogue says', async () => {
    const replies = [answer('Hello.'), status(401, { message: 'Bad key' })];
    await using server = await startChatServer({ reply: ({ index }) => replies[index]! });
    const there = { ...qwen, baseUrl: server.url };
    const { servers } = kept([there]);
    const model = servers.watched(new OpenAiModel({ model: 'qwen3', baseUrl: server.url, apiKey: '' }));
    const ask = () => model.generate([{ role: 'user', content: 'Hi.' }], { temperature: 0, maxTokens: 5 });
    await ask();
    expect(servers.state(there).kind).toBe('works');
    await expect(ask()).rejects.toThrow('Bad key');
    const why = expect.stringContaining('Bad key') as string;
    expect(servers.state(there)).toMatchObject({ kind: 'fails', why });
  });
});

it.each([
  ['http://127.0.0.1:8000/v1', true],
  ['127.0.0.1:8000', false],
  ['file:///etc/passwd', false],
  ['http://me:secret@127.0.0.1/v1', false],
])('the address %s can be asked: %s', (address, isRight) => {
  expect(validateAddress(address, english) === undefined).toBe(isRight);
});

describe('the keys of servers', () => {
  const lab = 'http://lab.example:8000';

  it('are those of an origin, however its address is written', async () => {
    const { keys } = kept();
    await keys.set('HTTP://Lab.example:8000/v1/', 'sk-lab');
    for (const address of [lab, `${lab}/v1`, `${lab}/v1/a b`, ' http://LAB.example:8000/v2 '])
      expect(await keys.forServer(address), address).toBe('sk-lab');
    const others = ['http://lab.example', 'https://lab.example:8000', 'http://lab.example:80000', 'lab'];
    for (const address of others) expect(await keys.forServer(address), address).toBeUndefined();
    const both = await keys.forModel(`openai:m@${lab}/v1,http://other.example/v1`);
    expect([both(`openai:m@${lab}/v1`), both('openai:m@http://other.example/v1')]).toEqual([
      'sk-lab',
      undefined,
    ]);
  });

  it('are for OpenAI where a model’s name has no address, and the environment names no server', async () => {
    const { keys } = kept();
    await keys.set('https://api.openai.com/v1', 'sk-openai');
    for (const [server, key] of [
      ['', 'sk-openai'],
      [`${lab}/v1`, undefined],
    ] as const) {
      vi.stubEnv('OPENAI_BASE_URL', server);
      expect(await keyFor(keys, 'openai:m')).toBe(key);
    }
    vi.unstubAllEnvs();
  });

  it('that earlier versions kept under a whole address are found, until another is set', async () => {
    const { keys, secrets } = kept();
    secrets.set(`tandem.apiKey ${lab}/v1`, 'sk-old');
    secrets.set('tandem.apiKey HTTP://Lab.example:8000/team', 'sk-team');
    secrets.set('tandem.apiKey http://other.example/v1', 'sk-other');
    expect(await keys.forServer(`${lab}/v1/`)).toBe('sk-old');
    expect(await keys.forServer('HTTP://Lab.example:8000/team')).toBe('sk-team');
    expect(await keys.forServer(`${lab}/v2`)).toBe('sk-old');
    await keys.set(`${lab}/v2`, 'sk-new');
    expect(await keys.forServer(`${lab}/v1`)).toBe('sk-new');
    await keys.set(lab, '');
    expect([...secrets]).toEqual([['tandem.apiKey http://other.example/v1', 'sk-other']]);
  });
});
