import { describe, expect, it } from 'vitest';
import { limitReply, parseAgentMessage } from '../../../src/core/dialogue/protocol';

const fence = (code: string): string => '```python\n' + code + '\n```';

describe('an agent message', () => {
  it('shows the collaborator only what follows OUTPUT:', () => {
    expect(parseAgentMessage('The threshold is unclear.\nOUTPUT:\nIs 20 kg included?')).toEqual({
      thoughts: 'The threshold is unclear.',
      visible: 'Is 20 kg included?',
    });
  });

  it('answers with everything after I WANT TO ANSWER:', () => {
    const code = fence('def f(x):\n    return x');
    expect(parseAgentMessage(`I know enough.\nOUTPUT:\nI WANT TO ANSWER:\n${code}`)).toEqual({
      thoughts: 'I know enough.',
      visible: code,
      answer: code,
    });
  });

  it('shows what is said before the answer too', () => {
    const parsed = parseAgentMessage('OUTPUT:\nThank you!\nI WANT TO ANSWER:\nx = 1');
    expect(parsed).toEqual({ thoughts: '', visible: 'Thank you!\n\nx = 1', answer: 'x = 1' });
  });

  it('answers when the markers come in the wrong order with nothing in between', () => {
    expect(parseAgentMessage('Enough.\nI WANT TO ANSWER:\nOUTPUT:\nx = 1')).toEqual({
      thoughts: 'Enough.',
      visible: 'x = 1',
      answer: 'x = 1',
    });
  });

  it('does not let OUTPUT: inside the fenced code cut the answer', () => {
    const code = fence(
      'def f(x):\n    """\nOUTPUT:\n    a number"""\n    print("OUTPUT: done")\n    return x',
    );
    expect(parseAgentMessage(`I WANT TO ANSWER:\n${code}`).answer).toBe(code);
    expect(parseAgentMessage(`Thinking.\nOUTPUT:\nI WANT TO ANSWER:\n${code}`).answer).toBe(code);
  });

  it('does not let a fence inside the code cut the answer', () => {
    const code = fence('def f(x):\n    """Use:\n    ```\n    f(1)\n    ```\n    """\n    return x');
    const { answer } = parseAgentMessage(`OUTPUT:\nI WANT TO ANSWER:\n${code}`);
    expect(answer).toBe(code);
  });
});

const question = 'How do I round?';
const code = fence('def f(x):\n    return x');

describe('a question', () => {
  it.each([
    ['on the line of its marker', `Hm.\nOUTPUT: ${question}`],
    ['after a marker with bold name', `Hm.\n**OUTPUT**: ${question}`],
    ['after a marker in backticks', `Hm.\n\`OUTPUT:\`\n${question}`],
    ['after a heading without a colon', `Hm.\n## Output\n\n${question}`],
    ['after a heading in bold', `Hm.\n### **OUTPUT:**\n${question}`],
    ['after a marker in another case', `Hm.\nOutput: ${question}`],
    ['after a marker without a colon on a line of its own', `Hm.\nOUTPUT\n${question}`],
    ['after a full-width colon', `Hm.\nOUTPUT\uFF1A${question}`],
    ['in a numbered list', `Hm.\n2. OUTPUT: ${question}`],
    ['in a quotation', `Hm.\n> OUTPUT: ${question}`],
    ['with Windows line ends', `Hm.\r\nOUTPUT:\r\n${question}`],
    ['after a sentence, the marker in bold', `Hm. **OUTPUT:** ${question}`],
  ])('is found %s', (_, message) => {
    expect(parseAgentMessage(message)).toEqual({ thoughts: 'Hm.', visible: question });
  });

  it.each([
    [
      'in a think block',
      `<think>Should I write I WANT TO ANSWER: already? No.</think>\nOUTPUT:\n${question}`,
    ],
    [
      'in a think block without OUTPUT:',
      `<think>Not I WANT TO ANSWER: yet.\nOUTPUT: what?</think>\n${question}`,
    ],
    ['in a thinking block', `<thinking>\nI WANT TO ANSWER:\n${code}\nNo.\n</thinking>\nOUTPUT: ${question}`],
    ['in a block whose opening tag the prompt has', `I WANT TO ANSWER: now? No.\n</think>\n\n${question}`],
    ['in a block that is never closed', `<think>I WANT TO ANSWER:\n${code}\nNo.\nOUTPUT:\n${question}`],
    ['in prose', `I could say I WANT TO ANSWER: now, but rounding is open.\nOUTPUT:\n${question}`],
    ['at the start of a line', `I WANT TO ANSWER: not yet.\n\n**OUTPUT**:\n${question}`],
  ])('does not end the dialogue because the words stand %s before it', (_, message) => {
    const parsed = parseAgentMessage(message);
    expect(parsed.visible).toBe(question);
    expect(parsed.answer).toBeUndefined();
    expect(parsed.thoughts).toContain('I WANT TO ANSWER:');
    expect(parsed.thoughts).not.toContain('think');
  });

  it.each([
    ['an odd quote', `A 6" wide one, don't ask. OUTPUT: ${question}`],
    ['a quotation', `They say "heavy". OUTPUT: ${question}`],
    ['code with the word in single quotes', `print(' OUTPUT: ') is wrong.\nOUTPUT: ${question}`],
    [
      'a fence in a list item',
      `1. A draft:\n\n    \`\`\`python\nOUTPUT: 5\n    \`\`\`\n\nOUTPUT: ${question}`,
    ],
    ['a fence in a quotation', `> \`\`\`\n> OUTPUT: 5\n> \`\`\`\n\nOUTPUT: ${question}`],
    ['the word said in passing', `I begin with OUTPUT: as told.\nOUTPUT: ${question}`],
    ['an example', `Input: 3\nOutput: 5\nOUTPUT: ${question}`],
    ['a bare draft', `x = 5\nreturn x\n\nOUTPUT: ${question}`],
  ])('is found after %s', (_, message) => {
    expect(parseAgentMessage(message).visible).toBe(question);
  });

  it.each([
    ['single quotes', "Do you want print(' OUTPUT: ')?"],
    ['an example', 'Is this right?\nInput: 3\nOutput: 5'],
    ['a sentence in lower case', 'Is the output: a number?'],
  ])('is whole when the word stands only in %s', (_, message) => {
    expect(parseAgentMessage(message)).toEqual({ thoughts: '', visible: message });
  });

  it('is empty while the thoughts have not ended', () => {
    expect(parseAgentMessage('<think>Which unit? I WANT TO ANSWER: soon')).toEqual({
      thoughts: 'Which unit? I WANT TO ANSWER: soon',
      visible: '',
    });
  });
});

