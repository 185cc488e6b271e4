import { hostname } from 'node:os';
import * as vscode from 'vscode';
import { grouped } from '../../core/text';
import type { RunHistory } from '../../core/training/history/history';
import type { ReportedState } from '../../core/training/events';
import { type Progress, fractionOf, isFinal } from '../../core/training/progress';
import type { Run } from '../../core/training/runs';
import { ago, dialogues, duration, methodTitle, methodWord } from '../words';
import type { EvaluationSetting, KeptEvaluation } from '../../core/evaluation/loop/evaluationCache';
import { isRate, type HabitChange } from '../../core/evaluation/habits';
import { measuredRunsOf, worseIn, type RunResult } from '../../core/evaluation/comparison/measuredRuns';
import type { Interval } from '../../core/evaluation/interval';

const { t } = vscode.l10n;

export const runName = ({ name, method }: Pick<Run, 'name' | 'method'>): string =>
  name === '' ? methodTitle(method, t) : name;

/** False once the trainer reported the end, even if it has not exited: nothing can be paused then. */
export const isAtWork = ({ state }: Run): boolean => state === 'running';

export const isAtWorkHere = ({ isLive, process }: Run): boolean => isLive && process?.host === hostname();

export const reportedStateWords: Readonly<Record<ReportedState, string>> = {
  preparing: t('preparing'),
  running: t('running'),
  stopping: t('pausing'),
  stopped: t('paused'),
  done: t('done'),
  failed: t('failed'),
};

export function stateWord(run: Run): string {
  const { state, request } = run;
  switch (state) {
    case 'running':
      if (request === 'finish') return t('finishing');
      return reportedStateWords[request === 'stop' ? 'stopping' : isPreparing(run) ? 'preparing' : state];
    case 'queued':
      return t('queued');
    case 'lost':
      return t('lost');
    default:
      return isUnstarted(run) ? t('not started') : reportedStateWords[state];
  }
}

/** The report may be that of an earlier trainer, which has ended. */
const isPreparing = ({ progress }: Run): boolean =>
  progress === undefined || progress.state === 'preparing' || isFinal(progress.state);

export const isUnstarted = ({ state, process }: Pick<Run, 'state' | 'process'>): boolean =>
  state === 'stopped' && process === undefined;

/** `idle` nodes have no worker of the run. */
export function nodeStateWord(state: 'works' | 'back' | 'lost' | 'idle', isLive: boolean): string {
  switch (state) {
    case 'works':
      return isLive ? t('works') : t('worked');
    case 'back':
      return t('came back');
    case 'lost':
      return t('lost');
    case 'idle':
      return t('without a worker');
  }
}

/** @param stage as the trainer names it; a later round has its number, as in `policy-2` */
export function stageWord(stage: string): string {
  const [, name = stage, round] = /^(.+?)-(\d+)$/.exec(stage) ?? [];
  const word = stageNames[name] ?? name;
  return round === undefined ? word : t('{0}, round {1}', word, round);
}

const stageNames: Readonly<Record<string, string>> = {
  prepare: t('data'),
  critic: t('critic'),
  play: t('new dialogues'),
  candidates: t('candidates'),
  ranking: t('ranking'),
  policy: t('policy'),
  export: t('export'),
};

const hostOf = ({ process }: Run): string => process?.host ?? '?';

/** For example `critic 61 %`. */
export function placeWords(progress: Progress): string {
  const stage = stageWord(progress.stage ?? 'prepare');
  const fraction = fractionOf(progress);
  return fraction === undefined ? stage : `${stage} ${t('{0} %', Math.floor(100 * fraction))}`;
}

/** For example `3 min 20 s left`, of the whole run or else of its present part. */
export function leftWords({ secondsLeft, part }: Progress): string | undefined {
  if (secondsLeft !== undefined) return t('{0} left', duration(secondsLeft, t));
  const seconds = part?.secondsLeft;
  return seconds === undefined ? undefined : t('{0} left in this stage', duration(seconds, t));
}

