import { expect, it } from 'vitest';
import { draftProgress } from '../../../../src/core/evaluation/pages/draftProgress';
import type { Trajectory } from '../../../../src/core/trajectory/trajectory';
import { bakery, reader, shows } from '../../../fixtures/pages';
import { scored } from './scored';

/** @param messages of agent and collaborator in turn, the agent's first */
function talk(task: string, ...messages: readonly string[]): Trajectory {
  const head = { version: 1, at: '2026-01-01T00:00:00Z', episode: task };
  const turns = messages.flatMap((text, index) => {
    if (index % 2 === 1) return [];
    const turn = index / 2 + 1;
    const reply = messages[index + 1];
    return [
      {
        agent: { ...head, event: 'agent-turn', turn, text, finishReason: 'stop', model: 'x' } as const,
        ...(reply !== undefined && {
          reply: { ...head, event: 'reply', turn, text: reply, author: 'simulator', by: 'rules' } as const,
        }),
      },
    ];
  });
  return { ...scored(task, [0.5]), turns };
}

const [crust, bread, open, find] = bakery.reference.replace(/<[^>]*>/g, '').split('\n') as [
  string,
  string,
  string,
  string,
];

it('counts told differences that the next draft has, redrafts that lose something, and false claims', async () => {
  const progress = await draftProgress(
    [
      talk(
        'a',
        shows(crust, bread),
        `Add the text “${open}”. Add the text “${find}”. Make it nicer.`,
        // One of the two is applied, after a message without a page.
        'OUTPUT:\nLet me think.',
        'I see no page.',
        shows(crust, bread, open),
        `The text “${open}” is missing. Add the text “${find}”.`,
        // It is applied, and a text is lost.
        shows(crust, bread, find),
      ),
      talk('b', shows(crust, bread, open), `Add the text “${find}”.`, shows(crust, bread, open, find)),
      talk('c', shows(crust)),
      scored('function', [], { success: true }),
    ],
    reader,
  );
  expect(progress).toMatchObject({ told: 4, redrafts: 3, claims: 5, unread: 1 });
  // 2 of 3 in a, 1 of 1 in b; 1 of 2 and 0 of 1; 1 of 4 and 0 of 1
  expect(progress!.applied!.mean).toBeCloseTo((2 / 3 + 1) / 2);
  expect(progress!.regressed!.mean).toBeCloseTo(1 / 4);
  expect(progress!.falseClaims!.mean).toBeCloseTo(1 / 8);
});

it('leaves drafts out that cannot be drawn, and is absent without pages', async () => {
  const alone = await draftProgress([talk('a', shows('slow'), 'Add the text “x y”.', shows(crust))], reader);
  expect(alone).toMatchObject({ told: 0, applied: null, redrafts: 0, claims: 0 });
  expect(await draftProgress([scored('function', [], { success: true })], reader)).toBeUndefined();
});

it('reads drafts of tasks with checks without drawing', async () => {
  const checks = ['Golden Crust', 'Open from six'].map((equals, index) => ({
    ...({
      name: index === 0 ? 'title' : 'text',
      where: index === 0 ? 'h1' : 'p',
      property: 'text',
      equals,
    } as const),
  }));
  const draft = (title: string, words: string) =>
    `OUTPUT:\n<html><body><h1>${title}</h1><p>${words}</p></body></html>`;
  const played = talk(
    'a',
    draft('Crust', 'Open'),
    'The title should say “Golden Crust”. The text should say “Open from six”.',
    draft('Golden Crust', 'Open'),
    'The text should say “Open from six”.',
    draft('Gold', 'Open from six'),
  );
  const undrawn = { ...reader, outlineOf: () => Promise.reject(new Error('It draws.')) };
  const progress = await draftProgress([{ ...played, task: { ...bakery, id: 'a', checks } }], undrawn);
  expect(progress).toMatchObject({ told: 3, redrafts: 2, claims: 3, falseClaims: { mean: 0 } });
  expect(progress!.applied!.mean).toBeCloseTo(2 / 3);
  expect(progress!.regressed!.mean).toBe(0.5);
});
