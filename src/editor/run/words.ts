import { hostname } from 'node:os';
import * as vscode from 'vscode';
import { grouped } from '../../core/text';
import type { RunHistory } from '../../core/training/history/history';
import type { ReportedState } from '../../core/training/events';
import { type Progress, fractionOf, isFinal } from '../../core/training/progress';
import type { Run } from '../../core/training/runs';
import { ago, duration, methodTitle, methodWord } from '../words';

const { t } = vscode.l10n;

export const runName = ({ name, method }: Pick<Run, 'name' | 'method'>): string =>
  name === '' ? methodTitle(method, t) : name;

/** False once the trainer reported the end, even if it has not exited: nothing can be paused then. */
export const isAtWork = ({ state }: Run): boolean => state === 'running';

export const isAtWorkHere = ({ isLive, process }: Run): boolean => isLive && process?.host === hostname();

export function reportedStateWord(state: ReportedState): string {
  switch (state) {
    case 'preparing':
      return t('preparing');
    case 'running':
      return t('running');
    case 'stopping':
      return t('pausing');
    case 'stopped':
      return t('paused');
    case 'done':
      return t('done');
    case 'failed':
      return t('failed');
  }
}

export function stateWord(run: Run): string {
  const { state, request } = run;
  switch (state) {
    case 'running':
      if (request === 'finish') return t('finishing');
      return reportedStateWord(request === 'stop' ? 'stopping' : isPreparing(run) ? 'preparing' : state);
    case 'queued':
      return t('queued');
    case 'lost':
      return t('lost');
    default:
      return isUnstarted(run) ? t('not started') : reportedStateWord(state);
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
  const word = nameOfStage(name);
  return round === undefined ? word : t('{0}, round {1}', word, round);
}

function nameOfStage(stage: string): string {
  switch (stage) {
    case 'prepare':
      return t('data');
    case 'critic':
      return t('critic');
    case 'play':
      return t('new dialogues');
    case 'candidates':
      return t('candidates');
    case 'ranking':
      return t('ranking');
    case 'policy':
      return t('policy');
    case 'export':
      return t('export');
    default:
      return stage;
  }
}

export const percent = (fraction: number): string => t('{0} %', Math.floor(100 * fraction));

const hostOf = ({ process }: Run): string => process?.host ?? '?';

/** @param at ISO 8601, UTC */
const momentWords = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;

/** For example `critic 61 %`. */
export function placeWords(progress: Progress): string {
  const stage = stageWord(progress.stage ?? 'prepare');
  const fraction = fractionOf(progress);
  return fraction === undefined ? stage : `${stage} ${percent(fraction)}`;
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
      momentWords(run.silentSince ?? run.changedAt),
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
  const amount = trajectories === 1 ? t('1 dialogue') : t('{0} dialogues', grouped(trajectories));
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

export function runDetails(run: Run, halted?: string): string[] {
  const data = dataWords(run);
  const reason = reasonWords(run, halted);
  return [
    ...(run.note === undefined ? [] : [run.note]),
    ...(run.tags === undefined ? [] : [tagWords(run).join(' · ')]),
    subjectWords(run, run.base),
    ...(data === undefined ? [] : [data]),
    ...(reason === undefined ? [] : [reason]),
    run.id,
  ];
}

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
