import { describe, expect, it } from 'vitest';
import { parseAgentMessage } from '../../../src/core/dialogue/protocol';
import { AgentReading } from '../../../src/core/dialogue/reading';
import { SimulatorReading } from '../../../src/core/dialogue/simulatorReading';
import { Unfolding } from '../../../src/core/dialogue/unfolding';
import { mulberry32 } from '../../../src/core/random';
import { pieces } from '../../fixtures/foreign-text';

const TEXTS = 150;
const random = mulberry32(1);
const below = (count: number): number => Math.floor(random() * count);

/** What decides how a message is read, beside what any reader of foreign text gets to read. */
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

/** One character at a time, and in pieces of other lengths. */
function* cuts(text: string): Generator<string[]> {
  for (const most of [1, 6, 40]) {
    const cut: string[] = [];
    for (let at = 0; at < text.length; at += cut.at(-1)!.length)
      cut.push(text.slice(at, at + 1 + below(most)));
    yield cut;
  }
}

/** Gives out what may be given out by reading everything anew for each piece. */
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

/** What a simulator says, read anew for each piece. */
class WholeReply {
  private text = '';
  private told = '';

  push(piece: string): string {
    this.text += piece;
    const all = new SimulatorReading();
    all.push(this.text);
    const now = /^\s*[^\s>:]*$/.test(this.text) ? '' : all.whole;
    const more = now.startsWith(this.told) ? now.slice(this.told.length) : '';
    if (now !== '') this.told = now;
    return more;
  }
}

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

  it('is a simulator’s reply, told as it would be if all of it were read anew for each piece', () => {
    for (let count = 0; count < TEXTS; count += 1) {
      for (const cut of cuts(drawnText())) {
        const [reading, whole] = [new SimulatorReading(), new WholeReply()];
        for (const piece of cut) expect(reading.push(piece), JSON.stringify(cut)).toBe(whole.push(piece));
      }
    }
  });
});

describe('a line that is longer than anybody writes', () => {
  const long = 'x'.repeat(5000);

  it('decides by its beginning, whether it has come to its end or not', () => {
    const visible = `${long} OUTPUT: y`;
    expect(parseAgentMessage(visible)).toEqual({ thoughts: '', visible });
    expect(parseAgentMessage(`Hm. OUTPUT: ${long}`)).toEqual({ thoughts: 'Hm.', visible: long });
    expect(parseAgentMessage(`OUTPUT: ${long}\nyes`)).toEqual({ thoughts: '', visible: `${long}\nyes` });
  });
});
