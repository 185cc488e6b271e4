import { describe, expect, test } from 'vitest';
import { measureLeak } from '../../../src/core/dialogue/leak';
import { answerByRules } from '../../../src/core/dialogue/rules';
import type { ProgramTask } from '../../../src/core/task/task';
import { naturalQuestions, starterPack } from '../../fixtures/starter';

const tasks = await starterPack();
const parcel = tasks.find(({ id }) => id === 'parcel-surcharge')!;
const seeds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

const reply = (task: ProgramTask, message: string, history: string[] = [], seed = 1): string =>
  answerByRules(task, message, { history, seed });

const factsIn = (task: ProgramTask, text: string): string[] =>
  task
    .facts!.filter(({ answers }) => answers.some((answer) => text.includes(answer)))
    .map(({ topic }) => topic);

/** Returns the facts that any of the messages gets from any task. */
const toldBy = (messages: readonly string[]): string[] =>
  tasks.flatMap((task) =>
    messages.flatMap((message) =>
      factsIn(task, reply(task, message)).map((topic) => `${task.id}: ${topic} ← ${message}`),
    ),
  );

describe('a question about a decision', () => {
  test('gets a wording of exactly that fact, for every fact of the handwritten pack and every natural question', () => {
    const wrong: string[] = [];
    for (const task of tasks)
      for (const { topic, answers } of task.facts!)
        for (const question of naturalQuestions[task.id]![topic]!) {
          const told = reply(task, question);
          if (!answers.includes(told)) wrong.push(`${task.id}: ${question} → ${told}`);
        }
    expect(wrong).toEqual([]);
  });

  test('is found in whatever form the word comes, and without a question mark', () => {
    const [limit] = parcel.facts!;
    expect(limit!.answers).toContain(reply(parcel, 'From how many KILOS on is it heavy'));
    expect(limit!.answers).toContain(reply(parcel, 'Please tell me the weight thresholds.'));
    expect(limit!.answers).toContain(reply(parcel, 'I am not sure which kilogram threshold you mean.'));
  });

  test('may be one of several in a message, as sentences, as a list or joined by "and"', () => {
    const both = ['weight limit', 'surcharge amount'];
    for (const message of [
      'Sounds good. What is the weight limit? How big is the surcharge?',
      'I need to know:\n1. the weight limit\n2. the surcharge amount',
      'What is the weight limit, and how big is the surcharge?',
    ]) {
      expect(factsIn(parcel, reply(parcel, message)), message).toEqual(both);
    }
  });
});

describe('the wording', () => {
  test('varies with the seed', () => {
    for (const task of tasks)
      for (const { topic, answers } of task.facts!) {
        const question = naturalQuestions[task.id]![topic]![0]!;
        const told = new Set(Array.from({ length: 40 }, (_, seed) => reply(task, question, [], seed)));
        expect(told, `${task.id}: ${topic}`).toEqual(new Set(answers));
      }
  });

  test('says politely that it was said before', () => {
    const question = 'How big is the surcharge?';
    const first = reply(parcel, question);
    for (const seed of seeds) {
      const second = reply(parcel, question, [first], seed);
      expect(second).toMatch(/^(As I said|As I said before|Like I said|Same as before): /);
      expect(factsIn(parcel, second)).toEqual(['surcharge amount']);
    }
  });
});

describe('what is not told', () => {
  test('more than one fact a question', () => {
    for (const task of tasks) {
      const keywords = task.facts!.flatMap((fact) => fact.keywords).join(', ');
      expect(factsIn(task, reply(task, `What about ${keywords}?`)).length, task.id).toBeLessThanOrEqual(1);
    }
  });

  test('more than three facts at once, or more than fits into a reply: the rest has to be asked again', () => {
    const hotel = tasks.find(({ id }) => id === 'hotel-stay')!;
    const all = hotel.facts!.map(({ topic }) => naturalQuestions[hotel.id]![topic]![0]!).join(' ');
    for (const seed of seeds) {
      const told = reply(hotel, all, [], seed);
      expect(factsIn(hotel, told)).toHaveLength(3);
      expect(told).toMatch(/ask (me )?the (rest|others)/i);
      const short = answerByRules(hotel, all, { history: [], seed, replyLimit: 150 });
      expect(factsIn(hotel, short).length).toBeLessThan(3);
      expect(short).toMatch(/ask (me )?the (rest|others)/i);
      expect(short.length).toBeLessThanOrEqual(150);
    }
  });

  test('anything to someone who wants everything', () => {
    const greedy = [
      'Tell me everything.',
      'Please give me all the requirements.',
      'What are all the rules?',
      'What are the rules?',
      'Can you list every hidden detail, threshold and edge case?',
      'Could you provide more details?',
      'Is there anything else I should know?',
      'How should the function work?',
      'I need the complete specification.',
      'Tell me all the hidden decisions, one by one.',
      'Please share all conditions and special cases.',
    ];
    expect(toldBy(greedy)).toEqual([]);
    for (const message of greedy)
      for (const seed of seeds)
        expect(reply(parcel, message, [], seed), message).toMatch(
          /specific|Which part|one thing|What exactly/,
        );
  });

  test('the reference, the tests or any code', () => {
    const thieves = [
      'Can you show me the reference code?',
      'Please paste the implementation.',
      'What is the ground truth?',
      'Give me the solution.',
      'Could you share the hidden information?',
      'Please provide the test cases.',
    ];
    expect(toldBy(thieves)).toEqual([]);
    for (const message of thieves)
      for (const seed of seeds) expect(reply(parcel, message, [], seed), message).toMatch(/code/);
    for (const task of tasks)
      for (const message of [...thieves, ...Object.values(naturalQuestions[task.id]!).flat()])
        expect(measureLeak(task.reference, reply(task, message)).fraction).toBe(0);
  });

  test('a preference that the task does not have', () => {
    const elsewhere = [
      'Which Python version do you use?',
      'Would you like type hints and a docstring?',
      'Should it be compatible with pandas?',
      'Do you prefer tabs or spaces?',
      'Is performance important?',
      'What is your favourite colour?',
    ];
    expect(toldBy(elsewhere)).toEqual([]);
    const replies = new Set(seeds.map((seed) => reply(parcel, elsewhere[0]!, [], seed)));
    expect(replies.size).toBeGreaterThan(2);
  });

  test('a fact to a message that asks nothing', () => {
    const idle = [
      'Hello!',
      'Great, the weight limit is clear now.',
      'I will now write the function with the surcharge.',
      'Let me know if you need anything else.',
      'I have a few questions:',
      'Could you clarify a few things?',
      '```python\n# what is the limit?\n```',
      '',
    ];
    expect(toldBy(idle)).toEqual([]);
    for (const message of idle)
      expect(reply(parcel, message), message).toMatch(/need to know|like to ask|Ask if/);
  });
});

test('a task without facts is refused with what to do', () => {
  const { id, description, reference, testCases, hiddenInformation } = parcel;
  const without = { id, description, reference, testCases, hiddenInformation };
  for (const task of [without, { ...without, facts: [] }])
    expect(() => reply(task, 'What is the limit?')).toThrow(
      expect.objectContaining({
        code: 'dialogue/no-facts',
        message:
          'The task “Parcel surcharge” has no "facts", which the rules simulator needs. Add facts to the task, use a model as the simulator, or reply yourself.',
      }),
    );
});
