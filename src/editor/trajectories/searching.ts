import * as vscode from 'vscode';
import { wordsOf, type FoundDialogue, type Passage } from '../../core/trajectory/search';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { shortened } from '../../../webview/dialogue/protocol';
import type { Found } from '../../../webview/replay/protocol';
import type { Engine } from '../engine';
import { messageOf } from '../../views/turnView';
import { excerpt } from '../../core/task/search';
import type { KnownTask } from './items';
import { grouped } from '../../core/text';
import { givenTitle, outcomeWords } from '../dialogue/words';
import { acceptedRow } from '../inputSteps';
import { ago } from '../words';

const { t } = vscode.l10n;

const MAX_ROWS = 200;
const TYPING_MS = 250;
const DISPLAY_INTERVAL_MS = 200;

interface Row extends vscode.QuickPickItem {
  readonly episode?: string;
  readonly passage?: Passage;
}

interface DialogueSearch {
  readonly log: TrajectoryLog;
  readonly engine: Engine;
  readonly open: (episode: string, found: Found) => Promise<void>;
  readonly titlesOf: (rows: readonly FoundDialogue['summary'][]) => Promise<ReadonlyMap<string, KnownTask>>;
}

/** The messages that have all words are shown while the log is read. New words end the search before. */
export async function searchDialogues(search: DialogueSearch): Promise<void> {
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = t('Search Dialogues');
  picker.placeholder = t('Words of a message, a reply or a note');
  let stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  picker.onDidChangeValue((query) => {
    stop.abort();
    clearTimeout(timer);
    stop = new AbortController();
    const { signal } = stop;
    timer = setTimeout(() => {
      show(picker, search, query, signal).catch((error: unknown) => {
        if (signal.aborted) return;
        picker.hide();
        search.engine.show(error, t('Search Dialogues'));
      });
    }, TYPING_MS);
  });
  const row = await acceptedRow(picker, ({ episode }) => episode !== undefined);
  const query = picker.value;
  stop.abort();
  clearTimeout(timer);
  picker.dispose();
  if (row?.episode === undefined || row.passage === undefined) return;
  const { turn, by } = row.passage;
  await search.open(row.episode, { type: 'found', turn, by, words: wordsOf(query) });
}

async function show(
  picker: vscode.QuickPick<Row>,
  { log, engine, titlesOf }: DialogueSearch,
  query: string,
  signal: AbortSignal,
): Promise<void> {
  const rows: Row[] = [];
  let shownAt = 0;
  const state = (label: string): Row => ({ label, alwaysShow: true });
  const onProgress = (read: number, total: number): void => {
    if (performance.now() - shownAt < DISPLAY_INTERVAL_MS) return;
    shownAt = performance.now();
    const percent = Math.floor((100 * read) / Math.max(1, total));
    picker.items = [...rows, state(t('{0} % of the log is searched', percent))];
  };
  picker.items = [];
  picker.busy = query.trim() !== '';
  for await (const found of log.search(query, { signal, onProgress })) {
    const title = (await titlesOf([found.summary])).get(found.summary.taskId);
    signal.throwIfAborted();
    rows.push(...found.passages.map((passage) => rowOf(found, passage, title, query, engine)));
    if (rows.length > MAX_ROWS) break;
  }
  signal.throwIfAborted();
  picker.busy = false;
  const shown = rows.slice(0, MAX_ROWS);
  if (rows.length > MAX_ROWS)
    shown.push(state(t('These are the newest {0}: type more words', grouped(MAX_ROWS))));
  if (rows.length === 0 && query.trim() !== '')
    shown.push(state(t('No message and no note has all of these words: {0}', query.trim())));
  picker.items = shown;
}

function rowOf(
  { summary }: FoundDialogue,
  passage: Passage,
  task: KnownTask | undefined,
  query: string,
  engine: Engine,
): Row {
  const { turn, by } = passage;
  return {
    label: givenTitle(summary) ?? task?.title ?? summary.taskId,
    description: [
      by === 'note' ? t('note') : by === 'agent' ? t('agent, turn {0}', turn) : t('reply, turn {0}', turn),
      outcomeWords(summary, task?.tests, t),
      ago(summary.startedAt, Date.now(), t),
      shortened(engine.calledBy(summary.agent)),
    ].join(' · '),
    detail: excerpt(readable(passage), query),
    // Otherwise the picker would look for the whole query as one word.
    alwaysShow: true,
    episode: summary.id,
    passage,
  };
}

/** Returns a message as a replay shows it, without the agent's marks around its thoughts. */
function readable({ by, text }: Passage): string {
  if (by !== 'agent') return text;
  const { visible, thoughts } = messageOf(text);
  return `${visible} ${thoughts}`;
}
