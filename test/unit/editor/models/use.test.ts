import { describe, expect, it } from 'vitest';
import { specOf } from '../../../../src/editor/models/server';
import { useDocument } from '../../../../src/editor/models/use';
import { english } from '../translate';
import { priced, use } from './lab';

describe('the document of use and cost', () => {
  it('has a row for each model, the most used first, and says what is not known', () => {
    const text = useDocument(
      {
        'script:a|b.json': { turns: 1, replies: 0, promptTokens: 0, completionTokens: 0, uncounted: 1 },
        [specOf(priced)]: use,
        'openai:other@http://127.0.0.1:1/v1': { ...use, turns: 2 },
      },
      [priced],
      { calledBy: (name) => (name === specOf(priced) ? priced.name : name) },
      english,
    );
    const lines = text.split('\n').filter((line) => line.startsWith('|'));
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
    const rows = lines.map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows[2]).toBe(
      '| Lab (openai:qwen3@http://127.0.0.1:8000/v1) | 12 | 1 | 30,000 | 4,100 | $0.00696 |',
    );
    expect(rows[4]).toBe('| script:a\\|b.json | 1 | 0 | – | – | – |');
    expect(text).toContain('Total cost: $0.00696.');
    expect(text).toContain('Models without a price: 1.');
    expect(text).toContain('Messages without a token count: 1.');
  });

  it('says so when nothing was played yet', () => {
    expect(useDocument({}, [], { calledBy: String }, english)).toContain(
      'No model has written anything in this log yet.',
    );
  });
});
