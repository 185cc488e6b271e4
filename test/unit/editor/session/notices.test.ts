import { expect, it } from 'vitest';
import { answerByRules } from '../../../../src/core/dialogue/rules';
import { Fault } from '../../../../src/core/fault';
import { endingQuestion } from '../../../../src/editor/session/notices';
import { noticeOf } from '../../../../src/editor/session/notices';
import { english } from '../translate';

const own = { t: english, connected: { agent: false, simulator: false } };

it('offers what mends a fault, and the log for what nobody has foreseen', () => {
  const refused = new Fault('model/unauthorized', 'The server wants another key.');
  expect(noticeOf(refused, 'agent', own)).toEqual({
    ...{ kind: 'error', message: 'The server wants another key.', actions: ['set-key', 'choose-agent'] },
  });
  expect(noticeOf(new Error('EIO: i/o error'), 'agent', own)).toEqual({
    kind: 'error',
    message: 'Something went wrong in Tandem: EIO: i/o error',
    actions: ['show-log'],
  });
  expect(noticeOf(new Error('EIO'), 'grader', own).actions).toEqual(['grade', 'show-log']);
});

it('offers to edit the connection of a model that was connected, and of no other', () => {
  const wrong = new Fault('model/unreachable', 'The server cannot be reached.');
  const connected = { agent: true, simulator: false };
  expect(noticeOf(wrong, 'agent', { ...own, connected }).actions).toEqual([
    ...['edit-agent-connection', 'choose-agent'],
  ]);
  expect(noticeOf(wrong, 'simulator', { ...own, connected }).actions).toEqual(['choose-simulator']);
  const refused = new Fault('model/unauthorized', 'The server wants another key.');
  expect(noticeOf(refused, 'agent', { ...own, connected }).actions).toEqual([
    ...['set-key', 'edit-agent-connection', 'choose-agent'],
  ]);
});

it('offers another simulator where the rules know nothing of a task, which is called by its name', () => {
  const task = {
    id: '22b1ab3b0cdc4b3f',
    description: 'def taxi_fare(km):',
    reference: 'def taxi_fare(km): ...',
  };
  const ask = (): unknown =>
    answerByRules(
      { ...task, testCases: [{ name: 't', call: 'taxi_fare(1)' }], hiddenInformation: '' },
      'How far?',
      { turn: 1, seed: 1, replyLimit: 400, history: [] } as never,
    );
  expect(ask).toThrow('The task “Taxi fare” has no "facts"');
  const fault = new Fault('dialogue/no-facts', 'The task “Taxi fare” has no "facts".');
  expect(noticeOf(fault, 'simulator', own).actions).toEqual(['choose-simulator']);
});

it('asks before a dialogue is ended, and promises a grade only where there are tests', () => {
  expect(endingQuestion(false, english)).toMatchObject({
    ...{ detail: 'The dialogue ends here and the answer is graded.', button: 'End and Grade' },
  });
  const review = endingQuestion(true, english);
  expect(review.button).toBe('End and Review');
  expect(review.detail).toContain('shown as a change of your file, to accept or reject');
});
