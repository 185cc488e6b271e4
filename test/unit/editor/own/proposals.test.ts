import { describe, expect, it, vi } from 'vitest';
import { changeOf, proposed } from '../../../../src/editor/own/proposals';

vi.mock('vscode', () => import('../vscode'));

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
