import * as vscode from 'vscode';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { App } from '../app';
import { ago, dialogues } from '../words';
import { inform } from '../inputSteps';

const { t } = vscode.l10n;

export async function deleteDialogues(
  { engines, panels, trajectories }: App,
  summaries: readonly TrajectorySummary[],
): Promise<void> {
  const [first] = summaries;
  if (first === undefined) return;
  const { engine } = engines.shown;
  const what = summaries.length === 1 ? `“${trajectories.title(first)}”` : dialogues(summaries.length, t);
  const remove = t('Delete');
  const chosen = await vscode.window.showWarningMessage(
    t('Delete {0}?', what),
    {
      modal: true,
      detail: t(
        'Every list, statistic and export then leaves them out. The log keeps their lines, so “Restore Deleted Dialogues…” can bring them back.',
      ),
    },
    remove,
  );
  if (chosen !== remove) return;
  const log = await engine.log();
  const ids = summaries.map(({ id }) => id);
  await whileNobodyPlays(log, summaries, panels, () => log.delete(ids));
  const undo = t('Undo');
  const answer = await vscode.window.showInformationMessage(
    t('{0} deleted.', dialogues(ids.length, t)),
    undo,
  );
  if (answer === undo) await log.undelete(ids);
}

/** Closes their sessions in this window. @throws {Fault} `trajectory/claimed` when one is played elsewhere */
async function whileNobodyPlays(
  log: TrajectoryLog,
  summaries: readonly TrajectorySummary[],
  panels: App['panels'],
  work: () => Promise<void>,
): Promise<void> {
  const claims: Claim[] = [];
  try {
    for (const { id, state } of summaries) {
      const isPlayedHere = panels.close(id);
      if (state === 'open' && !isPlayedHere)
        claims.push(await log.claim(`episode-${id}`, t('This dialogue')));
    }
    await work();
  } finally {
    for (const claim of claims) await claim.release();
  }
}

export async function restoreDialogues({ engines, trajectories }: App): Promise<void> {
  const { engine } = engines.shown;
  const log = await engine.log();
  const { deleted } = log;
  if (deleted.length === 0) {
    inform(t('No dialogue is deleted.'));
    return;
  }
  const picked = await vscode.window.showQuickPick(
    deleted.map((summary) => ({
      label: trajectories.title(summary),
      description: `${engine.calledBy(summary.agent)} · ${ago(summary.startedAt, Date.now(), t)}`,
      id: summary.id,
    })),
    { title: t('Restore Deleted Dialogues'), placeHolder: t('Choose what to restore'), canPickMany: true },
  );
  if (picked === undefined || picked.length === 0) return;
  await log.undelete(picked.map(({ id }) => id));
}
