import * as vscode from 'vscode';
import type { EvaluationSetting, KeptEvaluation } from '../../core/evaluation/loop/evaluationCache';
import { measuredRunsOf } from '../../core/evaluation/comparison/measuredRuns';
import { grouped } from '../../core/text';
import type { Interval } from '../../core/evaluation/interval';
import type { RunResult } from '../../core/evaluation/comparison/latestResults';

const { t } = vscode.l10n;

export function measuredWords(kept: readonly KeptEvaluation[]): string {
  const [latest] = measuredRunsOf([kept]);
  const measured = latest?.rows.find(({ run }) => run !== undefined);
  const after = measured?.figures.success;
  if (latest === undefined || after == null) return t('Not evaluated yet.');
  const tasks = grouped(latest.setting.tasks);
  const played = (words: string): string => playWords(words, latest.setting);
  const before = latest.rows.find(({ run }) => run === undefined)?.figures.success;
  if (before == null)
    return t('{0}.', played(t('Success {0} % on {1} held-out tasks', whole(after.mean), tasks)));
  const { interval = null } = measured?.againstStart?.success ?? {};
  return changeWords(before.mean, after.mean, { setting: latest.setting, interval });
}

export const tasksWords = ({ title, tasks }: EvaluationSetting): string =>
  tasks === 1 ? t('{0}, 1 task', title) : t('{0}, {1} tasks', title, tasks);

/** The same words for a run and for a lesson. `interval`: 95 %, of the gain as a fraction. */
export function changeWords(
  before: number,
  after: number,
  { setting, interval }: { readonly setting: Played; readonly interval: Interval | null },
): string {
  const [from, to, tasks] = [whole(before), whole(after), grouped(setting.tasks)];
  const change = playWords(t('Success {0} % → {1} % on {2} held-out tasks', from, to, tasks), setting);
  if (interval === null) return t('{0}.', change);
  const range = t('{0} to {1}', signed(interval.low), signed(interval.high));
  const by = pointsBetween(before, after);
  return t('{0}, {1} points vs. the base model (95 % interval {2}).', change, by, range);
}

type Played = Pick<KeptEvaluation['setting'], 'tasks' | 'temperature'>;

/** Returns for example `22 → 48 %, +26 points (+18 to +34)`; too few tasks give no 95 % interval. */
export function resultInShort({ setting, model, start, interval }: RunResult): string | undefined {
  const after = model.figures.success;
  if (after === null) return undefined;
  const before = start?.figures.success ?? null;
  if (before === null) return playWords(t('{0} % success', whole(after.mean)), setting);
  const points = pointsBetween(before.mean, after.mean);
  const change = t('{0} → {1} %, {2} points', whole(before.mean), whole(after.mean), points);
  return playWords(
    interval == null ? change : t('{0} ({1} to {2})', change, signed(interval.low), signed(interval.high)),
    setting,
  );
}

/** Success in greedy play is another number than that of sampled play, which a lesson reports. */
const playWords = (words: string, { temperature }: Pick<Played, 'temperature'>): string =>
  temperature === 0 ? t('{0}, greedy', words) : words;

/** Difference of the two rounded percentages, so that the three numbers add up. */
const pointsBetween = (before: number, after: number): string =>
  signed((Math.round(100 * after) - Math.round(100 * before)) / 100);

const whole = (fraction: number): string => (100 * fraction).toFixed(0);

/** Percentage points of a difference between fractions: `+17` or `−3`. */
function signed(difference: number): string {
  const points = whole(Math.abs(difference));
  return points === '0' ? '0' : `${difference < 0 ? '−' : '+'}${points}`;
}
