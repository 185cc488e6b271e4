import * as vscode from 'vscode';
import { runsOf, type Run } from '../../core/training/runs';
import type { EditorTrainer } from '../trainer';
import type { RunQueue } from './queue';
import type { RunWatch } from './runWatch';
import { isAtWorkHere, runName, reasonWords, stageWord } from '../run/words';
import type { Plan } from '../../core/training/checks';
import type { Trainer } from '../../core/training/trainer';
import { cancellable } from '../progress';
import { Fault } from '../../core/fault';
import { diskUse, modelOf, KEPT_GB } from '../../core/training/runFolder';
import type { Engine } from '../engine';
import { inUse, rolesOf } from '../roles';
import { endOfPolicy } from '../../core/training/progress';
import { grouped } from '../../core/text';
import { bytesWords } from '../words';

const { t } = vscode.l10n;

export class RunControl {
  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly queue: RunQueue,
  ) {}

  /** Finishes the micro-batch and writes a checkpoint. Resolves when the trainer is gone. */
  async pause(run: Run): Promise<void> {
    const { stopRun } = await import('../../core/training/lifecycle');
    const stopping = stopRun(runsOf(run), run.id);
    void this.watch.look();
    await stopping;
    await this.watch.look();
  }

  /** Ends the policy after the present step and writes the model. Resolves when the trainer is gone. */
  async finish(run: Run): Promise<void> {
    const { question, detail } = finishWords(run);
    if (!(await confirmed(question, detail, t('Finish Now')))) return;
    const { finishRun } = await import('../../core/training/lifecycle');
    const finishing = finishRun(runsOf(run), run.id);
    void this.watch.look();
    await finishing;
    await this.watch.look();
  }

  /** Loses training since the last checkpoint. */
  async kill(run: Run): Promise<void> {
    const question = t('Stop “{0}” immediately?', runName(run));
    const detail = t(
      'Progress since its last checkpoint is lost and has to be repeated when it is resumed. “Pause Run” writes a checkpoint first.',
    );
    if (!(await confirmed(question, detail, t('Stop Immediately')))) return;
    const { stopRun } = await import('../../core/training/lifecycle');
    await stopRun(runsOf(run), run.id, { atOnce: true });
    await this.watch.look();
  }

  /** Waits in the queue while another run is at work. */
  async resume(run: Run): Promise<void> {
    if (run.state === 'lost' && !(await mayTakeOver(run))) return;
    const trainer = await this.trainer.openVisibly(t('Resuming {0}', runName(run)));
    if (trainer === undefined) return;
    await this.queue.add(run, trainer, { takeOver: run.state === 'lost' });
  }

  /** @returns undefined when the person cancelled */
  async continue(run: Run): Promise<Run | undefined> {
    const { prompt, refusal, least } = moreEpochsWords(run);
    const text = await vscode.window.showInputBox({
      title: t('Continue {0}', runName(run)),
      prompt,
      value: least,
      validateInput: (written) => (epochsOf(written, least) === undefined ? refusal : undefined),
    });
    const epochs = epochsOf(text ?? '', least);
    if (epochs === undefined) return undefined;
    const trainer = await this.trainer.openVisibly(t('Continuing {0}', runName(run)));
    if (trainer === undefined) return undefined;
    const { continueRun } = await import('../../core/training/continue');
    const name = t('{0}, continued', runName(run));
    const made = await continueRun(runsOf(run), run.id, { epochs, name });
    await this.queue.begin(trainer);
    return runsOf(run).read(made.id);
  }

  /** Beside a run at work, it asks with the memory that this takes. */
  async startNow(run: Run): Promise<void> {
    const trainer = await this.trainer.openVisibly(t('Starting {0}', runName(run)));
    if (trainer === undefined) return;
    await this.watch.look();
    const others = this.watch.everywhere.all.filter((one) => one.id !== run.id && isAtWorkHere(one));
    if (others.length > 0 && !(await mayStartBeside(run, others, trainer))) return;
    const { resumeRun } = await import('../../core/training/lifecycle');
    await resumeRun(runsOf(run), run.id, trainer, { prompts: this.trainer.prompts });
    await this.watch.look();
  }

  async unqueue(run: Run): Promise<void> {
    const { unqueueRun } = await import('../../core/training/lifecycle');
    await unqueueRun(runsOf(run), run.id);
    await this.watch.look();
  }
}

async function confirmed(question: string, detail: string, button: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, button)) === button;
}

/** The trainer on the other machine cannot be asked from here. */
function mayTakeOver(run: Run): Promise<boolean> {
  const detail = `${reasonWords(run)} ${t('Two trainers that write to one run corrupt it: make sure that none is running there.')}`;
  return confirmed(t('Resume “{0}” on this machine?', runName(run)), detail, t('Resume'));
}

/** @param least "0" where zero is valid */
function epochsOf(text: string, least: MoreEpochsWords['least']): number | undefined {
  const epochs = Number(text);
  const isEnough = epochs > 0 || (epochs === 0 && least === '0');
  return text.trim() !== '' && isEnough && epochs <= 1000 ? epochs : undefined;
}

