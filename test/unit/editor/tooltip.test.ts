import { expect, it, vi } from 'vitest';
import { tooltip } from '../../../src/editor/tooltip';

vi.mock('vscode', () => import('./vscode'));

it('keeps the spaces of a text as such, so that its lines break between words', () => {
  expect(tooltip('', ['What is the fee?']).value).toBe(String.raw`What is the fee\?`);
});

it('shows what would be Markdown as it is written', () => {
  expect(tooltip('a_b', ['- <b> [x](y)', '1. `z`\n  second']).value).toBe(
    [String.raw`**a\_b**`, String.raw`\- \<b\> \[x\]\(y\)`, '1\\. \\`z\\`\\\n&nbsp;&nbsp;second'].join(
      '\n\n',
    ),
  );
});
