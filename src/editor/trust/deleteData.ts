import * as vscode from 'vscode';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Configuration } from '../configuration';
import type { Engine } from '../engine';
import type { SessionPanels } from '../session/panels';

const TITLE = 'Delete My Data';

/** Takes everything of one developer out of the data folder and out of what the editor keeps, for good. */
export async function deleteData(
  engine: Engine,
  configuration: Configuration,
  panels: SessionPanels,
): Promise<void> {
  const log = await engine.log();
  const folder = configuration.dataFolder!; // there is a log in it
  const own = engine.consent.given?.pseudonym;
  const pseudonym = await askWhose(log, own);
  if (pseudonym === undefined) return;
  const { eraseDeveloper, runsTrainedWith } = await import('../../core/training/erase');
  const runs = await runsTrainedWith(folder, pseudonym);
  const confirm = 'Delete';
  const chosen = await vscode.window.showWarningMessage(
    `Delete everything of ${pseudonym}?`,
    { modal: true, detail: whatGoes(log, pseudonym, runs) },
    confirm,
  );
  if (chosen !== confirm) return;
  const { episodes } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Deleting the data of ${pseudonym}…` },
    async () => {
      await panels.closeBegun();
      const erased = await eraseDeveloper(log, folder, pseudonym);
      await panels.drafts.remove((episode) => pseudonym !== own && log.summary(episode) !== undefined);
      if (pseudonym === own) await engine.consent.forget();
      return erased;
    },
  );
  void vscode.window.showInformationMessage(
    `Everything of ${pseudonym} is gone from ${folder}: ${dialogues(episodes)}${runs.length === 0 ? '' : ` and ${runs.length} runs`}.`,
  );
}

/** Whoever is named in the log, one's own pseudonym first; or any other that is typed. */
async function askWhose(log: TrajectoryLog, own: string | undefined): Promise<string | undefined> {
  const known = new Set([...(own === undefined ? [] : [own]), ...log.consents.map((one) => one.pseudonym)]);
  const other = { label: 'Another pseudonym…', isOther: true };
  const items = [...known].map((label) => ({
    label,
    description: `${label === own ? 'you, ' : ''}${dialogues(inSeat(log, label))}`,
    isOther: false,
  }));
  const chosen = await vscode.window.showQuickPick([...items, other], {
    title: TITLE,
    placeHolder: 'Whose dialogues, ratings and consent are deleted from this data folder?',
  });
  if (chosen?.isOther !== true) return chosen?.label;
  const typed = await vscode.window.showInputBox({
    title: TITLE,
    prompt: 'The pseudonym',
    ignoreFocusOut: true,
  });
  return typed === '' ? undefined : typed;
}

function whatGoes(log: TrajectoryLog, pseudonym: string, runs: readonly string[]): string {
  return [
    `${dialogues(inSeat(log, pseudonym))} in that seat, all others in which it replied, ratings, consent, and replies that were begun here. Open sessions are closed.`,
    ...(runs.length === 0 ? [] : [`Runs that were trained with them, and their models: ${runs.join(', ')}.`]),
    'Exported files and copied models are out of reach. This cannot be undone.',
  ].join('\n\n');
}

const inSeat = (log: TrajectoryLog, pseudonym: string): number =>
  log.list({ filter: { collaborator: pseudonym }, offset: 0, limit: 1 }).total;

const dialogues = (count: number): string => (count === 1 ? '1 dialogue' : `${count} dialogues`);
