import type { SessionState } from '../../webview/session/protocol';
import type { Task } from '../core/task/task';
import type { Translate } from './translate';

/** What the status bar needs to know of an open session. */
export interface Playing {
  readonly title: string;
  /** Without tests nothing is graded. */
  readonly task?: Pick<Task, 'testCases'>;
  readonly state: Pick<SessionState, 'phase' | 'turn' | 'maxTurns' | 'grade'>;
}

export interface StatusLine<P> {
  /** The session that a click shows. */
  readonly playing: P;
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
}

/** What concerns the person most comes first. */
const URGENCY: readonly Playing['state']['phase'][] = [
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

/** In these a session asks nothing of the person and does nothing: what is at work elsewhere is told instead. */
const CALM: readonly Playing['state']['phase'][] = ['ready', 'over', 'skipped'];

/** Whether a session waits for the person or is at work, so that the one item of the status bar is its own. */
export const hasTheTurn = ({ state }: Playing): boolean => !CALM.includes(state.phase);

/** One line about the open sessions; undefined when none is open. */
export function statusLine<P extends Playing>(open: readonly P[], t: Translate): StatusLine<P> | undefined {
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

const rank = ({ state }: Playing): number => URGENCY.indexOf(state.phase);

function phaseWords(
  { state: { phase, turn, maxTurns, grade }, task }: Playing,
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
