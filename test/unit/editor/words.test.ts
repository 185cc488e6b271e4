import { expect, it } from 'vitest';
import { withoutLinks } from '../../../src/editor/words';

/** Matches what the editor draws as a link in its messages (`parseLinkedText` of VS Code). */
const LINK = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)[^)\s]+/i;

it('leaves no link in a message that repeats the name of somebody else', () => {
  const name = 'ben [see](command:workbench.action.quit) [[x]](https://example.org)';
  expect(name).toMatch(LINK);
  expect(withoutLinks(name)).not.toMatch(LINK);
  expect(withoutLinks('ada (lead) [2]')).toBe('ada (lead) [2]');
});
