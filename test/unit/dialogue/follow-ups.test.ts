import { describe, expect, it } from 'vitest';
import { answerByRules } from '../../../src/core/dialogue/rules';
import { starterPack } from '../../fixtures/starter';

const tasks = await starterPack();
const seeds = [0, 1, 2, 3, 4, 5, 6, 7];

function told(id: string, message: string, seed: number, history: string[] = []) {
  const task = tasks.find((one) => one.id === id)!;
  const text = answerByRules(task, message, { history, seed });
  const facts = task.facts!.filter(({ answers }) => answers.some((answer) => text.includes(answer)));
  const wordings = task.facts!.flatMap(({ answers }) => answers);
  const rest = wordings.reduce((left, answer) => left.replace(answer, ''), text);
  return { topics: facts.map(({ topic }) => topic), rest: rest.trim(), text };
}

describe('a question that does not say what it is about', () => {
  it.each([
    [
      'parcel-surcharge',
      'At what weight does the surcharge start? And is the limit included?',
      ['weight limit', 'exactly at the limit'],
    ],
    [
      'parking-fee',
      'How long may somebody stop for free? And is that minute itself included?',
      ['free minutes'],
    ],
    ['hotel-stay', 'When is a stay long? Inclusive or exclusive?', ['long stay discount']],
    ['library-fine', 'How many days are free? Is the last of them still free?', ['free days']],
    ['water-bill', 'How big is the cheap block? Is the boundary inclusive?', ['first block']],
    ['resting-pulse', 'What range is plausible? Are the ends included?', ['nonsense readings']],
    ['charging-cost', 'At what hour does the night end? Is that hour still night?', ['night hours']],
    ['step-streak', 'How many steps are enough? Is exactly that number enough?', ['daily goal']],
    ['frost-warnings', 'Below which temperature do you want a warning? Strictly below?', ['dangerous frost']],
    ['reorder-list', 'When do you order? Also at exactly that stock?', ['when to order']],
    ['course-mark', 'From how many scores on is one dropped? Inclusive?', ['dropped score']],
    ['paint-cans', 'Which openings do I ignore? And at precisely that size?', ['doors and windows']],
    ['watering-plan', 'How much rain makes watering pointless? Or exactly that much?', ['heavy rain']],
    ['name-badge', 'How many letters at most? Inclusive?', ['longest']],
  ])('belongs to the fact before it or to the boundary of %s: %s', (id, message, topics) => {
    for (const seed of seeds) {
      const reply = told(id, message, seed);
      expect(reply.topics).toEqual(topics);
      expect(reply.rest).toBe('');
    }
  });

  it('belongs to what the last reply told', () => {
    for (const seed of seeds) {
      const first = told('step-streak', 'How many steps are enough?', seed);
      expect(told('step-streak', 'Inclusive?', seed, [first.text]).topics).toEqual(['daily goal']);
    }
  });
});

describe('an assumption', () => {
  it.each([
    ['parcel-surcharge', 'Assume the surcharge applies above 20 kg, ok?', 'weight limit'],
    ['parking-fee', 'Assume 20 euros is the ceiling per day, ok?', 'daily maximum'],
    ['hotel-stay', "I'll assume Saturday and Sunday nights are the dear ones.", 'days of the weekend'],
    ['library-fine', 'I assume the fine is capped at 5 euros, right?', 'highest fine'],
    ['insurance-payout', 'Assuming the maximum is per year, ok?', 'limit'],
  ])('gets the fact that decides it, of %s: %s', (id, message, topic) => {
    for (const seed of seeds) expect(told(id, message, seed).topics).toEqual([topic]);
  });
});

describe('a question with no keyword of a fact', () => {
  it.each([
    ['course-mark', 'Is 79.5 an 80?', 'rounding'],
    ['parcel-surcharge', 'What happens for a zone such as 7?', 'unknown zone'],
    ['free-slots', 'Can two bookings intersect?', 'overlapping bookings'],
    ['frost-warnings', 'At exactly minus two, do I warn?', 'dangerous frost'],
    ['resting-pulse', 'What if hardly any usable values remain?', 'too few readings'],
    ['seat-allocation', 'Who gets the last seat if two lists are level?', 'tie for a seat'],
  ])('gets the nearest fact, not "no preference", of %s: %s', (id, message, topic) => {
    for (const seed of seeds) expect(told(id, message, seed).topics).toEqual([topic]);
  });
});
