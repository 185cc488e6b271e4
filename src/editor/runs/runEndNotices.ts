import * as vscode from 'vscode';
import { evaluatedAt } from '../../core/evaluation/loop/evaluationCache';
import { pause } from '../../core/training/pause';
import { canPlay } from '../../core/training/runFolder';
import type { Run, Runs } from '../../core/training/runs';
import { Owner } from '../background';
import { idOf, views } from '../contributions';
import type { LogLook, RunWatch } from './runWatch';
import { reasonWords, runName, stateWord } from '../run/words';

const { t } = vscode.l10n;

const REMEMBERED = 'runs.endings';
/** An unfocused window lets the others report first. */
const OTHERS_FIRST_MS = 3000;

interface Known {
  /** Time of the first look. ISO 8601, UTC. */
  readonly since: string;
  /** Ending by run id; empty for a run that had not ended. Runs that are gone may come back. */
  readonly runs: Readonly<Record<string, string>>;
}

/**
 * Reports ended runs once, in one window, also those that ended while none was open.
 * Runs that ended before a log was first seen are not reported.
 */
export class RunEndings extends Owner {
  /** By data folder. */
  private known: Readonly<Record<string, Known>>;

  constructor(
    watch: Pick<RunWatch, 'onDidLook'>,
    private readonly isInSight: (run: Run) => boolean,
    private readonly memory: vscode.Memento,
    private readonly report: (error: unknown) => void,
  ) {
    super();
    this.known = memory.get<Readonly<Record<string, Known>>>(REMEMBERED, {});
    this.owns(watch.onDidLook((look) => void this.follow(look).catch(report)));
  }

  private async follow({ runs, all }: LogLook): Promise<void> {
    const since = new Date().toISOString();
    const before = this.known[runs.dataFolder] ?? { since, runs: {} };
    const now = Object.fromEntries(all.map((run) => [run.id, endingOf(run)]));
    const after: Known = { ...before, runs: { ...before.runs, ...now } };
    if (JSON.stringify(after) === JSON.stringify(this.known[runs.dataFolder])) return;
    this.known = { ...this.known, [runs.dataFolder]: after };
    await this.memory.update(REMEMBERED, this.known);
    const news = all.filter((run) => {
      const known = before.runs[run.id];
      if (now[run.id] === '' || now[run.id] === known) return false;
      return known !== undefined || run.changedAt > before.since;
    });
    if (news.length > 0) await this.tell(runs, news);
  }

  private async tell(runs: Runs, news: readonly Run[]): Promise<void> {
    if (!vscode.window.state.focused) await pause(OTHERS_FIRST_MS);
    const { isFirstToTell } = await import('../../core/training/endNotice');
    const done: Run[] = [];
    for (const run of news) {
      // Never write into the log of an untrusted workspace.
      if (vscode.workspace.isTrusted && !(await isFirstToTell(runs, run.id, endingOf(run)))) continue;
      if (run.state !== 'done') void this.tellBadEnd(run).catch(this.report);
      else if (!this.isInSight(run)) done.push(run);
    }
    if (done.length > 0) await tellDone(done);
  }

  private async tellBadEnd(run: Run): Promise<void> {
    const { death, lastLines } = run;
    const last = lastLines.at(-1);
    const sentences = [
      t('{0}: {1}.', runName(run), stateWord(run)),
      reasonWords(run),
      death !== undefined && last !== undefined ? t('The last one: {0}', last) : undefined,
    ];
    const actions = [
      { title: t('Resume'), command: idOf('resumeRun') },
      { title: t('Show'), command: idOf('openRun') },
    ];
    const chosen = await vscode.window.showErrorMessage(
      sentences.filter((sentence) => sentence !== undefined).join(' '),
      ...actions,
    );
    if (chosen !== undefined) await vscode.commands.executeCommand(chosen.command, { kind: 'run', run });
  }
}

/**
 * Identifies the ending, because a resumed run may end again. Empty before the end, and when a person stopped it. The
 * text is remembered, so the word for a death never changes.
 */
function endingOf({ state, death, changedAt, process }: Run): string {
  const isEnd = state === 'done' || state === 'failed' || state === 'lost';
  const word = death === undefined ? state : 'died';
  return isEnd ? [word, changedAt, process?.pid ?? 'no trainer'].join(' ') : '';
}

async function tellDone(done: readonly Run[]): Promise<void> {
  const [first, ...others] = done;
  const names = done.map((run) => runName(run));
  const sentence =
    others.length === 0
      ? t('{0} is done.', names[0]!)
      : t('{0} runs are done: {1}.', done.length, names.join(', '));
  const show = t('Show');
  const evaluate = t('Evaluate…');
  const mayEvaluate =
    others.length === 0 &&
    canPlay(first!) &&
    first!.role === undefined &&
    (await evaluatedAt(first!.folder)) === undefined;
  const chosen = await vscode.window.showInformationMessage(
    sentence,
    ...(mayEvaluate ? [evaluate, show] : [show]),
  );
  if (chosen === undefined) return;
  if (others.length > 0) await vscode.commands.executeCommand(`${views.runs}.focus`);
  else
    await vscode.commands.executeCommand(idOf(chosen === show ? 'openRun' : 'evaluateRuns'), {
      kind: 'run',
      run: first,
    });
}
