import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { cancellable } from '../progress';
import type { ShownLog } from '../engines';
import { grouped } from '../../core/text';
import type { Replier } from '../../core/trajectory/publishedRow';
import type { ImportResult } from '../../core/trajectory/import';
import type { Merged } from '../../core/trajectory/log';
import type { Translate } from '../translate';
import { dialogues } from '../words';
import { shownName } from '../dialogue/words';
import { inform, pickFolder } from '../inputSteps';

const { t } = vscode.l10n;

export async function importTrajectories(shown: ShownLog): Promise<void> {
  const { name: folder } = shown;
  const title = folder === undefined ? t('Import Dialogues') : t('Import Dialogues Into {0}', folder);
  const kinds = [
    {
      label: t('Files'),
      detail: t('Published rows, or sessions that another program recorded: ATIF, STS, Claude Code, Codex'),
      from: fromFile,
    },
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
  const chosen = await pickFolder(title, t('Import'));
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
    tellCanceled();
    return;
  }
  await tell(engine, mergeWords(merged, t), importChanges(merged, t));
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

/** Shows the first changes; the output channel has all of them, and what is bad. */
async function tell(
  engine: ShownLog['engine'],
  words: string,
  changes: readonly string[],
  bad: ImportResult['bad'] = [],
): Promise<void> {
  for (const change of changes) engine.note(change);
  for (const { file, line, reason } of bad)
    engine.report(new Fault('trajectory/bad-row', `${file}, line ${line}: ${reason}`));
  if (changes.length + bad.length === 0) {
    inform(words);
    return;
  }
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
  const options = { title, openLabel: t('Import'), filters, canSelectMany: true };
  const chosen = (await vscode.window.showOpenDialog(options)) ?? [];
  if (chosen.length === 0) return;
  const core = await import('../../core/trajectory/import');
  const files = chosen.map(({ fsPath }) => fsPath);
  const repliesBy = (await core.haveRows(files)) ? await askReplier(title) : 'people';
  if (repliesBy === undefined) return;
  const log = await engine.log();
  const name = chosen.length === 1 ? path.basename(files[0]!) : t('{0} files', grouped(files.length));
  const { leakOf } = await import('../../core/dialogue/leak');
  const result = await cancellable(t('Importing {0}', name), (signal, report) =>
    core.importFiles(log, files, {
      signal,
      leakOf,
      repliesBy,
      onProgress: ({ rows }) => report(rows === 1 ? t('1 row') : t('{0} rows', grouped(rows))),
    }),
  );
  if (result === undefined) {
    tellCanceled();
    return;
  }
  await tell(engine, importWords(result, t), rowChanges(result, t), result.bad);
}

function tellCanceled(): void {
  inform(t('The import was canceled. What was read is in the log; importing it again continues from there.'));
}

export function importWords(
  { imported, alreadyThere, bad }: Pick<ImportResult, 'imported' | 'alreadyThere' | 'bad'>,
  t: Translate,
): string {
  const [first] = bad;
  return [
    t('{0} imported.', dialogues(imported, t)),
    ...(alreadyThere === 0 ? [] : [t('{0} were there already.', grouped(alreadyThere))]),
    ...(first === undefined
      ? []
      : [t('Lines that cannot be read: {0}. Line {1}: {2}', grouped(bad.length), first.line, first.reason)]),
  ].join(' ');
}

export function mergeWords(
  { imported, deleted, different }: Pick<Merged, 'imported' | 'deleted' | 'different'>,
  t: Translate,
): string {
  return [
    t('{0} imported.', dialogues(imported, t)),
    ...(deleted === 0
      ? []
      : [
          t(
            'Deleted in that folder and hidden here too: {0}. “Restore Deleted Dialogues…” shows them again.',
            grouped(deleted),
          ),
        ]),
    ...(different.length === 0
      ? []
      : [
          t(
            'Log files that differ there (for example, after data was deleted) are unchanged here: {0}.',
            different.join(', '),
          ),
        ]),
  ].join(' ');
}

/** What is not as it was in the other folder, a sentence each. */
export function importChanges(
  {
    renamed,
    lowered,
    leftOut,
    limitedTimes,
  }: Pick<Merged, 'renamed' | 'lowered' | 'leftOut' | 'limitedTimes'>,
  t: Translate,
): string[] {
  const kinds = Object.entries(leftOut).map(([kind, count]) => `${kind}: ${grouped(count)}`);
  return [
    ...renamed.map(({ from, to }) =>
      t(
        '{0} from that folder is called “{1}” here, because {0} may be someone else.',
        shownName(from),
        shownName(to),
      ),
    ),
    ...lowered.map(({ pseudonym, from, to }) =>
      t('The consent of {0} counts as “{1}” here, not “{2}”.', shownName(pseudonym), to, from),
    ),
    ...(kinds.length === 0
      ? []
      : [
          t(
            'Lines left out because they are about dialogues of this folder, about none, or not readable: {0}.',
            kinds.join(', '),
          ),
        ]),
    ...(limitedTimes === 0
      ? []
      : [t('Lines with a time in the future got the time of the import ({0}).', grouped(limitedTimes))]),
  ];
}

/** Who is called otherwise here than in the imported rows. */
export const rowChanges = ({ people }: Pick<ImportResult, 'people'>, t: Translate): string[] =>
  people.map(({ from, to }) =>
    t(
      '{0} from these rows is called “{1}” here; what {0} wrote stays on this machine.',
      shownName(from),
      shownName(to),
    ),
  );
