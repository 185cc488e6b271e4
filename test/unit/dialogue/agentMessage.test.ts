import { describe, expect, it } from 'vitest';
import { parseAgentMessage } from '../../../src/core/dialogue/protocol';
import { AgentReading, Unfolding } from '../../../src/core/dialogue/agentMessage';
import { mulberry32 } from '../../../src/core/random';
import { pieces } from '../../fixtures/foreign-text';

const TEXTS = 150;
const random = mulberry32(1);
const below = (count: number): number => Math.floor(random() * count);

/** Texts that decide the reading of a message, in addition to those for every reader of foreign text. */
const signs = [
  'OUTPUT:',
  'Output:',
  ' a OUTPUT: b',
  '# OUTPUT:\n',
  '# note\n',
  'I WANT TO ANSWER:',
  'x = 1',
  'if x',
  ':',
]
  .concat([
    '<think>',
    '</think>',
    'You:',
    '**Reply:** ',
    '\n',
    '  \n',
    ' ',
    'hello',
    'Input: 3\n',
    '\ud83d',
    '\ude00',
  ])
  .concat(['"', "'", '# I WANT TO ANSWER:\n', 'print(1)', 'def f():\n']);

function drawnText(): string {
  const among = [...pieces, ...signs, ...signs, ...signs];
  return Array.from({ length: 1 + below(14) }, () => among[below(among.length)]!).join('');
}

/** Yields the text cut into single characters and into pieces of other lengths. */
function* cuts(text: string): Generator<string[]> {
  for (const most of [1, 6, 40]) {
    const cut: string[] = [];
    for (let at = 0; at < text.length; at += cut.at(-1)!.length)
      cut.push(text.slice(at, at + 1 + below(most)));
    yield cut;
  }
}

/** Reference implementation that reads the whole text again for each piece. */
class WholeUnfolding {
  private text = '';
  private given = '';

  push(piece: string): string {
    this.text += piece;
    if (!this.text.includes('OUTPUT:')) return '';
    const { visible, answer } = parseAgentMessage(this.text);
    if (answer !== undefined) return this.give(withoutAnswer(visible, answer));
    const space = this.text.slice(this.text.trimEnd().length);
    const isWhole = this.text.endsWith('\n') && visible !== '';
    const end = isWhole ? space.slice(0, space.indexOf('\n') + 1) : '';
    return this.give(isWhole ? visible + end : visible.slice(0, visible.lastIndexOf('\n') + 1));
  }

  end(): { rest: string; answer?: string } {
    const { visible, answer } = parseAgentMessage(this.text);
    return answer === undefined
      ? { rest: this.give(visible) }
      : { rest: this.give(withoutAnswer(visible, answer)), answer };
  }

  private give(said: string): string {
    if (!said.startsWith(this.given)) return '';
    const more = said.slice(this.given.length);
    this.given = said;
    return more;
  }
}

const withoutAnswer = (visible: string, answer: string): string =>
  visible.slice(0, visible.length - answer.length).trimEnd();

describe('a text that is read while it arrives', () => {
  it('is an agent’s message, the same after each piece as when all of it is read at once', () => {
    for (let count = 0; count < TEXTS; count += 1) {
      for (const cut of cuts(drawnText())) {
        const reading = new AgentReading();
        let text = '';
        for (const piece of cut) {
          reading.push(piece);
          text += piece;
          expect(reading.message, JSON.stringify(cut)).toEqual(parseAgentMessage(text));
        }
      }
    }
  });

  it('is given out as it would be if all of it were read anew for each piece', () => {
    for (let count = 0; count < TEXTS; count += 1) {
      for (const cut of cuts(drawnText())) {
        const [unfolding, whole] = [new Unfolding(), new WholeUnfolding()];
        for (const piece of cut) expect(unfolding.push(piece), JSON.stringify(cut)).toBe(whole.push(piece));
        expect(unfolding.end(), JSON.stringify(cut)).toEqual(whole.end());
      }
    }
  });
});

/** Returns the pieces that an append-only view shows, their joined text and the end. */
function shown(text: string, size: number): { pieces: string[]; all: string; answer?: string } {
  const unfolding = new Unfolding();
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(unfolding.push(text.slice(at, at + size)));
  const { rest, ...end } = unfolding.end();
  return { pieces: pieces.filter((piece) => piece !== ''), all: pieces.join('') + rest, ...end };
}

const code = '```python\ndef f(x):\n    return x\n```';

describe('a message that unfolds', () => {
  it.each([1, 3, 7, 1000])('never shows an answer or its announcement in pieces of %i', (size) => {
    const { pieces, all, answer } = shown(`Hm.\nOUTPUT:\nHere it is.\nI WANT TO ANSWER:\n${code}`, size);
    expect(all).toBe('Here it is.\n'.trimEnd() + (all.endsWith('\n') ? '\n' : ''));
    expect(pieces.join('')).not.toMatch(/WANT|def f/);
    expect(answer).toBe(code);
  });

  it('does not repeat what stands when the message is written anew', () => {
    const unfolding = new Unfolding();
    expect(unfolding.push('OUTPUT:\nOne\n')).toBe('One\n');
    unfolding.restart();
    expect(unfolding.push('OUTPUT:\nOne\nTwo\n')).toBe('Two\n');
  });
});
