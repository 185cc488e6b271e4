import { expect, it, vi } from 'vitest';
import { tooltip } from '../../../src/editor/tree';

vi.mock('vscode', () => import('./vscode'));

it('shows what would be Markdown as it is written', () => {
  expect(tooltip('a_b', ['- <b> [x](y)', '1. `z`\n  second']).value).toBe(
    [String.raw`**a\_b**`, String.raw`\- \<b\> \[x\]\(y\)`, '1\\. \\`z\\`\\\n&nbsp;&nbsp;second'].join(
      '\n\n',
    ),
  );
});
