import { describe, expect, it } from 'vitest';
import { servedDetails, servedWords } from '../../../../src/editor/models/servedWords';
import { dollars, useWords } from '../../../../src/editor/models/use';
import { english } from '../translate';
import { priced, qwen, use } from './lab';

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
