import type { SessionState } from '../../webview/session/protocol';
import type { Task } from '../core/task/task';
import type { Translate } from './translate';

export interface OpenSession {
  readonly title: string;
  /** A task without tests is not graded. */
  readonly task?: Pick<Task, 'testCases'>;
  readonly state: Pick<SessionState, 'phase' | 'turn' | 'maxTurns' | 'grade'>;
}

interface StatusLine<P> {
  readonly playing: P;
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
}

/** Phases in order of urgency for the person, most urgent first. */
const URGENCY: readonly OpenSession['state']['phase'][] = [
  'developer',
  'choosing',
  'stopped',
  'no-agent',
  'grading',
  'simulator',
  'agent',
  'candidates',
  'ready',
  'over',
  'skipped',
];

/** Phases in which a session neither asks anything of the person nor works, so that the status bar shows other work. */
const CALM: readonly OpenSession['state']['phase'][] = ['ready', 'over', 'skipped'];

/** True for a session that waits for the person or is at work; it then has the status bar's only item. */
export const hasTheTurn = ({ state }: OpenSession): boolean => !CALM.includes(state.phase);

export function statusLine<P extends OpenSession>(
  open: readonly P[],
  t: Translate,
): StatusLine<P> | undefined {
  const [playing, ...others] = open.toSorted((a, b) => rank(a) - rank(b));
  if (playing === undefined) return undefined;
  const { icon, words } = phaseWords(playing, t);
  const click = t('Click to show the session.');
  const more =
    others.length === 0
      ? []
      : [
          others.length === 1
            ? t('1 more session is open.')
            : t('{0} more sessions are open.', others.length),
        ];
  return {
    playing,
    icon,
    text: `Tandem: ${words}`,
    tooltip: [`${playing.title}: ${words}.`, click, ...more].join('\n'),
  };
}

const rank = ({ state }: OpenSession): number => URGENCY.indexOf(state.phase);

function phaseWords(
  { state: { phase, turn, maxTurns, grade }, task }: OpenSession,
  t: Translate,
): { icon: string; words: string } {
  switch (phase) {
    case 'agent':
    case 'candidates':
      return { icon: 'sync~spin', words: t('agent writes, turn {0}/{1}', turn, maxTurns) };
    case 'simulator':
      return { icon: 'sync~spin', words: t('simulator writes, turn {0}/{1}', turn, maxTurns) };
    case 'grading':
      return { icon: 'sync~spin', words: t('grading') };
    case 'stopped':
      return { icon: 'debug-pause', words: t('stopped, turn {0}/{1}', turn, maxTurns) };
    case 'no-agent':
      return { icon: 'warning', words: t('no agent chosen') };
    case 'ready':
      return { icon: 'play', words: t('ready to start') };
    case 'skipped':
      return { icon: 'dash', words: t('skipped') };
    case 'over':
      return {
        icon: 'pass',
        words: grade?.headline ?? (task?.testCases.length === 0 ? t('answered') : t('not graded yet')),
      };
    default:
      return { icon: 'comment', words: t('your turn, {0}/{1}', turn, maxTurns) };
  }
}
