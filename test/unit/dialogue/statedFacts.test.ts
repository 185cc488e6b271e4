import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { saysNoPreference } from '../../../src/core/dialogue/noPreference';
import { NO_PREFERENCE } from '../../../src/core/dialogue/protocol';
import { statedFacts } from '../../../src/core/dialogue/statedFacts';
import { loadTasks } from '../../../src/core/task/pack';
import { factsOf, programOf } from '../../../src/core/task/task';
import { starterPack, starterTask } from '../../fixtures/dialogue';

const [LIMIT, BOUNDARY, SURCHARGE, ZONE] = [
  'weight limit',
  'exactly at the limit',
  'surcharge amount',
  'unknown zone',
];

describe('what a reply states', () => {
  it.each([
    // In the wordings of the task.
    ['It is a flat 4.50 euros on top, whatever the zone.', [SURCHARGE], [SURCHARGE]],
    ['Heavy starts at 20 kilograms for us. Any other zone should give -1.', [LIMIT], [LIMIT, ZONE]],
    // In a person's words.
    ['4.50 extra', [SURCHARGE], [SURCHARGE]],
    ['20', [LIMIT], [LIMIT]],
    ['Heavy ones cost 4.5 extra', [SURCHARGE], [SURCHARGE]],
    ['over 20 kg, and 4.50 on top', [LIMIT, SURCHARGE], [LIMIT, SURCHARGE]],
    ['No.', [BOUNDARY], [BOUNDARY]],
    ['yes, inclusive', [BOUNDARY], [BOUNDARY]],
    ['No. Just return -1 then.', [BOUNDARY, ZONE], [BOUNDARY, ZONE]],
    // Facts that were not asked about.
    ['4.50 extra, from 20 kg on', [SURCHARGE], [SURCHARGE, LIMIT]],
    ['Above 20 kilos. And give back -1 if the zone is unknown.', [LIMIT], [LIMIT, ZONE]],
    // Nothing.
    [NO_PREFERENCE, [LIMIT, SURCHARGE], []],
    ["I don't care about the surcharge.", [SURCHARGE], []],
    ['What do you mean by threshold?', [LIMIT], []],
    ['Okay, go on.', [LIMIT], []],
    ['I will tell you tomorrow morning.', [LIMIT], []],
  ])('%s', async (reply, asked, stated) => {
    const task = await starterTask();
    const facts = asked.map((topic) => factsOf(task).find((fact) => fact.topic === topic)!);
    const found = [...statedFacts(task, reply, facts)].map(({ topic }) => topic);
    expect(found.toSorted()).toEqual(stated.toSorted());
  });
});

it('finds wordings that it does not know, and little else in them', async () => {
  const { tasks } = await loadTasks(starterPack);
  let [looked, found, others] = [0, 0, 0];
  for (const task of tasks.map(programOf))
    for (const [place, fact] of factsOf(task).entries())
      for (const wording of fact.answers) {
        const unknown = { ...fact, answers: fact.answers.filter((one) => one !== wording) };
        const facts = factsOf(task).with(place, unknown);
        const stated = statedFacts({ ...task, facts }, wording, [unknown]);
        looked += 1;
        found += Number(stated.has(unknown));
        others += Number([...stated].some((one) => one !== unknown));
      }
  expect(found / looked).toBeGreaterThan(0.95);
  expect(others / looked).toBeLessThan(0.05);
});

describe('no preference', () => {
  it.each([
    NO_PREFERENCE,
    'That does not matter to me.',
    'no idea',
    "Round up. I don't mind the rest.",
    'dont know',
    'Up to you!',
    "I'm not sure, sorry.",
    'either way is fine',
    "It doesn't matter.",
    'Whatever you think.',
  ])('is said by %s', (reply) => expect(saysNoPreference(reply)).toBe(true));

  it.each([
    'No.',
    'It does not matter whether the name is in capitals.',
    "People we don't know pay double.",
    'Sort them by name, your code decides nothing.',
  ])('is not said by %s', (reply) => expect(saysNoPreference(reply)).toBe(false));

  it('is not said by any fact of a shipped pack', async () => {
    for (const file of [starterPack, path.resolve('samples/workspace/starter-world.jsonl')]) {
      const { tasks } = await loadTasks(file);
      const wordings = tasks.flatMap(factsOf).flatMap(({ answers }) => answers);
      expect(wordings.filter(saysNoPreference)).toEqual([]);
    }
  });
});
