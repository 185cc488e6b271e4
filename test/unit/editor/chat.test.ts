import { describe, expect, it } from 'vitest';
import {
  alternating,
  estimatedTokens,
  offeredModels,
  sameModels,
  samplingFor,
} from '../../../src/editor/chat/offered';
import { askedOf, fenced, threadOf, WithoutPictures } from '../../../src/editor/chat/thread';
import type { LookedAt } from '../../../src/editor/models/loaded';
import { changeOf, proposed } from '../../../src/editor/own/proposal';
import { english } from './translate';

const files: NonNullable<LookedAt['files']> = {
  folder: '/models/a',
  graph: '/models/a/onnx/model.onnx',
  precision: 'int8',
  architecture: 'LlamaForCausalLM',
  parameters: 1,
  bytes: 1,
  contextLength: 512,
  fingerprint: 'abc',
};
const place = { spec: 'starter', folder: '/models/a', name: 'starter', from: 'tandem' } as const;
const server = { name: 'Mine', baseUrl: 'http://127.0.0.1:1/v1', model: 'tiny' };

describe('the models that the editor is offered', () => {
  it('are those that can answer: folders with a model, and servers that have not failed', () => {
    const offered = offeredModels(
      {
        locals: [
          [place, { state: { kind: 'not-loaded' }, files }],
          [{ ...place, spec: 'local:b' }, { state: { kind: 'failed', reason: 'No files.' } }],
          [
            { ...place, spec: 'local:c' },
            { state: { kind: 'failed', reason: 'It died.' }, files },
          ],
        ],
        servers: [
          [server, { kind: 'untested' }],
          [
            { ...server, model: 'gone' },
            { kind: 'fails', why: 'Nothing listens there.' },
          ],
        ],
        maxTokens: 800,
      },
      english,
    );
    expect(offered.map(({ id }) => id)).toEqual(['starter', 'openai:tiny@http://127.0.0.1:1/v1']);
    expect(offered[0]).toMatchObject({ version: 'abc', maxInputTokens: 256, maxOutputTokens: 256 });
    expect(offered[1]).toMatchObject({ name: 'Mine', maxOutputTokens: 800 });
    expect(sameModels(offered, [...offered])).toBe(true);
    expect(sameModels(offered, offered.slice(1))).toBe(false);
  });

  it('get a conversation whose sides take turns, and which the user begins', () => {
    expect(
      alternating([
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'Be brief.' },
        { role: 'user', content: 'What is it?' },
        { role: 'assistant', content: ' ' },
        { role: 'assistant', content: 'A cat.' },
      ]),
    ).toEqual([
      { role: 'user', content: 'Be brief.\n\nWhat is it?' },
      { role: 'assistant', content: 'A cat.' },
    ]);
  });

  it('are sampled as the asking extension says, as far as it says something that makes sense', () => {
    const settings = { temperature: 1, maxTokens: 100 };
    expect(samplingFor(settings, undefined)).toEqual(settings);
    expect(
      samplingFor(settings, { temperature: 0, max_tokens: 7.5, top_p: 0.9, top_k: 20, seed: 3 }),
    ).toEqual({
      temperature: 0,
      maxTokens: 7,
      topP: 0.9,
      topK: 20,
      seed: 3,
    });
    expect(samplingFor(settings, { temperature: 'hot', max_tokens: -1 })).toEqual(settings);
    expect(estimatedTokens('a'.repeat(9))).toBe(3);
  });
});

describe('the chat as a dialogue', () => {
  const question = { asked: 'A price.', said: 'Hm.\nOUTPUT:\nHow heavy?', isAnswer: false };

  it('carries the messages of both sides', () => {
    expect(threadOf([], 'A price.')).toEqual({ description: 'A price.', exchanges: [], turn: 1 });
    expect(threadOf([question], '20 kg.')).toEqual({
      description: 'A price.',
      exchanges: [{ agent: question.said, reply: '20 kg.' }],
      turn: 2,
    });
  });

  it('counts turns anew after an answer', () => {
    const answer = { asked: '20 kg.', said: 'I WANT TO ANSWER: …', isAnswer: true };
    expect(threadOf([question, answer], 'Now with zones.').turn).toBe(1);
    expect(threadOf([question, answer, question], 'Two.')).toMatchObject({
      turn: 2,
      exchanges: [{ reply: '20 kg.' }, { reply: 'A price.' }, { reply: 'Two.' }],
    });
  });

  it('puts code beside what a person says, and asks for the answer on command', () => {
    expect(askedOf('Mend it. ', [{ file: 'a.py', code: 'x = 1\n' }], true)).toBe(
      'Mend it.\n\nFrom a.py:\n\n```python\nx = 1\n```\n\nPlease answer now, with what you know: write the whole function.',
    );
    expect(askedOf('', [], false)).toBe('');
    expect(fenced('s = """```"""')).toBe('````python\ns = """```"""\n````');
  });

  it('fetches no pictures that a model names, and leaves code as it is', () => {
    const harmless = new WithoutPictures();
    expect(harmless.push('See ![a](https://x/y.png)\n```js\nif (![1]) {}\n')).toBe(
      'See !\\[a](https://x/y.png)\n```js\nif (![1]) {}\n',
    );
    expect(harmless.push('![b]\n```\n![c]')).toBe('![b]\n```\n!\\[c]');
    const inside = new WithoutPictures();
    for (const line of ['```\n', '~~~\n', '``` x\n']) inside.push(line);
    expect(inside.push('![a]\n````\n![b]')).toBe('![a]\n```\n!\\[b]');
  });
});

describe('an answer as a change of a file', () => {
  const source = 'import os\n\n\ndef f(x):\n    pass\n\n\ny = f(1)\n';
  const proposal = { file: 'file:///a.py', code: 'def f(x):\n    return x\n', name: 'f' };

  it('takes the place of the function, or goes to the end', () => {
    expect(proposed(source, proposal)).toBe(source.replace('pass', 'return x'));
    expect(proposed(source, { ...proposal, name: 'g' })).toBe(`${source}\n\n${proposal.code}`);
    expect(proposed(proposed(source, proposal), proposal)).toBe(proposed(source, proposal));
  });

  it('changes no more of the text than differs', () => {
    const { start, end, text } = changeOf(source, proposed(source, proposal));
    expect(source.slice(start, end)).toBe('pass');
    expect(text).toBe('return x');
    expect(changeOf('aa', 'aaa')).toEqual({ start: 2, end: 2, text: 'a' });
    expect(changeOf('same', 'same').text).toBe('');
  });
});
