import { expect, it } from 'vitest';
import { loggedReason, reasonWords, skipReasons, stoppedWords } from '../../../src/editor/reasons';
import { failureLogged, notices } from '../../../src/editor/session/notices';
import { english, type Translate } from '../../../src/editor/translate';

/** A translation into an artificial language. */
const foreign: Translate = (message: unknown, ...values: unknown[]) => `«${english(message, ...values)}»`;

it('a reason is logged in English, whatever the editor speaks, and read in the language of the reader', () => {
  const [unclear] = skipReasons(foreign);
  expect(unclear).toBe('«The request is unclear»');
  expect(loggedReason(unclear!, foreign)).toBe('The request is unclear');
  expect(reasonWords('The request is unclear', foreign)).toBe(unclear);
  expect(notices.skipped(foreign, 'The request is unclear').message).toBe(
    '«This task was skipped: «The request is unclear»»',
  );
  expect(reasonWords(stoppedWords('agent', english), foreign)).toMatch(/^«The agent was stopped\./);
});

it('a failure is logged in English too', () => {
  expect(failureLogged(notices.noSimulator(foreign))).not.toContain('«');
  expect(failureLogged(new Error('EIO'))).toMatch(/EIO$/);
});
