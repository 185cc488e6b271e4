import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import type { EditorTrainer } from '../trainer';
import { finishWords, moreEpochsWords, takeOverWords, type MoreEpochsWords } from './asked';
import { mayStartBeside } from './beside';
import type { RunQueue } from './queue';
import { runsOf } from './resting';
import type { RunWatch } from './watch';
import { isAtWorkHere, runName } from './words';

const { t } = vscode.l10n;

/** Pauses, ends and resumes runs. */
export class RunControl {
  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly queue: RunQueue,
  ) {}

  /** Finishes the micro-batch and writes a checkpoint. Resolves when the trainer is gone. */
  async pause(run: Run): Promise<void> {
    const { stopRun } = await import('../../core/training/control');
    const stopping = stopRun(runsOf(run), run.id);
    void this.watch.look();
    await stopping;
    await this.watch.look();
  }

  /** Ends its policy after the step at work and has the model written. Resolves when the trainer is gone. */
  async finish(run: Run): Promise<void> {
    const finish = t('Finish Now');
    const { question, detail } = finishWords(run, t);
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, finish);
    if (chosen !== finish) return;
    const { finishRun } = await import('../../core/training/finish');
    const finishing = finishRun(runsOf(run), run.id);
    void this.watch.look();
    await finishing;
    await this.watch.look();
  }

  /** Ends it where it is: what was trained since the last checkpoint is done again when it is resumed. */
  async kill(run: Run): Promise<void> {
    const stop = t('Stop Immediately');
    const chosen = await vscode.window.showWarningMessage(
      t('Stop “{0}” immediately?', runName(run, t)),
      {
        modal: true,
        detail: t(
          'Progress since its last checkpoint is lost and has to be repeated when it is resumed. “Pause Run” writes a checkpoint first.',
        ),
      },
      stop,
    );
    if (chosen !== stop) return;
    const { stopRun } = await import('../../core/training/control');
    await stopRun(runsOf(run), run.id, { atOnce: true });
    await this.watch.look();
  }

  /** When another is at work it waits for its turn. */
  async resume(run: Run): Promise<void> {
    if (run.state === 'lost' && !(await mayTakeOver(run))) return;
    const trainer = await this.trainer.openVisibly(t('Resuming {0}', runName(run, t)));
    if (trainer === undefined) return;
    await this.queue.add(run, trainer, { takeOver: run.state === 'lost' });
  }

  /**
   * A run that goes on where one that is done has ended.
   * @returns undefined when the person left it
   */
  async continue(run: Run): Promise<Run | undefined> {
    const { prompt, refusal, least } = moreEpochsWords(run, t);
    const text = await vscode.window.showInputBox({
      title: t('Continue {0}', runName(run, t)),
      prompt,
      value: least,
      validateInput: (written) => (epochsOf(written, least) === undefined ? refusal : undefined),
    });
    const epochs = epochsOf(text ?? '', least);
    if (epochs === undefined) return undefined;
    const trainer = await this.trainer.openVisibly(t('Continuing {0}', runName(run, t)));
    if (trainer === undefined) return undefined;
    const { continueRun } = await import('../../core/training/continue');
    const name = t('{0}, continued', runName(run, t));
    const made = await continueRun(runsOf(run), run.id, { epochs, name });
    await this.queue.begin(trainer);
    return runsOf(run).read(made.id);
  }

  /** Begins a run that waits for its turn; beside one that is at work only when the person knows what that takes. */
  async startNow(run: Run): Promise<void> {
    const trainer = await this.trainer.openVisibly(t('Starting {0}', runName(run, t)));
    if (trainer === undefined) return;
    await this.watch.look();
    const others = this.watch.everywhere.all.filter((one) => one.id !== run.id && isAtWorkHere(one));
    if (others.length > 0 && !(await mayStartBeside(run, others, trainer))) return;
    const { resumeRun } = await import('../../core/training/control');
    await resumeRun(runsOf(run), run.id, trainer);
    await this.watch.look();
  }

  async unqueue(run: Run): Promise<void> {
    const { unqueueRun } = await import('../../core/training/control');
    await unqueueRun(runsOf(run), run.id);
    await this.watch.look();
  }
}

/** Of a run that was on another machine, which nobody can ask from here. */
async function mayTakeOver(run: Run): Promise<boolean> {
  const resume = t('Resume');
  const { question, detail } = takeOverWords(run, t);
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, resume)) === resume;
}

/** @param least "0" where none is an answer, too */
function epochsOf(text: string, least: MoreEpochsWords['least']): number | undefined {
  const epochs = Number(text);
  const isEnough = epochs > 0 || (epochs === 0 && least === '0');
  return text.trim() !== '' && isEnough && epochs <= 1000 ? epochs : undefined;
}
