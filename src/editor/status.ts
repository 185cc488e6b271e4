import * as vscode from 'vscode';
import { Owner } from './background';
import { idOf } from './contributions';
import type { SessionState } from '../../webview/session/protocol';
import { isOwnFunction } from '../core/task/own';
import type { Task } from '../core/task/task';
import type { Run } from '../core/training/runs';
import { longWorks, type LongWork } from './progress';
import type { Translate } from './translate';

const { t } = vscode.l10n;

interface SessionPanel {
  readonly shown: OpenSession;
  reveal(): void;
}

interface StatusWords {
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
}

/** The status bar item: the open sessions or, while none of them has the turn, long work of this window, or a run. */
export class Status extends Owner {
  private readonly item = vscode.window.createStatusBarItem('tandem.playing', vscode.StatusBarAlignment.Left);
  private panel: SessionPanel | undefined;

  constructor(
    private readonly sessions: {
      readonly onDidChangePanel: vscode.Event<unknown>;
      readonly open: readonly SessionPanel[];
    },
    private readonly runs: { readonly onDidChange: vscode.Event<unknown>; readonly atWork: Run | undefined },
    private readonly wordsOf: (run: Run) => StatusWords,
  ) {
    super();
    this.item.name = 'Tandem';
    const show = (): void => this.show();
    this.owns(
      this.item,
      sessions.onDidChangePanel(show),
      runs.onDidChange(show),
      longWorks.onDidChange(show),
    );
  }

  showSession(): void {
    this.panel?.reveal();
  }

  private show(): void {
    const open = this.sessions.open.map((panel) => {
      const { title, task, state } = panel.shown;
      return { panel, title, task, state };
    });
    const line = statusLine(open, t);
    this.panel = line?.playing.panel;
    const isFree = line === undefined || CALM.includes(line.playing.state.phase);
    const work = longWorks.now;
    const run = this.runs.atWork;
    if (isFree && work !== undefined) this.tell(workLine(work, t), work.command ?? 'notifications.showList');
    else if (isFree && run !== undefined) {
      const command = { command: idOf('openRun'), title: '', arguments: [{ kind: 'run', run }] };
      this.tell(this.wordsOf(run), command);
    } else if (line === undefined) this.item.hide();
    else this.tell(line, idOf('showSession'));
  }

  private tell({ icon, text, tooltip }: StatusWords, command: string | vscode.Command): void {
    this.item.command = command;
    this.item.text = `$(${icon}) ${text}`;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip.replaceAll('\n', ' ') };
    this.item.show();
  }
}

export interface OpenSession {
  readonly title: string;
  readonly task?: Task;
  readonly state: Pick<SessionState, 'phase' | 'turn' | 'maxTurns' | 'grade'>;
}

const URGENCY: readonly OpenSession['state']['phase'][] = [
  'developer',
  'asking',
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

export function statusLine<P extends OpenSession>(
  open: readonly P[],
  t: Translate,
): (StatusWords & { readonly playing: P }) | undefined {
  const [playing, ...others] = open.toSorted((a, b) => rank(a) - rank(b));
  if (playing === undefined) return undefined;
  const { icon, words } = phaseWords(playing, t);
  const click = t('Click to show the dialogue.');
  const more = others.length === 0 ? [] : [t('{0} more open.', others.length)];
  return {
    playing,
    icon,
    text: `Tandem: ${words}`,
    tooltip: [`${playing.title}: ${words}.`, click, ...more].join('\n'),
  };
}

export function workLine({ title, message, fraction }: LongWork, t: Translate): StatusWords {
  const percent = fraction === undefined ? '' : ` · ${t('{0} %', Math.floor(100 * fraction))}`;
  const words = message === '' ? `${title}.` : `${title}: ${message}.`;
  return {
    icon: 'sync~spin',
    text: `Tandem: ${title}${percent}`,
    tooltip: [words, t('Click to show the progress.')].join('\n'),
  };
}

const rank = ({ state }: OpenSession): number => URGENCY.indexOf(state.phase);

const resultIcons = { passed: 'pass', partial: 'pie-chart', failed: 'error', ungraded: 'question' } as const;

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
      if (grade === undefined && task && isOwnFunction(task)) return { icon: 'pass', words: t('answered') };
      return {
        icon: grade?.page === undefined ? resultIcons[grade?.verdict ?? 'ungraded'] : 'browser',
        words: grade?.headline ?? t('not graded yet'),
      };
    default:
      return { icon: 'comment', words: t('your turn, {0}/{1}', turn, maxTurns) };
  }
}
