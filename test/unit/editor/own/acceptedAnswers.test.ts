import { expect, it, onTestFinished } from 'vitest';
import { AcceptedAnswers, type DueAnswer } from '../../../../src/editor/own/acceptedAnswers';
import { EditorMemory } from '../stage';

const [MINUTE, HOUR] = [60_000, 3_600_000];
const answer = { file: 'file:///shop.py', name: 'price', near: 0, code: 'def price(): ...', episode: 'own' };

/** A window in which time passes only by `later`; `reload` opens it again with what the editor has stored. */
function editor(firstMinutes = 5) {
  const memory = new EditorMemory();
  const measured: Omit<DueAnswer, 'proposal'>[] = [];
  let now = 1_000_000;
  const open = (): AcceptedAnswers => {
    const answers = new AcceptedAnswers(memory, {
      firstMs: () => firstMinutes * MINUTE,
      measure: ({ age, due }) => Promise.resolve(void measured.push({ age, due })),
      report: (error) => expect.unreachable(String(error)),
      now: () => now,
    });
    onTestFinished(() => answers.dispose());
    return answers;
  };
  let answers = open();
  return {
    measured,
    reload(): void {
      answers.dispose();
      answers = open();
    },
    accept: () => answers.add(answer),
    forget: () => answers.forget(() => false),
    async later(milliseconds: number): Promise<void> {
      now += milliseconds;
      await answers.check();
    },
  };
}

it('measures an answer after some minutes and once more after a day, over reloads', async () => {
  const window = editor();
  await window.accept();
  await window.later(4 * MINUTE);
  expect(window.measured).toEqual([]);
  window.reload();
  await window.later(2 * MINUTE);
  expect(window.measured).toEqual([{ age: 6 * MINUTE, due: 5 * MINUTE }]);
  await window.later(20 * HOUR);
  expect(window.measured).toHaveLength(1);
  window.reload();
  await window.later(10 * HOUR);
  expect(window.measured.slice(1)).toEqual([{ age: 30 * HOUR + 6 * MINUTE, due: 24 * HOUR }]);
  await window.later(100 * HOUR);
  expect(window.measured).toHaveLength(2);
});

it('measures once where the first occasion is later than a day', async () => {
  const window = editor();
  await window.accept();
  await window.later(50 * HOUR);
  await window.later(50 * HOUR);
  expect(window.measured).toEqual([{ age: 50 * HOUR, due: 5 * MINUTE }]);
});

it('measures as a window opens, without a call', async () => {
  const window = editor(0);
  await window.accept();
  window.reload();
  await expect.poll(() => window.measured).toEqual([{ age: 0, due: 0 }]);
});

it('counts from the last acceptance, and forgets what was erased', async () => {
  const window = editor();
  await window.accept();
  await window.later(23 * HOUR);
  await window.accept();
  await window.later(2 * HOUR);
  expect(window.measured.map(({ age }) => age)).toEqual([23 * HOUR, 2 * HOUR]);
  await window.forget();
  await window.later(50 * HOUR);
  expect(window.measured).toHaveLength(2);
});
