import * as vscode from 'vscode';
import { runsOf, type Run } from '../../core/training/runs';
import type { EditorTrainer } from '../trainer';
import {
  finishWords,
  moreEpochsWords,
  takeOverWords,
  type MoreEpochsWords,
  besideWords,
  deletionWords,
  liveWords,
} from './confirmations';
import type { RunQueue } from './queue';
import type { RunWatch } from './runWatch';
import { isAtWorkHere, runName } from '../run/words';
import type { Plan } from '../../core/training/checks';
import type { Trainer } from '../../core/training/trainer';
import { cancellable } from '../progress';
import { Fault } from '../../core/fault';
import { diskUse, modelOf } from '../../core/training/runFolder';
import type { Engine } from '../engine';
import { inUse, rolesOf } from '../roles';

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
    const finish = t('Finish Now');
    const { question, detail } = finishWords(run);
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, finish);
    if (chosen !== finish) return;
    const { finishRun } = await import('../../core/training/finish');
    const finishing = finishRun(runsOf(run), run.id);
    void this.watch.look();
    await finishing;
    await this.watch.look();
  }

  /** Loses training since the last checkpoint. */
  async kill(run: Run): Promise<void> {
    const stop = t('Stop Immediately');
    const chosen = await vscode.window.showWarningMessage(
      t('Stop “{0}” immediately?', runName(run)),
      {
        modal: true,
        detail: t(
          'Progress since its last checkpoint is lost and has to be repeated when it is resumed. “Pause Run” writes a checkpoint first.',
        ),
      },
      stop,
    );
    if (chosen !== stop) return;
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

/** The trainer on the other machine cannot be asked from here. */
async function mayTakeOver(run: Run): Promise<boolean> {
  const resume = t('Resume');
  const { question, detail } = takeOverWords(run);
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, resume)) === resume;
}

/** @param least "0" where zero is valid */
function epochsOf(text: string, least: MoreEpochsWords['least']): number | undefined {
  const epochs = Number(text);
  const isEnough = epochs > 0 || (epochs === 0 && least === '0');
  return text.trim() !== '' && isEnough && epochs <= 1000 ? epochs : undefined;
}

async function mayStartBeside(run: Run, others: readonly Run[], trainer: Trainer): Promise<boolean> {
  const plan = await planBeside(run, trainer);
  if (plan === undefined) return false;
  const start = t('Start Now');
  const { question, detail } = besideWords(run, others, plan);
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, start)) === start;
}

/** Not cached, because it depends on the free memory. */
function planBeside(run: Run, trainer: Trainer): Promise<Plan | undefined> {
  return cancellable(t('Starting {0}', runName(run)), async (signal, report) => {
    report(t('checking whether memory is sufficient'));
    const { planOf } = await import('../../core/training/checks');
    return planOf(trainer, run.folder, runName(run), signal);
  });
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
  const remove = t('Delete');
  const { question, detail } = deletionWords(runs, await sizesOf(runs), canTrash);
  const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, remove);
  if (chosen !== remove) return;
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

const sizesOf = (runs: readonly Run[]): Promise<number[]> =>
  Promise.all(runs.map(({ folder }) => diskUse(folder)));

function refuseLive(runs: readonly Run[]): void {
  const live = runs.filter(({ isLive }) => isLive);
  if (live.length === 0) return;
  throw new Fault('training/running', liveWords(live, runs.length));
}

/** A model in use would be gone in the middle of a dialogue. */
function refusePlaying(run: Run, { playing, localPlaces, configuration }: Engine): void {
  const model = modelOf(run);
  if (!playing.includes(model)) return;
  const spec = localPlaces.find((place) => place.folder === model)?.spec ?? '';
  const [role = 'agent'] = rolesOf(spec, configuration);
  throw new Fault('editor/model-in-use', inUse(runName(run), role, t));
}
