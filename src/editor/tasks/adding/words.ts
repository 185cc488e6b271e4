import type { PackCheck } from '../../../core/task/pack';
import type { Translate } from '../../translate';

/** What a pack holds that is in the list now, and which of its lines do not count. */
export function addedWords({ tasks, tests, bad }: PackCheck, name: string, t: Translate): string {
  const holds = `${tasks === 1 ? t('1 task') : t('{0} tasks', tasks)}, ${tests === 1 ? t('1 test') : t('{0} tests', tests)}`;
  const [first] = bad;
  if (first === undefined) return t('{0} is in the list: {1}.', name, holds);
  const lines = bad.length === 1 ? t('1 line is not a task') : t('{0} lines are not tasks', bad.length);
  return t(
    '{0} is in the list: {1}. {2}, the first is line {3}: {4}',
    name,
    holds,
    lines,
    first.line,
    first.reason,
  );
}

/** With a full stop, where another sentence follows. */
export const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);
