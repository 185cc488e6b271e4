import * as vscode from 'vscode';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { ago, dialogues } from '../words';

const { t } = vscode.l10n;

interface OpenSessions {
  /** Closes the session of a dialogue. @returns whether there was one */
  close(episode: string): boolean;
}

export async function deleteDialogues(
  { engines, panels }: { readonly engines: Engines; readonly panels: OpenSessions },
  summaries: readonly TrajectorySummary[],
  titleOf: (summary: TrajectorySummary) => string,
): Promise<void> {
  const [first] = summaries;
  if (first === undefined) return;
  const { engine } = engines.shown;
  const one = summaries.length === 1;
  const remove = t('Delete');
  const chosen = await vscode.window.showWarningMessage(
    one ? t('Delete the dialogue “{0}”?', titleOf(first)) : t('Delete {0}?', dialogues(summaries.length, t)),
    {
      modal: true,
      detail: one
        ? t(
            'It is removed from every list, statistic and export. The log keeps its lines, so “Restore Deleted Dialogues…” can bring it back.',
          )
        : t(
            'They are removed from every list, statistic and export. The log keeps their lines, so “Restore Deleted Dialogues…” can bring them back.',
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
  panels: OpenSessions,
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

export async function restoreDialogues(
  engine: Engine,
  titleOf: (summary: TrajectorySummary) => string,
): Promise<void> {
  const log = await engine.log();
  const { deleted } = log;
  if (deleted.length === 0) {
    void vscode.window.showInformationMessage(t('No dialogue is deleted.'));
    return;
  }
  const picked = await vscode.window.showQuickPick(
    deleted.map((summary) => ({
      label: titleOf(summary),
      description: `${engine.calledBy(summary.agent)} · ${ago(summary.startedAt, Date.now(), t)}`,
      id: summary.id,
    })),
    { title: t('Restore Deleted Dialogues'), placeHolder: t('Choose what to restore'), canPickMany: true },
  );
  if (picked === undefined || picked.length === 0) return;
  await log.undelete(picked.map(({ id }) => id));
}
