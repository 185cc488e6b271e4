import * as vscode from 'vscode';
import type { Plan } from '../../core/training/checks';
import { endOfPolicy } from '../../core/training/progress';
import { KEPT_GB } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { grouped } from '../../core/text';
import { bytesWords } from '../words';
import { reasonWords, runName, stageWord } from '../run/words';

const { t } = vscode.l10n;

/** A dialog is at most as high as the screen; further runs are only counted. */
const MAX_NAMED = 10;

export function takeOverWords(run: Run): { readonly question: string; readonly detail: string } {
  return {
    question: t('Resume “{0}” on this machine?', runName(run)),
    detail: `${reasonWords(run)} ${t('Two trainers that write to one run corrupt it: make sure that none is running there.')}`,
  };
}

/** @param bytes disk space of each run */
export function deletionWords(
  runs: readonly Run[],
  bytes: readonly number[],
  canTrash: boolean,
): { readonly question: string; readonly detail: string } {
  const size = (index: number): string => bytesWords(bytes[index]!, t);
  const lost = runs.filter(({ state }) => state === 'lost').map((run) => lostWords(run));
  const [first] = runs;
  if (runs.length === 1) {
    const { folder } = first!;
    return {
      question: t('Delete the run “{0}” ({1})?', runName(first!), size(0)),
      detail: [
        canTrash
          ? t('Its checkpoints, its models and its log go to the trash: {0}', folder)
          : t(
              'Its checkpoints, its models and its log are deleted permanently: {0}. The dialogues that it was trained on stay.',
              folder,
            ),
        ...lost,
      ].join('\n\n'),
    };
  }
  const total = bytes.reduce((sum, one) => sum + one, 0);
  const named = runs.slice(0, MAX_NAMED).map((run, index) => `${runName(run)} (${size(index)})`);
  const more = runs.length - named.length;
  const what = canTrash
    ? t('Their checkpoints, their models and their logs go to the trash.')
    : t(
        'Their checkpoints, their models and their logs are deleted permanently. The dialogues that they were trained on stay.',
      );
  return {
    question: t('Delete {0} runs ({1})?', runs.length, bytesWords(total, t)),
    detail: [what, ...lost, '', ...named, ...(more > 0 ? [t('{0} more', more)] : [])].join('\n'),
  };
}

const lostWords = (run: Run): string => `${runName(run)}: ${reasonWords(run)}`;

/** @param selected number of runs that were to be deleted */
export function liveWords(live: readonly Run[], selected: number): string {
  const names = live.map((run) => `“${runName(run)}”`).join(', ');
  if (selected === 1) return t('{0} is running. Pause it first, then delete it.', runName(live[0]!));
  return live.length === 1
    ? t('Nothing is deleted: {0} is running. Pause it first, or remove it from the selection.', names)
    : t('Nothing is deleted: {0} are running. Pause them first, or remove them from the selection.', names);
}

export function finishWords(run: Run): { readonly question: string; readonly detail: string } {
  const { stage = 'policy', step = 0, steps = step } = run.progress ?? {};
  return {
    question: t('Finish “{0}” now?', runName(run)),
    detail: t(
      'It has made {0} of {1} steps ({2}) and ends after the current one. The best step on held-out examples becomes the model. “Continue Run with More Epochs…” can train the rest later, in a new run, unless its checkpoints take more than {3} GB.',
      grouped(step),
      grouped(steps),
      stageWord(stage),
      KEPT_GB,
    ),
  };
}

export interface MoreEpochsWords {
  readonly prompt: string;
  readonly refusal: string;
  /** Suggested number of epochs; a policy that ended early may need none beyond its remaining steps. */
  readonly least: '0' | '1';
}

export function moreEpochsWords({ progress }: Pick<Run, 'progress'>): MoreEpochsWords {
  const end = progress && endOfPolicy(progress);
  if (end === undefined) {
    return {
      prompt: t(
        'More epochs of its policy, at its final learning rate. This creates a new run; this one stays.',
      ),
      refusal: t('Enter a number above 0 and up to 1000.'),
      least: '1',
    };
  }
  const [step, steps] = [grouped(end.step), grouped(end.steps)];
  return {
    prompt: end.isAsked
      ? t(
          'It was ended at step {0} of {1}. The remaining steps are trained first, then this many more epochs of its policy; 0 means none. This creates a new run; this one stays.',
          step,
          steps,
        )
      : t(
          'It ended early, at step {0} of {1}, because it got no better on held-out examples. The remaining steps are trained first, then this many more epochs of its policy; 0 means none. This creates a new run; this one stays.',
          step,
          steps,
        ),
    refusal: t('Enter a number from 0 to 1000.'),
    least: '0',
  };
}

type MemoryPlan = Pick<Plan, 'needed' | 'fits'> & {
  readonly machine: Pick<Plan['machine'], 'usable' | 'processes'>;
};

/** @param plan of the run, made while the others are at work */
export function besideWords(
  run: Run,
  others: readonly Run[],
  plan: MemoryPlan,
): { readonly question: string; readonly detail: string } {
  const [other, ...more] = others.map((one) => runName(one));
  const outcome =
    plan.fits && plan.machine.usable !== null
      ? t('They share the machine, so each gets slower.')
      : t('When memory runs out, one of them stops. It can be resumed from its last checkpoint.');
  return {
    question:
      more.length === 0
        ? t('Start “{0}” while “{1}” is running?', runName(run), other!)
        : t('Start “{0}” while {1} other runs are running?', runName(run), others.length),
    detail: `${memoryWords(plan)} ${outcome}`,
  };
}

function memoryWords({ needed, fits, machine: { usable, processes } }: MemoryPlan): string {
  const need = bytesWords(needed, t);
  const free = usable === null ? undefined : bytesWords(usable, t);
  if (processes === 1) {
    if (free === undefined) return t('It needs about {0} of memory.', need);
    return fits
      ? t('It needs about {0} of memory, and {1} are free.', need, free)
      : t('It needs about {0} of memory, and only {1} are free.', need, free);
  }
  if (free === undefined)
    return t('It needs about {0} of memory for each of {1} processes.', need, processes);
  return fits
    ? t(
        'It needs about {0} of memory for each of {1} processes, and {2} are free for each.',
        need,
        processes,
        free,
      )
    : t(
        'It needs about {0} of memory for each of {1} processes, and only {2} are free for each.',
        need,
        processes,
        free,
      );
}
