import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../../../webview/dialogue/markdown';
import { apart, marked, partingOf, type Said } from '../../../../webview/replay/parting';

const turn = (visible: string, text?: string, final = false): Said => ({
  ...{ visible, final },
  ...(text !== undefined && { reply: { text } }),
});

const withoutMarks = (html: string): string => html.replaceAll(/<\/?mark>/g, '');

describe('two dialogues', () => {
  const asked = turn('Which currency?', 'Euros.');

  it.each<[string, readonly Said[], readonly Said[], unknown]>([
    ['at the first message', [asked, turn('Rounded?')], [asked, turn('Zones?')], { turn: 2, by: 'message' }],
    ['at the first reply', [asked], [turn(asked.visible, 'Dollars.')], { turn: 1, by: 'reply' }],
    ['at a reply of one alone', [asked], [turn(asked.visible)], { turn: 1, by: 'reply' }],
    ['where one goes on alone', [asked, asked], [asked], { turn: 2, by: 'message', only: 0 }],
    ['where one begins alone', [], [asked], { turn: 1, by: 'message', only: 1 }],
    ['at an answer of one', [turn('x')], [turn('x', undefined, true)], { turn: 1, by: 'message' }],
    [
      'at a page without a word',
      [{ ...turn(''), draft: { source: '<html>1</html>' } }],
      [{ ...turn(''), draft: { source: '<html>2</html>' } }],
      { turn: 1, by: 'message' },
    ],
    ['nowhere where they say the same', [asked], [asked], undefined],
  ])('part %s', (_, one, other, parting) => {
    expect(partingOf(one, other)).toEqual(parting);
  });

  it('have the words marked that only one of them has, in messages and in replies', () => {
    const [first, second] = [
      turn('Which **unit** is it?', 'It is metres.'),
      turn('Which **sum** is it?', 'It is feet.'),
    ];
    const [one, other] = apart([asked, first], [asked, second, asked])!;
    const parting = { turn: 2, by: 'message' };
    expect(one).toEqual({
      parting,
      marked: [
        {},
        {
          message: '<p>Which <strong><mark>unit</mark></strong> is it?</p>\n',
          reply: 'It is <mark>metres</mark>.',
        },
      ],
    });
    expect(other).toMatchObject({ parting, marked: [{}, { reply: 'It is <mark>feet</mark>.' }] });
  });
});

describe('the words that only one of two texts has', () => {
  it('are marked together with the space between them, and added ones on one side only', () => {
    expect(marked('round up to cents', 'please round half up to cents')).toEqual([
      'round up to cents',
      '<mark>please</mark> round <mark>half</mark> up to cents',
    ]);
  });

  it('are found in code, tag by tag, so that the HTML stays well-formed', () => {
    const code = (sign: string): string => renderMarkdown(`\`\`\`python\nreturn a ${sign} "b & c"\n\`\`\``);
    const [first, second] = marked(code('<'), code('>='))!;
    expect(first).toContain('a <mark>&lt;</mark>');
    expect(second).toContain('a <mark>&gt;=</mark>');
    expect(withoutMarks(first).replaceAll('&quot;', '"')).toBe(code('<').replaceAll('&quot;', '"'));
  });

  it('are never those of a tag: neither its name nor its attributes', () => {
    const link = (address: string): string =>
      renderMarkdown(`see [the mark of b](https://example.org/${address})`);
    expect(marked(link('a'), link('b'))).toBeUndefined();
    const [first] = marked(`${link('a')} or so`, `${link('b')} or not so`)!;
    expect(first).toContain('data-address="https://example.org/a"');
  });

  it('stay harmless text when an agent writes HTML', () => {
    const [first, second] = marked(
      renderMarkdown('use the tag <b onclick="x"> here & there'),
      renderMarkdown('use the tag <mark onclick="x"> here & there'),
    )!;
    expect(first).toContain('&lt;<mark>b</mark> onclick=&quot;x&quot;&gt; here &amp; there');
    expect(second).toContain('&lt;<mark>mark</mark> onclick');
  });

  it('are words of scripts without spaces', () => {
    const [first] = marked('金額はユーロですか', '金額はドルですか')!;
    expect(first).toMatch(/<mark>ユーロ<\/mark>/);
  });

  it('are not marked where the texts share less than half of their words, or too many differ', () => {
    expect(marked('Which currency is it?', 'Rounded half up, I guess')).toBeUndefined();
    const words = (from: number): string =>
      Array.from({ length: 500 }, (_, at) => `${at} ${at % 3 === 0 ? from : 'same'}`).join(' ');
    expect(marked(words(1), words(2))).toBeUndefined();
  });
});
