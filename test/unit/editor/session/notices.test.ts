import { expect, it } from 'vitest';
import { Fault } from '../../../../src/core/fault';
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
});
