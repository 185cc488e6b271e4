import { Fault, messageOf } from '../../core/fault';
import type { Notice, NoticeAction } from '../../../webview/session/protocol';
import { reasonWords, stoppedWords } from '../reasons';
import { english, type Translate } from '../translate';

type Party = 'agent' | 'simulator' | 'grader';

/** The sentences of a session: what happened, and the buttons that help. */
export const notices = {
  stopped: (t: Translate, party: 'agent' | 'simulator'): Notice => ({
    kind: 'information',
    message: stoppedWords(party, t),
    actions: [],
  }),
  sampleStopped: (t: Translate): Notice => ({
    kind: 'information',
    message: t('You stopped the agent. Its message from before stands.'),
    actions: [],
  }),
  sameSample: (t: Translate): Notice => ({
    kind: 'information',
    message: t(
      'The agent wrote the same message again. A higher temperature in the settings gives other samples.',
    ),
    actions: [],
  }),
  chooseFirst: (t: Translate): Notice => ({
    kind: 'information',
    message: t(
      'Choose one of the two first. The message that you choose can then be taken as the answer with End now.',
    ),
    actions: [],
  }),
  lookAlike: (t: Translate): Notice => ({
    kind: 'information',
    message: t(
      'Both candidates said the same, so there was nothing to choose. A higher temperature or a second agent makes them differ.',
    ),
    actions: [],
  }),
  cutOff: (t: Translate, party: 'agent' | 'simulator'): Notice => ({
    kind: 'information',
    message:
      party === 'agent'
        ? t(
            "The window closed while it was the agent's turn. Everything said before is here; the unfinished message is not.",
          )
        : t(
            "The window closed while it was the simulator's turn. Everything said before is here; the unfinished message is not.",
          ),
    actions: [],
  }),
  wentOn: (t: Translate): Notice => ({
    kind: 'information',
    message: t(
      'This dialogue was continued in another window or by a command. You see its current state; your last action was not applied.',
    ),
    actions: [],
  }),
  skipped: (t: Translate, reason: string): Notice => ({
    kind: 'information',
    message: t('This task was skipped: {0}', reasonWords(reason, t)),
    actions: [],
  }),
  notGraded: (t: Translate): Notice => ({
    kind: 'warning',
    message: t('The answer has not been graded yet.'),
    actions: ['grade'],
  }),
  notSent: (t: Translate): Notice => ({
    kind: 'information',
    message: t(
      'Your reply was not sent, because another action was in progress. Your text is kept: send it again.',
    ),
    actions: [],
  }),
  damaged: (what: string): Notice => ({ kind: 'warning', message: what, actions: [] }),
  elsewhere: (sentence: string, isOver: boolean): Notice => ({
    kind: 'warning',
    message: sentence,
    actions: isOver ? ['grade'] : [],
  }),
  noSimulator: (t: Translate): Fault =>
    new Fault('session/no-simulator', noSimulator(t), { english: noSimulator(english) }),
  lost: (t: Translate): Fault =>
    new Fault(
      'session/lost',
      t('This dialogue is no longer in the log. Open the task again to begin a new one.'),
    ),
};

const noSimulator = (t: Translate): string =>
  t('No simulator is configured. Choose one, or answer yourself.');

/** Another window or a command plays this dialogue. */
export function isPlayedElsewhere(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'trajectory/claimed';
}

/** The notice for something that went wrong: its sentence, and the buttons that can mend it. */
export function noticeOf(error: unknown, party: Party, t: Translate): Notice {
  if (error instanceof Fault) {
    return { kind: 'error', message: error.message, actions: remedies(error.code, party) };
  }
  return {
    kind: 'error',
    message: unforeseen(error, t),
    actions: [...(party === 'grader' ? (['grade'] as const) : []), 'show-log'],
  };
}

/** As the log keeps it why a dialogue failed. */
export const failureLogged = (error: unknown): string =>
  error instanceof Fault ? error.english : unforeseen(error, english);

const unforeseen = (error: unknown, t: Translate): string =>
  t('Something went wrong in Tandem: {0}', messageOf(error));

/** What another simulator would not meet. */
const OF_SIMULATORS: ReadonlySet<string> = new Set(['dialogue/no-facts', 'dialogue/empty-reply']);

function remedies(code: string, party: Party): NoticeAction[] {
  if (code === 'editor/restricted') return ['manage-trust'];
  if (party === 'grader') return ['grade'];
  if (!/^(model|session)\//.test(code) && !OF_SIMULATORS.has(code)) return [];
  const choose = party === 'agent' ? 'choose-agent' : 'choose-simulator';
  return code === 'model/unauthorized' ? ['set-key', choose] : [choose];
}
