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

  it('is visible as a whole when it has no marker', () => {
    expect(parseAgentMessage('Is 20 kg included?')).toEqual({ thoughts: '', visible: 'Is 20 kg included?' });
  });

  it('answers with everything after I WANT TO ANSWER:', () => {
    const code = fence('def f(x):\n    return x');
    expect(parseAgentMessage(`I know enough.\nOUTPUT:\nI WANT TO ANSWER:\n${code}`)).toEqual({
      thoughts: 'I know enough.',
      visible: code,
      answer: code,
    });
  });

  it('takes both markers on one line', () => {
    const code = fence('def f(x):\n    return x');
    expect(parseAgentMessage(`Done. OUTPUT: I WANT TO ANSWER: ${code}`)).toEqual({
      thoughts: 'Done.',
      visible: code,
      answer: code,
    });
  });

  it('takes the markers in bold', () => {
    expect(parseAgentMessage('Hm.\n**OUTPUT:** Which unit?')).toEqual({
      thoughts: 'Hm.',
      visible: 'Which unit?',
    });
    expect(parseAgentMessage('**OUTPUT:**\n**I WANT TO ANSWER:**\nx = 1').answer).toBe('x = 1');
  });

  it('shows what is said before the answer too', () => {
    const parsed = parseAgentMessage('OUTPUT:\nThank you!\nI WANT TO ANSWER:\nx = 1');
    expect(parsed).toEqual({ thoughts: '', visible: 'Thank you!\n\nx = 1', answer: 'x = 1' });
  });

  it('answers without OUTPUT:', () => {
    expect(parseAgentMessage('I WANT TO ANSWER:\nx = 1')).toEqual({
      thoughts: '',
      visible: 'x = 1',
      answer: 'x = 1',
    });
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

  it('does not let OUTPUT: inside unfenced code cut the answer', () => {
    const code = 'def f(x):\n    # OUTPUT: a number\n    print("the OUTPUT: is", x)\n    return x';
    expect(parseAgentMessage(`I WANT TO ANSWER:\n${code}`).answer).toBe(code);
    expect(parseAgentMessage(code)).toEqual({ thoughts: '', visible: code });
  });

  it('does not let a fence inside the code cut the answer', () => {
    const code = fence('def f(x):\n    """Use:\n    ```\n    f(1)\n    ```\n    """\n    return x');
    const { answer } = parseAgentMessage(`OUTPUT:\nI WANT TO ANSWER:\n${code}`);
    expect(answer).toBe(code);
  });

  it('does not take a quoted marker in the thoughts for the marker', () => {
    const parsed = parseAgentMessage('I should write "OUTPUT: ..." first.\nOUTPUT:\nWhich unit?');
    expect(parsed.visible).toBe('Which unit?');
  });

  it('does not answer because the thoughts mention the words', () => {
    const parsed = parseAgentMessage('Soon I will say `I WANT TO ANSWER: code`.\nOUTPUT:\nWhich unit?');
    expect(parsed).toEqual({ thoughts: 'Soon I will say `I WANT TO ANSWER: code`.', visible: 'Which unit?' });
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