/**
 * Most important first: `critic 61 % · 3 min 20 s left`, `paused · policy 12 %`.
 * @param halted why the queue is halted
 * @param result of its evaluation: `22 → 48 %, +26 points`
 */
export function runStatus(run: Run, now: number, halted?: string, result?: string): string {
  const { state, request, progress, message, changedAt, death } = run;
  const word = stateWord(run);
  const place = progress === undefined ? [] : [placeWords(progress)];
  const left = progress === undefined ? [] : [leftWords(progress)].filter((words) => words !== undefined);
  switch (state) {
    case 'running':
      if (request === 'stop') return [word, t('writes a checkpoint')].join(' · ');
      if (request === 'finish') return [word, ...place].join(' · ');
      return isPreparing(run) ? word : [...place, ...left].join(' · ');
    case 'done':
      return [
        ...(result === undefined ? [word, t('not evaluated')] : [result]),
        ...endedAt(run),
        ago(changedAt, now, t),
      ].join(' · ');
    case 'failed':
      return [word, ...(message === undefined || death !== undefined ? place : [message])].join(' · ');
    case 'queued':
      return [word, ...(halted === undefined ? [] : [t('the queue is halted')]), ...place].join(' · ');
    case 'lost':
      return [
        word,
        t('it ran on {0}, last heard from {1}', hostOf(run), ago(run.silentSince ?? changedAt, now, t)),
      ].join(' · ');
    case 'stopped':
      return [word, ...place].join(' · ');
  }
}

export function endedAt({ progress }: Run): string[] {
  const ended = progress?.ended;
  return ended === undefined
    ? []
    : [t('ended at step {0} of {1}', grouped(ended.step), grouped(ended.steps))];
}

export const endedWords = ({ stage, step, steps }: NonNullable<Progress['ended']>): string =>
  t(
    'Its training was finished early, at step {0} of {1} ({2}): the best step until then is the model.',
    grouped(step),
    grouped(steps),
    stageWord(stage),
  );

export const tagWords = ({ tags = [] }: Run): string[] => tags.map((tag) => `#${tag}`);

/** Includes the state that only the icon shows. */
export function spokenRun(run: Run, now: number, halted?: string, result?: string): string {
  const words = runStatus(run, now, halted, result).split(' · ');
  const isOnlySeen = run.state === 'done' ? result !== undefined : stateWord(run) === t('running');
  const { tags = [] } = run;
  return [
    runName(run),
    ...(isOnlySeen ? [stateWord(run)] : []),
    ...words,
    ...(tags.length === 0 ? [] : [t('tags: {0}', tags.join(', '))]),
  ].join(', ');
}

/** Undefined when there is nothing to explain. */
export function reasonWords(run: Run, halted?: string): string | undefined {
  const { state, message, process, lastLines, progress, queued, death } = run;
  if (state === 'queued' && halted !== undefined)
    return t('The queue is halted and no run starts: {0} “Try again” resumes it.', halted);
  if (state === 'queued' && queued !== undefined && queued.host !== hostname())
    return t(
      'It is queued on {0} and starts when a window is open there. If that machine is gone, or is this one under another name, start it now; or remove it from the queue and resume it, to queue it here.',
      queued.host,
    );
  if (state === 'queued')
    return t(
      'Queued: one run trains at a time. The next one starts when none is training and a window is open.',
    );
  if (state === 'done' && progress?.ended !== undefined) return endedWords(progress.ended);
  if (state === 'lost')
    return t(
      'It ran on {0}. Its trainer was last heard from at {1}. If it is no longer running there, you can resume it here.',
      hostOf(run),
      `${(run.silentSince ?? run.changedAt).slice(0, 16).replace('T', ' ')} UTC`,
    );
  if (isUnstarted(run)) return t('It was prepared and never started.');
  if (death === undefined || process === undefined) return message;
  if (death === 'disk-full') {
    return t(
      'The trainer (process {0}) ended without a message, perhaps because the disk is full. Free some space, then resume the run.',
      process.pid,
    );
  }
  const reason = t(
    'The trainer (process {0}) ended without a message: it was killed, perhaps for lack of memory, or the machine restarted.',
    process.pid,
  );
  return lastLines.length === 0 ? reason : `${reason} ${t('The last lines of its log may say why.')}`;
}

