import { Fault, messageOf, type FaultCode } from '../../core/fault';
import type { Notice, NoticeAction } from '../../../webview/session/protocol';
import { reasonWords, stoppedWords } from '../reasons';
import { english, translatedFault, type Translate } from '../translate';

type Party = 'agent' | 'simulator' | 'grader';

export type Connected = Readonly<Record<'agent' | 'simulator', boolean>>;

const information = (message: string): Notice => ({ kind: 'information', message, actions: [] });

export const notices = {
  stopped: (t: Translate, party: 'agent' | 'simulator'): Notice => information(stoppedWords(party, t)),
  sampleStopped: (t: Translate): Notice =>
    information(t('You stopped the agent. Its message from before stands.')),
  sameSample: (t: Translate): Notice =>
    information(
      t('The agent wrote the same message again. A higher temperature in the settings gives other samples.'),
    ),
  chooseFirst: (t: Translate): Notice =>
    information(
      t(
        'Choose one of the two first. The message that you choose can then be taken as the answer with End now.',
      ),
    ),
  lookAlike: (t: Translate): Notice =>
    information(
      t(
        'Both candidates were the same, so there was nothing to choose. Raise the temperature or add a second agent.',
      ),
    ),
  cutOff: (t: Translate): Notice =>
    information(
      t(
        'The window closed in the middle of a message. Everything said before is here; the unfinished message is not.',
      ),
    ),
  wentOn: (t: Translate): Notice =>
    information(
      t(
        'This dialogue was continued in another window or by a command. You see its current state; your last action was not applied.',
      ),
    ),
  skipped: (t: Translate, reason: string): Notice =>
    information(t('This task was skipped: {0}', reasonWords(reason, t))),
  notGraded: (t: Translate): Notice => ({
    kind: 'warning',
    message: t('The answer has not been graded yet.'),
    actions: ['grade'],
  }),
  notSent: (t: Translate): Notice =>
    information(
      t('Your reply was not sent, because another action was in progress. Your text is kept: send it again.'),
    ),
  damaged: (what: string): Notice => ({ kind: 'warning', message: what, actions: [] }),
  elsewhere: (sentence: string, isOver: boolean): Notice => ({
    kind: 'warning',
    message: sentence,
    actions: isOver ? ['grade'] : [],
  }),
  noSimulator: (t: Translate): Fault => translatedFault('session/no-simulator', noSimulator, t),
  lost: (t: Translate): Fault =>
    new Fault(
      'session/lost',
      t('This dialogue is no longer in the log. Open the task again to begin a new one.'),
    ),
};

const noSimulator = (t: Translate): string => t('No simulator is configured. Choose one, or reply yourself.');

export function isPlayedElsewhere(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'trajectory/claimed';
}

export function noticeOf(
  error: unknown,
  party: Party,
  { t, connected }: { readonly t: Translate; readonly connected: Connected },
): Notice {
  if (error instanceof Fault) {
    const isConnected = party !== 'grader' && connected[party];
    return { kind: 'error', message: error.message, actions: remedies(error.code, party, isConnected) };
  }
  return {
    kind: 'error',
    message: unforeseen(error, t),
    actions: [...(party === 'grader' ? (['grade'] as const) : []), 'show-log'],
  };
}

/** Returns the reason of a failure as the log keeps it, in English. */
export const failureLogged = (error: unknown): string =>
  error instanceof Fault ? error.english : unforeseen(error, english);

const unforeseen = (error: unknown, t: Translate): string =>
  t('Something went wrong in Tandem: {0}', messageOf(error));

/** Codes of errors that another simulator would not cause. */
const OF_SIMULATORS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'dialogue/no-facts',
  'dialogue/empty-reply',
]);

function remedies(code: FaultCode, party: Party, isConnected: boolean): NoticeAction[] {
  if (code === 'editor/restricted') return ['manage-trust'];
  if (party === 'grader') return ['grade'];
  if (!/^(model|session)\//.test(code) && !OF_SIMULATORS.has(code)) return [];
  return [
    ...(code === 'model/unauthorized' ? (['set-key'] as const) : []),
    ...(isConnected && code.startsWith('model/') ? ([`edit-${party}-connection`] as const) : []),
    `choose-${party}`,
  ];
}
