import { hostname } from 'node:os';
import type { Progress } from '../../core/training/progress';
import { fractionOf, isFinal } from '../../core/training/progress';
import type { Run, RunState } from '../../core/training/runs';
import { ago } from '../trajectories/words';
import type { Translate } from '../translate';

/** What a run is called: by its configuration, else by what it does. */
export const runName = ({ name, method }: Pick<Run, 'name' | 'method'>, t: Translate): string =>
  name === '' ? methodWord(method, t) : name;

export function methodWord(method: string, t: Translate): string {
  switch (method) {
    case 'sweet-rl':
      return 'SWEET-RL';
    case 'rft':
      return t('rejection fine-tuning');
    case 'multiturn-dpo':
      return t('multi-turn DPO');
    default:
      return method;
  }
}

/** The last part of the base model's folder or name. */
export const baseName = ({ base }: Pick<Run, 'base'>): string =>
  base.split(/[\\/]/).findLast((part) => part !== '') ?? base;

/** A trainer that has said its last word may take a moment to end: there is nothing to pause any more. */
export const isAtWork = ({ isLive, state }: Run): boolean => isLive && !isFinal(state);

/** A trainer of this machine is at work on it. */
export const isAtWorkHere = ({ isLive, process }: Run): boolean => isLive && process?.host === hostname();

export function stateWord(state: RunState, t: Translate): string {
  switch (state) {
    case 'preparing':
      return t('preparing');
    case 'running':
      return t('running');
    case 'stopping':
      return t('pausing');
    case 'finishing':
      return t('finishing');
    case 'stopped':
      return t('paused');
    case 'queued':
      return t('queued');
    case 'done':
      return t('done');
    case 'failed':
      return t('failed');
    case 'died':
      return t('died');
    case 'lost':
      return t('lost');
  }
}

/** @param stage as the trainer calls it; of a later round with its number: `policy-2` */
export function stageWord(stage: string, t: Translate): string {
  const [, name = stage, round] = /^(.+?)-(\d+)$/.exec(stage) ?? [];
  const word = nameOfStage(name, t);
  return round === undefined ? word : t('{0}, round {1}', word, round);
}