/** For example `1,800 dialogues of 300 tasks`; undefined when the data are files. */
export function dataWords({ selection }: Pick<Run, 'selection'>): string | undefined {
  if (selection === undefined) return undefined;
  const { trajectories, tasks } = selection;
  const amount = dialogues(trajectories, t);
  return tasks === 1 ? t('{0} of 1 task', amount) : t('{0} of {1} tasks', amount, grouped(tasks));
}

/** Prefers the trainer's counts, which are exact. */
export function dataOf(run: Run, { data }: RunHistory): string {
  if (data === undefined) return dataWords(run) ?? '';
  const { trajectories, tasks, turns } = data;
  return t('{0} dialogues of {1} tasks, {2} turns', grouped(trajectories), grouped(tasks), grouped(turns));
}

/** For example `SWEET-RL on Qwen/Qwen2.5-1.5B-Instruct at commit 989aa79`. */
export function subjectWords({ method, role, commit }: Run, base: string): string {
  const word = methodWord(method, t);
  const trained = role === undefined ? word : t('{0} of the collaborator', word);
  return commit === undefined
    ? t('{0} on {1}', trained, base)
    : t('{0} on {1} at commit {2}', trained, base, commit.slice(0, 7));
}

export const runDetails = (run: Run, halted?: string): string[] =>
  [
    run.note,
    run.tags && tagWords(run).join(' · '),
    subjectWords(run, run.base),
    dataWords(run),
    reasonWords(run, halted),
    run.id,
  ].filter((line) => line !== undefined);

/** For the status bar. */
export function statusWords(run: Run): { icon: string; text: string; tooltip: string } {
  const words = runStatus(run, Date.now());
  return {
    icon: run.request === 'stop' ? 'debug-pause' : 'beaker',
    text: `Tandem: ${t('run, {0}', words)}`,
    tooltip: [`${runName(run)}: ${words}.`, t('Click to show the run.')].join('\n'),
  };
}

/** Equal names get the end of the run's id. */
export function namesOf(runs: readonly Run[]): string[] {
  const names = runs.map((run) => runName(run));
  return names.map((name, index) =>
    names.filter((other) => other === name).length === 1 ? name : `${name} (${runs[index]!.id.slice(-4)})`,
  );
}

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

/** A sentence for each evaluation in which success or a habit was worse than the base model's, the latest first. */
export const worseWords = (kept: readonly KeptEvaluation[]): string[] =>
  [...kept]
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .flatMap((one) => {
      const worse = worseIn(one);
      if (worse.length === 0) return [];
      const on = playWords(tasksWords(one.setting), one.setting);
      return [t('Worse than the base model on {0}: {1}.', on, worse.map(habitWords).join('; '))];
    });

const HABIT_WORDS: Readonly<Record<HabitChange['habit'], (change: string) => string>> = {
  success: (change) => t('success {0}', change),
  needlessQuestions: (change) => t('needless questions per dialogue {0}', change),
  repeatedQuestions: (change) => t('repeated questions per dialogue {0}', change),
  meanQuestions: (change) => t('questions per dialogue, without a gain in success, {0}', change),
  unaskedRate: (change) => t('answers without a question, without a gain in success, {0}', change),
  askF1: (change) => t('Ask-F1 {0}', change),
  leakRate: (change) => t('dialogues with a leak {0}', change),
  turnLimitRate: (change) => t('dialogues that exhausted their turns {0}', change),
};

function habitWords({ habit, difference, interval }: HabitChange): string {
  const by = (value: number): string =>
    isRate(habit) ? signed(value) : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
  const ends = [by(interval!.low), by(interval!.high)];
  return HABIT_WORDS[habit](
    isRate(habit)
      ? t('{0} points (95 % interval {1} to {2})', by(difference), ...ends)
      : t('{0} (95 % interval {1} to {2})', by(difference), ...ends),
  );
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