describe('an answer', () => {
  it.each([
    ['a bold name', `OUTPUT:\n**I WANT TO ANSWER**:\n${code}`],
    ['a heading', `## Output:\n## I WANT TO ANSWER:\n${code}`],
    ['a list', `- OUTPUT:\n- I WANT TO ANSWER:\n${code}`],
    ['another case', `Output: I want to answer:\n${code}`],
    ['no colon', `OUTPUT\nI WANT TO ANSWER\n${code}`],
    ['backticks', `\`OUTPUT:\`\n\`I WANT TO ANSWER:\`\n${code}`],
    ['a think block before it', `<think>OUTPUT: is next.</think>\nI WANT TO ANSWER:\n${code}`],
    ['the words in its thoughts', `Now I WANT TO ANSWER: it is clear.\nOUTPUT:\nI WANT TO ANSWER:\n${code}`],
  ])('is found with %s', (_, message) => {
    expect(parseAgentMessage(message)).toMatchObject({ visible: code, answer: code });
  });

  it.each([
    ['a comment', 'def f(x):\n    # OUTPUT: a number\n    return x'],
    ['a comment at the start of a line', 'def f(x):\n# OUTPUT: a number\n    return x'],
    ['a comment after a comment', 'def f(x):\n    # INPUT: a number\n    # OUTPUT: a number\n    return x'],
    ['a comment above the function', '# OUTPUT: a number\ndef f(x):\n    return x'],
    ['a comment behind code', 'def f(x):\n    return x + 1  # see OUTPUT: above'],
    ['a docstring', 'def f(x):\n    """\n    Doubles.\n\n    Output: a number\n    """\n    return 2 * x'],
    ['single quotes', "def f(x):\n    print(' OUTPUT: ')\n    return x"],
  ])('in bare code is not cut at an OUTPUT: in %s', (_, bare) => {
    expect(parseAgentMessage(`OUTPUT:\nI WANT TO ANSWER:\n${bare}`).answer).toBe(bare);
    expect(parseAgentMessage(`I WANT TO ANSWER:\n${bare}`).answer).toBe(bare);
    expect(parseAgentMessage(bare)).toEqual({ thoughts: '', visible: bare });
  });
});

describe('the reply limit', () => {
  it('counts characters as people do and never tears one', () => {
    expect(limitReply('😀'.repeat(5), 3)).toBe('😀😀😀');
  });

  it('leaves a short reply as it is, without the space around it', () => {
    expect(limitReply('  only above 20\n', 400)).toBe('only above 20');
  });
});

describe('a message made to keep the parser busy', () => {
  it.each([
    ['one endless line of half-quoted markers', '"`x OUTPUT: '.repeat(20_000)],
    ['many lines of answers', 'I WANT TO ANSWER:\n'.repeat(300)],
    ['fences that never close', '```python\n'.repeat(5_000)],
  ])(
    'is still taken apart: %s',
    (_, text) => {
      expect(parseAgentMessage(text).visible.length).toBeLessThanOrEqual(text.length);
    },
    10_000,
  );
});