function nameOfStage(stage: string, t: Translate): string {
  switch (stage) {
    case 'prepare':
      return t('data');
    case 'critic':
      return t('critic');
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

/** `40 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(exact: number, t: Translate): string {
  const seconds = Math.round(exact);
  if (seconds < 60) return t('{0} s', seconds);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? t('{0} min {1} s', minutes, seconds % 60)
    : t('{0} h {1} min', Math.floor(minutes / 60), minutes % 60);
}

export const percent = (fraction: number, t: Translate): string => t('{0} %', Math.floor(100 * fraction));

/** The machine that a run was on. */
const hostOf = ({ process }: Run): string => process?.host ?? '?';

/** `2026-11-20 22:00 UTC`. @param at ISO 8601, UTC */
const momentWords = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;

/** `critic 61 %`. */
export function placeWords(progress: Progress, t: Translate): string {
  const stage = stageWord(progress.stage ?? 'prepare', t);
  const fraction = fractionOf(progress);
  return fraction === undefined ? stage : `${stage} ${percent(fraction, t)}`;
}

/** `3 min 20 s left`, of the whole run or of the part that is told. */
export function leftWords({ secondsLeft, part }: Progress, t: Translate): string | undefined {
  const seconds = secondsLeft ?? part?.secondsLeft;
  return seconds === undefined ? undefined : t('{0} left', duration(seconds, t));
}

/**
 * Behind a run's name, what matters most first: `critic 61 % · 3 min 20 s left`, `paused · policy 12 %`.
 * @param halted why no run that waits begins
 * @param result of its evaluation: `22 → 48 %, +26 points`
 */
export function standingWords(run: Run, now: number, t: Translate, halted?: string, result?: string): string {
  const { state, progress, message, changedAt } = run;
  const place = progress === undefined ? [] : [placeWords(progress, t)];
  const left = progress === undefined ? [] : [leftWords(progress, t)].filter((words) => words !== undefined);
  switch (state) {
    case 'running':
      return [...place, ...left].join(' · ');
    case 'preparing':
      return stateWord(state, t);
    case 'stopping':
      return [stateWord(state, t), t('writes a checkpoint')].join(' · ');
    case 'finishing':
      return [stateWord(state, t), ...place].join(' · ');
    case 'done':
      return [
        ...(result === undefined ? [stateWord(state, t), ...accuracyWords(run, t)] : [result]),
        ...endedAt(run, t),
        ago(changedAt, now, t),
      ].join(' · ');
    case 'failed':
      return [stateWord(state, t), ...(message === undefined ? place : [message])].join(' · ');
    case 'queued':
      return [
        stateWord(state, t),
        ...(halted === undefined ? [] : [t('the queue is halted')]),
        ...place,
      ].join(' · ');
    case 'lost':
      return [
        stateWord(state, t),
        t('it ran on {0}, last heard from {1}', hostOf(run), ago(run.silentSince ?? changedAt, now, t)),
      ].join(' · ');
    case 'stopped':
    case 'died':
      return [stateWord(state, t), ...place].join(' · ');
  }
}

/** What the trainer last saw on held-out pairs, where it looked. */
function accuracyWords({ progress }: Run, t: Translate): string[] {
  const accuracy = progress?.heldOut?.accuracy;
  return accuracy == null ? [] : [t('held-out pair accuracy {0} %', Math.round(100 * accuracy))];
}

/** Of a run that was finished early: where. */
export function endedAt({ progress }: Run, t: Translate): string[] {
  const ended = progress?.ended;
  return ended === undefined
    ? []
    : [t('ended at step {0} of {1}', grouped(ended.step), grouped(ended.steps))];
}

/** Of a run that is done, whose policy was ended by request. */
export const endedWords = ({ stage, step, steps }: NonNullable<Progress['ended']>, t: Translate): string =>
  t(
    'Its training was finished early, at step {0} of {1} ({2}): the best step until then is the model.',
    grouped(step),
    grouped(steps),
    stageWord(stage, t),
  );

/** The same to be heard: with the state that only the icon tells while it runs. */
export function spokenRun(run: Run, now: number, t: Translate, halted?: string, result?: string): string {
  const words = standingWords(run, now, t, halted, result).split(' · ');
  const isOnlySeen = run.state === 'running' || (run.state === 'done' && result !== undefined);
  return [runName(run, t), ...(isOnlySeen ? [stateWord(run.state, t)] : []), ...words].join(', ');
}

/**
 * Why a run is not at work any more; undefined when there is nothing to explain.
 * @param halted why no run that waits begins
 */
export function reasonWords(run: Run, t: Translate, halted?: string): string | undefined {
  const { state, message, process, lastLines, progress, queued } = run;
  if (state === 'queued' && halted !== undefined)
    return t('The queue is halted and no run starts: {0} “Try again” resumes it.', halted);
  if (state === 'queued' && queued !== undefined && queued.host !== hostname())
    return t(
      'It is queued on {0} and starts when a window is open there. If that is this machine under another name, or no longer exists, start it now, or remove it from the queue and resume it: then it is queued here.',
      queued.host,
    );
  if (state === 'queued')
    return t(
      'It is queued: one run trains at a time. The next one starts when none is training and a window is open.',
    );
  if (state === 'done' && progress?.ended !== undefined) return endedWords(progress.ended, t);
  if (state === 'lost')
    return t(
      'It ran on {0}. Its trainer was last heard from at {1}. If it is no longer running there, you can resume it here.',
      hostOf(run),
      momentWords(run.silentSince ?? run.changedAt),
    );
  if (state === 'stopped' && process === undefined) return t('It was prepared and never started.');
  if (state !== 'died' || process === undefined) return message;
  if (run.isDiskFull === true) {
    return t(
      'Its trainer (process {0}) ended without a message. The disk is full, which may be why: free some space, then resume it.',
      process.pid,
    );
  }
  const death = t(
    'Its trainer (process {0}) ended without a message: it was killed, perhaps because memory ran out, or the machine was restarted.',
    process.pid,
  );
  return lastLines.length === 0 ? death : `${death} ${t('The last lines of its log may say why.')}`;
}

/** `1,800 trajectories of 300 tasks`; undefined when its data are files. */
export function dataWords({ selection }: Pick<Run, 'selection'>, t: Translate): string | undefined {
  if (selection === undefined) return undefined;
  const { trajectories, tasks } = selection;
  const amount = trajectories === 1 ? t('1 trajectory') : t('{0} trajectories', grouped(trajectories));
  return tasks === 1 ? t('{0} of 1 task', amount) : t('{0} of {1} tasks', amount, grouped(tasks));
}

/** `SWEET-RL on Qwen/Qwen2.5-1.5B-Instruct at commit 989aa79`. @param base what its model is called there */
export function subjectWords({ method, commit }: Run, base: string, t: Translate): string {
  return commit === undefined
    ? t('{0} on {1}', methodWord(method, t), base)
    : t('{0} on {1} at commit {2}', methodWord(method, t), base, commit.slice(0, 7));
}

/** The lines of a run's hover. */
export function runDetails(run: Run, t: Translate, halted?: string): string[] {
  const data = dataWords(run, t);
  const reason = reasonWords(run, t, halted);
  return [
    subjectWords(run, run.base, t),
    ...(data === undefined ? [] : [data]),
    ...(reason === undefined ? [] : [reason]),
    run.id,
  ];
}

/** What the status bar says of a run. */
export function statusWords(run: Run, t: Translate): { icon: string; text: string; tooltip: string } {
  const words = standingWords(run, Date.now(), t);
  return {
    icon: run.state === 'stopping' ? 'debug-pause' : 'beaker',
    text: `Tandem: ${words}`,
    tooltip: [`${runName(run, t)}: ${words}.`, t('Click to show the run.')].join('\n'),
  };
}

/** `7.2 MB`. */
export function bytesWords(bytes: number, t: Translate): string {
  if (bytes < 1e9) return t('{0} MB', (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0));
  return t('{0} GB', (bytes / 1e9).toFixed(1));
}

export const grouped = (number: number): string => Math.round(number).toLocaleString('en');
