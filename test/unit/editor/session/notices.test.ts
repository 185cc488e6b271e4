import { expect, it } from 'vitest';
import { answerByRules } from '../../../../src/core/dialogue/rules';
import { Fault } from '../../../../src/core/fault';
import { endingQuestion } from '../../../../src/editor/session/notices';
import { noticeOf } from '../../../../src/editor/session/notices';
import { english } from '../translate';

it('offers what mends a fault, and the log for what nobody has foreseen', () => {
  const refused = new Fault('model/unauthorized', 'The server wants another key.');
  expect(noticeOf(refused, 'agent', english)).toEqual({
    ...{ kind: 'error', message: 'The server wants another key.', actions: ['set-key', 'choose-agent'] },
  });
  expect(noticeOf(new Error('EIO: i/o error'), 'agent', english)).toEqual({
    kind: 'error',
    message: 'Something went wrong in Tandem: EIO: i/o error',
    actions: ['show-log'],
  });
  expect(noticeOf(new Error('EIO'), 'grader', english).actions).toEqual(['grade', 'show-log']);
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
  expect(noticeOf(fault, 'simulator', english).actions).toEqual(['choose-simulator']);
});

it('asks before a dialogue is ended, and promises a grade only where there are tests', () => {
  expect(endingQuestion(false, english)).toMatchObject({
    ...{ detail: 'The dialogue ends here and the answer is graded.', button: 'End and Grade' },
  });
  const own = endingQuestion(true, english);
  expect(own.button).toBe('End and Review');
  expect(own.detail).toContain('shown as a change of your file, to accept or reject');
});
