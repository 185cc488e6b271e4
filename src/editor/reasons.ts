import { english, type Translate } from './translate';

export function skipReasons(t: Translate): readonly string[] {
  return [
    t('The request is unclear'),
    t('The reference is wrong'),
    t('A test is wrong'),
    t('Too easy'),
    t('Too hard'),
  ];
}

export function redoReasons(t: Translate): readonly string[] {
  return [
    t('A reply is wrong'),
    t('A reply gives the answer away'),
    t('A reply is unclear'),
    t('The dialogue was ended too early'),
    t('It changes the subject'),
  ];
}

export function stoppedWords(role: 'agent' | 'simulator', t: Translate): string {
  return role === 'agent'
    ? t('The agent was stopped. The partial message was discarded.')
    : t('The simulator was stopped. The partial message was discarded.');
}

const own = (t: Translate): readonly string[] => [
  ...skipReasons(t),
  ...redoReasons(t),
  stoppedWords('agent', t),
  stoppedWords('simulator', t),
  t('Canceled while it was played.'),
];

/** In English, whatever the editor's language. A person's own words stay as they are. */
export function loggedReason(shown: string, t: Translate): string {
  const index = own(t).indexOf(shown);
  return index === -1 ? shown : own(english)[index]!;
}

/** Returns a logged reason in the reader's language. The words of persons and of errors stay as they are. */
export function reasonWords(logged: string, t: Translate): string {
  const index = own(english).indexOf(logged);
  return index === -1 ? logged : own(t)[index]!;
}
