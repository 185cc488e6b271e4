import type { Run } from '../../../core/training/runs';
import type { RunRow } from '../../../../webview/runs/protocol';
import type { Translate } from '../../translate';
import { baseName, duration, methodWord } from '../../words';
import { namesOf } from '../runNames';
import type { RunResult } from '../../../core/evaluation/comparison/latestResults';
import { isAtWork, placeWords, runStateWord } from '../words';

interface ViewOptions {
  readonly t: Translate;
  readonly language: string;
}

export function runRows(
  runs: readonly Run[],
  resultOf: (run: Run) => RunResult | undefined,
  { t, language }: ViewOptions,
): RunRow[] {
  const names = namesOf(runs, t);
  const dates = datesIn(language);
  return runs.map((run, index) => {
    const { id, state, tags = [], note = '', startedAt, selection, progress } = run;
    const seconds = secondsOf(run);
    const accuracy = progress?.heldOut?.accuracy;
    return {
      ...{ id, tags, note, state, name: names[index]! },
      stateLabel: [
        runStateWord(run, t),
        ...(isAtWork(run) && progress !== undefined ? [placeWords(progress, t)] : []),
      ].join(', '),
      ...{ method: methodWord(run.method, t), base: baseName(run) },
      ...(selection && { trajectories: selection.trajectories, tasks: selection.tasks }),
      ...figuresOf(resultOf(run), t),
      ...(accuracy != null && { pairAccuracy: accuracy }),
      ...{ started: startedAt, startedLabel: dates.format(new Date(startedAt)) },
      ...(seconds !== undefined && { seconds }),
      duration: seconds === undefined ? '' : duration(seconds, t),
    };
  });
}

function figuresOf(
  result: RunResult | undefined,
  t: Translate,
): Pick<RunRow, 'evaluatedOn' | 'success' | 'gain'> {
  if (result === undefined) return { evaluatedOn: '', success: null };
  const { setting, model, start, interval } = result;
  const { title, tasks } = setting;
  const [after, before] = [model.figures.success, start?.figures.success];
  return {
    evaluatedOn: tasks === 1 ? t('{0}, 1 task', title) : t('{0}, {1} tasks', title, tasks),
    success: after && { mean: after.mean, ...after.interval },
    ...(after !== null &&
      before != null && {
        gain: { difference: after.mean - before.mean, ...(interval != null && { interval }) },
      }),
  };
}

/** Undefined before any training. */
function secondsOf({ startedAt, changedAt, process, progress }: Run): number | undefined {
  if (process === undefined && progress === undefined) return undefined;
  return Math.max(0, Math.round((Date.parse(changedAt) - Date.parse(startedAt)) / 1000));
}

/** English dates begin with the day, as in other languages: `8 Mar 2026, 14:05`. */
const datesIn = (language: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  });
