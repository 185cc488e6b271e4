import * as vscode from 'vscode';
import type { Plan } from '../../core/training/checks';
import type { Run } from '../../core/training/runs';
import type { Trainer } from '../../core/training/trainer';
import { cancellable } from '../progress';
import { besideWords } from './asked';
import { runName } from './words';

const { t } = vscode.l10n;

/** Asks, with how much memory the run needs and how much the others have left, whether it is to start beside them. */
export async function mayStartBeside(run: Run, others: readonly Run[], trainer: Trainer): Promise<boolean> {
  const plan = await planBeside(run, trainer);
  if (plan === undefined) return false;
  const start = t('Start Now');
  const { question, detail } = besideWords(run, others, plan, t);
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, start)) === start;
}

/** A plan looks at what is free at this moment. @returns undefined when the person left it */
function planBeside(run: Run, trainer: Trainer): Promise<Plan | undefined> {
  return cancellable(t('Starting {0}', runName(run, t)), async (signal, report) => {
    report(t('checking whether memory is sufficient'));
    const { planOf } = await import('../../core/training/checks');
    return planOf(trainer, run.folder, runName(run, t), signal);
  });
}
