import { expect, it } from 'vitest';
import { Fault } from '../../../src/core/fault';
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
