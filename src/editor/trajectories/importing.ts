import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { cancellable } from '../progress';
import type { ShownLog } from '../shownLog';
import { grouped } from '../../core/text';
import type { Replier } from '../../core/trajectory/publishedRow';
import { importChanges, importWords, mergeWords, rowChanges } from './importWords';

const { t } = vscode.l10n;

export async function importTrajectories(shown: ShownLog): Promise<void> {
  const { name: folder } = shown;
  const title = folder === undefined ? t('Import Dialogues') : t('Import Dialogues Into {0}', folder);
  const kinds = [
    { label: t('Published rows'), detail: t('A file of JSON lines, one for each dialogue'), from: fromFile },
    {
      label: t('Another data folder'),
      detail: t('Dialogues from other people or machines: a copy of their .tandem'),
      from: fromFolder,
    },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title, matchOnDetail: true });
  await kind?.from(shown, title);
}

/** Adds the dialogues of another data folder, with the consents that stand there. */
async function fromFolder({ engine }: ShownLog, title: string): Promise<void> {
  const options = { title, openLabel: t('Import'), canSelectFiles: false, canSelectFolders: true };
  const [chosen] = (await vscode.window.showOpenDialog(options)) ?? [];
  if (chosen === undefined) return;
  const log = await engine.log();
  const name = path.basename(chosen.fsPath);
  const self = engine.consent.given?.pseudonym;
  const shared = await cancellable(t('Reading {0}', name), (signal) =>
    log.sharedPeople(chosen.fsPath, { signal, self }),
  );
  const samePeople = shared && (await askSamePeople(shared, title));
  if (samePeople === undefined) return;
  const merged = await cancellable(t('Importing {0}', name), (signal) =>
    log.merge(chosen.fsPath, { signal, self, samePeople }),
  );
  if (merged === undefined) {
    void vscode.window.showInformationMessage(
      t('The import was canceled. What was read is in the log; importing it again continues from there.'),
    );
    return;
  }
  const changes = importChanges(merged, t);
  if (changes.length === 0) {
    void vscode.window.showInformationMessage(mergeWords(merged, t));
    return;
  }
  await showChanges(engine, mergeWords(merged, t), changes);
}

/** Returns those who are one person here and there; undefined if the question was cancelled. */
async function askSamePeople(
  shared: readonly string[],
  title: string,
): Promise<readonly string[] | undefined> {
  if (shared.length === 0) return [];
  const placeHolder = t(
    'Check who is the same person here and in that folder; everyone else gets a new pseudonym here',
  );
  const items = shared.map((label) => ({ label }));
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder, canPickMany: true });
  return chosen?.map(({ label }) => label);
}

/** Shows the first sentences; the output channel has all. */
async function showChanges(
  engine: ShownLog['engine'],
  words: string,
  changes: readonly string[],
): Promise<void> {
  for (const change of changes) engine.note(change);
  const showAll = t('Show All');
  const message = [words, ...changes.slice(0, 2)].join(' ');
  if ((await vscode.window.showWarningMessage(message, showAll)) === showAll) engine.showReports();
}

/** Returns who wrote the replies in rows that do not say it; undefined if the question was cancelled. */
async function askReplier(title: string): Promise<Replier | undefined> {
  const kinds: (vscode.QuickPickItem & { readonly replier: Replier })[] = [
    { label: t('People'), detail: t('What they wrote stays on this machine'), replier: 'people' },
    { label: t('A simulator'), detail: t('As in the published file'), replier: 'simulator' },
  ];
  const placeHolder = t('Who wrote the replies, where the rows do not say it?');
  return (await vscode.window.showQuickPick(kinds, { title, placeHolder, matchOnDetail: true }))?.replier;
}

async function fromFile({ engine }: ShownLog, title: string): Promise<void> {
  const filters = { [t('JSON lines')]: ['jsonl', 'json'] };
  const [chosen] = (await vscode.window.showOpenDialog({ title, openLabel: t('Import'), filters })) ?? [];
  if (chosen === undefined) return;
  const repliesBy = await askReplier(title);
  if (repliesBy === undefined) return;
  const log = await engine.log();
  const name = path.basename(chosen.fsPath);
  const core = await import('../../core/trajectory/import');
  const { leakOf } = await import('../../core/dialogue/leak');
  const result = await cancellable(t('Importing {0}', name), (signal, report) =>
    core.importTrajectories(log, chosen.fsPath, {
      signal,
      leakOf,
      repliesBy,
      onProgress: ({ rows }) => report(t('{0} rows', grouped(rows))),
    }),
  );
  if (result === undefined) {
    void vscode.window.showInformationMessage(
      t(
        'The import was canceled. What was read from {0} is in the log; importing it again continues from there.',
        name,
      ),
    );
    return;
  }
  const changes = rowChanges(result, t);
  if (result.bad.length === 0 && changes.length > 0) {
    await showChanges(engine, importWords(result, t), changes);
    return;
  }
  for (const change of changes) engine.note(change);
  if (result.bad.length === 0) {
    void vscode.window.showInformationMessage(importWords(result, t));
    return;
  }
  for (const { file, line, reason } of result.bad) {
    engine.report(new Fault('trajectory/bad-row', `${file}, line ${line}: ${reason}`));
  }
  const showAll = t('Show All');
  const answer = await vscode.window.showWarningMessage(importWords(result, t), showAll);
  if (answer === showAll) engine.showReports();
}
