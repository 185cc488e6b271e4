import { describe, expect, it } from 'vitest';
import { threadOf, PictureRemover } from '../../../../src/editor/chat/thread';

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

  it('fetches no pictures that a model names, and leaves code as it is', () => {
    const harmless = new PictureRemover();
    expect(harmless.push('See ![a](https://x/y.png)\n```js\nif (![1]) {}\n')).toBe(
      'See !\\[a](https://x/y.png)\n```js\nif (![1]) {}\n',
    );
    expect(harmless.push('![b]\n```\n![c]')).toBe('![b]\n```\n!\\[c]');
    const inside = new PictureRemover();
    for (const line of ['```\n', '~~~\n', '``` x\n']) inside.push(line);
    expect(inside.push('![a]\n````\n![b]')).toBe('![a]\n```\n!\\[b]');
  });
});
