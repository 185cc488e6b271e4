import { Fault, messageOf } from '../../core/fault';
import type { Notice, NoticeAction } from '../../../webview/session/protocol';

type Party = 'agent' | 'simulator' | 'grader';

/** The sentences of a session: what happened, and the buttons that help. */
export const notices = {
  stopped: (party: 'agent' | 'simulator'): Notice => ({
    kind: 'information',
    message: `You stopped the ${party}. The unfinished message is not in the log.`,
    actions: [],
  }),
  sampleStopped: (): Notice => ({
    kind: 'information',
    message: 'You stopped the agent. Its message from before stands.',
    actions: [],
  }),
  sameSample: (): Notice => ({
    kind: 'information',
    message:
      'The agent wrote the same message again. A higher temperature in the settings gives other samples.',
    actions: [],
  }),
  lookAlike: (): Notice => ({
    kind: 'information',
    message:
      'Both candidates said the same, so there was nothing to choose. A higher temperature or a second agent makes them differ.',
    actions: [],
  }),
  cutOff: (party: 'agent' | 'simulator'): Notice => ({
    kind: 'information',
    message: `The window closed while it was the ${party}'s turn. Everything said before is here; the unfinished message is not.`,
    actions: [],
  }),
  skipped: (reason: string): Notice => ({
    kind: 'information',
    message: `You skipped this task: ${reason}`,
    actions: [],
  }),
  notGraded: (): Notice => ({
    kind: 'warning',
    message: 'The answer has not been graded yet.',
    actions: ['grade'],
  }),
  damaged: (what: string): Notice => ({ kind: 'warning', message: what, actions: [] }),
  elsewhere: (sentence: string, isOver: boolean): Notice => ({
    kind: 'warning',
    message: sentence,
    actions: isOver ? ['grade'] : [],
  }),
  noSimulator: (): Fault =>
    new Fault('session/no-simulator', 'No simulator is configured. Choose one, or answer yourself.'),
  lost: (): Fault =>
    new Fault(
      'session/lost',
      'This dialogue is no longer in the log. Open the task again to begin a new one.',
    ),
};

/** Another window or a command plays this dialogue. */
export function isPlayedElsewhere(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'trajectory/claimed';
}

/** The notice for something that went wrong: its sentence, and the buttons that can mend it. */
export function noticeOf(error: unknown, party: Party): Notice {
  const code = error instanceof Fault ? error.code : undefined;
  const message =
    code === undefined ? `Something went wrong in Tandem: ${messageOf(error)}` : messageOf(error);
  return { kind: 'error', message, actions: remedies(code, party) };
}

function remedies(code: string | undefined, party: Party): NoticeAction[] {
  if (code === 'editor/restricted') return ['manage-trust'];
  if (party === 'grader') return ['grade'];
  if (code === undefined || !/^(model|session)\//.test(code)) return [];
  const choose = party === 'agent' ? 'choose-agent' : 'choose-simulator';
  return code === 'model/unauthorized' ? ['set-key', choose] : [choose];
}