/** The plan is not cached, because it depends on the free memory. */
async function mayStartBeside(run: Run, others: readonly Run[], trainer: Trainer): Promise<boolean> {
  const plan = await cancellable(t('Starting {0}', runName(run)), async (signal, report) => {
    report(t('checking whether memory is sufficient'));
    const { planOf } = await import('../../core/training/checks');
    return planOf(trainer, run.folder, runName(run), signal);
  });
  if (plan === undefined) return false;
  const { question, detail } = besideWords(run, others, plan);
  return confirmed(question, detail, t('Start Now'));
}

/**
 * Asks first, with the disk space that the runs take.
 * @param onGone called for each run when its folder is gone
 * @throws {Fault} `training/running`, `training/lost`, `editor/model-in-use`: then all of them stay
 */
export async function deleteRuns(
  runs: readonly Run[],
  engine: Engine,
  onGone: (run: Run) => void,
): Promise<void> {
  if (runs.length === 0) return;
  refuseLive(runs);
  for (const run of runs) refusePlaying(run, engine);
  const canTrash = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  const sizes = await Promise.all(runs.map(({ folder }) => diskUse(folder)));
  const { question, detail } = deletionWords(runs, sizes, canTrash);
  if (!(await confirmed(question, detail, t('Delete')))) return;
  const { removeRun } = await import('../../core/training/lifecycle');
  for (const run of runs) {
    await removeRun(
      runsOf(run),
      run.id,
      (folder) =>
        vscode.workspace.fs.delete(vscode.Uri.file(folder), { recursive: true, useTrash: canTrash }),
      { takeOver: run.state === 'lost' },
    );
    onGone(run);
  }
}

function refuseLive(runs: readonly Run[]): void {
  const live = runs.filter(({ isLive }) => isLive).map((run) => `“${runName(run)}”`);
  if (live.length === 0) return;
  throw new Fault(
    'training/running',
    t('Nothing is deleted, because this is running: {0}. Pause it first, or deselect it.', live.join(', ')),
  );
}

/** A model in use would be gone in the middle of a dialogue. */
function refusePlaying(run: Run, { playing, localPlaces, configuration }: Engine): void {
  const model = modelOf(run);
  if (!playing.includes(model)) return;
  const spec = localPlaces.find((place) => place.folder === model)?.spec ?? '';
  const [role = 'agent'] = rolesOf(spec, configuration);
  throw new Fault('editor/model-in-use', inUse(runName(run), role, t));
}

interface Confirmation {
  readonly question: string;
  readonly detail: string;
}

/** A dialog is at most as high as the screen; further runs are only counted. */
const MAX_NAMED = 10;

/** @param bytes disk space of each run */
export function deletionWords(
  runs: readonly Run[],
  bytes: readonly number[],
  canTrash: boolean,
): Confirmation {
  const sized = runs.map((run, index) => `${runName(run)} (${bytesWords(bytes[index]!, t)})`);
  const lost = runs
    .filter(({ state }) => state === 'lost')
    .map((run) => `${runName(run)}: ${reasonWords(run)}`);
  const what = canTrash
    ? t('Checkpoints, models and logs go to the trash.')
    : t('Checkpoints, models and logs are deleted permanently. The dialogues of the training stay.');
  if (runs.length === 1)
    return {
      question: t('Delete the run {0}?', sized[0]!),
      detail: [what, runs[0]!.folder, ...lost].join('\n\n'),
    };
  const total = bytes.reduce((sum, one) => sum + one, 0);
  const more = runs.length - MAX_NAMED;
  return {
    question: t('Delete {0} runs ({1})?', runs.length, bytesWords(total, t)),
    detail: [
      what,
      ...lost,
      '',
      ...sized.slice(0, MAX_NAMED),
      ...(more > 0 ? [t('{0} more', more)] : []),
    ].join('\n'),
  };
}

function finishWords(run: Run): Confirmation {
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

interface MoreEpochsWords {
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
  return {
    prompt: t(
      'It ended early, at step {0} of {1}. The remaining steps are trained first, then this many more epochs of its policy; 0 means none. This creates a new run; this one stays.',
      grouped(end.step),
      grouped(end.steps),
    ),
    refusal: t('Enter a number from 0 to 1000.'),
    least: '0',
  };
}

/** @param plan of the run, made while the others are at work */
function besideWords(run: Run, others: readonly Run[], { needed, fits, machine }: Plan): Confirmation {
  const { usable, processes } = machine;
  const need = bytesWords(needed, t);
  const memory = [
    processes === 1
      ? t('It needs about {0} of memory.', need)
      : t('It needs about {0} of memory for each of {1} processes.', need, processes),
    ...(usable === null ? [] : [t('Free for each: {0}.', bytesWords(usable, t))]),
    fits && usable !== null
      ? t('They share the machine, so each gets slower.')
      : t('When memory runs out, one of them stops. It can be resumed from its last checkpoint.'),
  ];
  return {
    question:
      others.length === 1
        ? t('Start “{0}” while “{1}” is running?', runName(run), runName(others[0]!))
        : t('Start “{0}” while {1} other runs are running?', runName(run), others.length),
    detail: memory.join(' '),
  };
}
