import { expect, it } from 'vitest';
import { Fault } from '../../../src/core/fault';
import { endingQuestion } from '../../../src/editor/session/ending';
import { noticeOf } from '../../../src/editor/session/notices';
import { english } from './translate';

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

it('asks before a dialogue is ended, and promises a grade only where there are tests', () => {
  expect(endingQuestion(false, english)).toMatchObject({
    ...{ detail: 'The dialogue ends here and the answer is graded.', button: 'End and Grade' },
  });
  const own = endingQuestion(true, english);
  expect(own.button).toBe('End and Review');
  expect(own.detail).toContain('shown as a change of your file, to accept or reject');
});
