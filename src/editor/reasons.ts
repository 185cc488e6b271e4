import { english, type Translate } from './translate';

/** Why a task can be skipped, among others. */
export function skipReasons(t: Translate): readonly string[] {
  return [
    t('The request is unclear'),
    t('The reference is wrong'),
    t('A test is wrong'),
    t('Too easy'),
    t('Too hard'),
  ];
}

/** That somebody stopped what was being written, for whoever reads it. */
export function stoppedWords(role: 'agent' | 'simulator', t: Translate): string {
  return role === 'agent'
    ? t('The agent was stopped. The unfinished message is not in the log.')
    : t('The simulator was stopped. The unfinished message is not in the log.');
}

/** All that Tandem itself logs as a reason. */
const own = (t: Translate): readonly string[] => [
  ...skipReasons(t),
  stoppedWords('agent', t),
  stoppedWords('simulator', t),
  t('Cancelled while it was played.'),
];

/** A reason as it is logged, whatever language the editor speaks: in English. A person's own words stay as they are. */
export function loggedReason(shown: string, t: Translate): string {
  const index = own(t).indexOf(shown);
  return index === -1 ? shown : own(english)[index]!;
}

/** A reason of the log in the language of the reader. The words of persons and of errors stay as they are. */
export function reasonWords(logged: string, t: Translate): string {
  const index = own(english).indexOf(logged);
  return index === -1 ? logged : own(t)[index]!;
}
