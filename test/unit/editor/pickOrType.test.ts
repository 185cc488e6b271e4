import { expect, it, vi } from 'vitest';
import { acts, type Input } from './vscode';

vi.mock('vscode', () => import('./vscode'));

const { pickOrType } = await import('../../../src/editor/inputSteps');

/** Asks for tags, of which `odd` is known and ticked, and `long` is known. */
async function ask(act: (list: Input) => void): Promise<unknown> {
  acts.push((list) => {
    act(list);
    list.accepted.fire();
  });
  return pickOrType({
    ...{ title: 'Tags', placeholder: '', unknown: 'new', label: (tag) => `#${tag}` },
    known: [
      { word: 'odd', description: '', isPicked: true },
      { word: 'long', description: '', isPicked: false },
    ],
    refuse: (words) => words.find((word) => word.length > 9) && 'Too long',
  });
}

it('known words are ticked, and typed ones are new unless they are known', async () => {
  expect(
    await ask((list) => {
      list.write('short, long');
      expect(list.items.map(({ label }) => label)).toEqual(['$(add) #short', '#odd', '#long']);
      list.toggle('#long');
    }),
  ).toEqual({ value: ['short', 'odd', 'long'] });
});

it('what a person ticked or unticked stays so while more is typed', async () => {
  expect(
    await ask((list) => {
      list.write('one');
      list.toggle('#one');
      list.toggle('#odd');
      list.write('one, two');
      list.write('one, two, far too long for a word');
      list.write('one, two');
    }),
  ).toEqual({ value: ['two'] });
});
