import * as vscode from 'vscode';
import { inOneLine } from '../../core/text';
import { MAX_LENGTHS } from '../../core/training/runNotes';
import { ownLabel, relabel, type OwnLabel, tagsOf } from '../../core/trajectory/opinions';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory, TrajectorySummary } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import {
  inform,
  askPseudonym,
  askLine,
  pickOne,
  valueOf,
  type KnownWord,
  pickTags,
  askReason,
} from '../inputSteps';
import type { TrajectoryTree } from './tree';
import { notes, tagsInShort } from '../dialogue/words';
import { dialogues } from '../words';
import type { NewEvent, ReviewState } from '../../core/trajectory/event';
import { idOf, type CommandName } from '../contributions';
import { redoReasons } from '../reasons';

const { t } = vscode.l10n;

interface List {
  readonly engines: Engines;
  readonly trajectories: TrajectoryTree;
}

/** Several dialogues have only tags to edit together. */
export async function editDialogues(list: List, chosen: readonly TrajectorySummary[]): Promise<void> {
  const [first, ...others] = chosen;
  if (first === undefined || others.length > 0) return tagDialogues(list, chosen);
  const detail = await pickOne({
    title: t('Edit {0}', list.trajectories.title(first)),
    items: [
      { label: t('Title'), description: first.title, edit: renameDialogue },
      { label: t('Tags'), description: tagsInShort(first).join(' '), edit: tagDialogues },
      { label: t('Note'), description: notes(first).join(), edit: noteOnDialogue },
    ],
  });
  await valueOf(detail)?.edit(list, chosen);
}

/** A dialogue without a title of one's own has that of another person, or of its task. */
export async function renameDialogue(list: List, [dialogue]: readonly TrajectorySummary[]): Promise<void> {
  if (dialogue === undefined) return;
  const writer = await writerOf(list, dialogue);
  if (writer === undefined) return;
  const title = await askLine({
    title: t('Rename {0}', list.trajectories.title(dialogue)),
    prompt: t(
      'Title of the dialogue. Empty takes your title back: then it is called as others named it, or as its task.',
    ),
    value: dialogue.title ?? '',
    most: MAX_LENGTHS.name,
  });
  // A title that another person gave becomes one's own only when it is changed.
  if (title !== undefined && title !== dialogue.title) await write(writer, [dialogue], () => ({ title }));
}

export async function tagDialogues(list: List, chosen: readonly TrajectorySummary[]): Promise<void> {
  const [first] = chosen;
  if (first === undefined) return;
  const writer = await writerOf(list, first);
  if (writer === undefined) return;
  const { log, by } = writer;
  const read = await readAll(log, chosen);
  const own = read.map((trajectory) => ownLabel(trajectory, by).tags);
  const isCommon = (tag: string): boolean => own.every((tags) => tags.includes(tag));
  const offered = offeredTags(log, read, by).map((tag) => ({ ...tag, isPicked: isCommon(tag.word) }));
  const retag = await pickTags(t('Tags of {0}', inWords(list, chosen)), offered);
  if (retag !== undefined) await write(writer, chosen, ({ tags }) => ({ tags: retag(tags) }));
}

/** Returns the title of a single dialogue, or how many there are. */
const inWords = ({ trajectories }: List, chosen: readonly TrajectorySummary[]): string =>
  chosen.length === 1 ? trajectories.title(chosen[0]!) : dialogues(chosen.length, t);

export async function noteOnDialogue(list: List, [dialogue]: readonly TrajectorySummary[]): Promise<void> {
  if (dialogue === undefined) return;
  const writer = await writerOf(list, dialogue);
  if (writer === undefined) return;
  const [trajectory] = await readAll(writer.log, [dialogue]);
  const note = await askLine({
    title: t('Note on {0}', list.trajectories.title(dialogue)),
    prompt: t('What you want to remember of the dialogue. Notes of others stay.'),
    value: trajectory === undefined ? '' : inOneLine(ownLabel(trajectory, writer.by).note),
    most: MAX_LENGTHS.note,
  });
  if (note !== undefined) await write(writer, [dialogue], () => ({ note }));
}

interface Writer {
  readonly engine: Engine;
  readonly log: TrajectoryLog;
  readonly by: string;
}

/** @returns undefined when the person has not consented */
async function writerOf({ engines }: List, { id }: TrajectorySummary): Promise<Writer | undefined> {
  const engine = await engines.withEpisode(id);
  const log = await engine.log();
  const by = await askPseudonym(
    engine,
    t(
      'Titles, tags and notes are logged under a pseudonym. Choose one first, and how your data may be shared.',
    ),
  );
  return by === undefined ? undefined : { engine, log, by };
}

/** @throws {Fault} `trajectory/task-missing` */
function readAll(log: TrajectoryLog, chosen: readonly TrajectorySummary[]): Promise<Trajectory[]> {
  const ids = chosen.map(({ id }) => id);
  return Array.fromAsync(
    log.trajectories(ids, (lost) => {
      throw lost;
    }),
  );
}

/** The tags of the whole log, those of the most dialogues first, with how many have each, and who else gave it. */
function offeredTags(
  log: TrajectoryLog,
  read: readonly Trajectory[],
  by: string,
): Omit<KnownWord, 'isPicked'>[] {
  return log.valuesOf('tags').map(({ value: tag, count }) => {
    const labels = read.map(({ labels: all = [] }) => all.filter((label) => tagsOf([label]).includes(tag)));
    const having = labels.filter((givers) => givers.length > 0).length;
    const others = new Set(labels.flat().flatMap((label) => (label.by === by ? [] : [label.by])));
    const description = [
      dialogues(count, t),
      ...(read.length > 1 && having > 0 ? [t('{0} of these {1}', having, read.length)] : []),
      ...(others.size === 0 ? [] : [t('given by {0}', [...others].join(', '))]),
    ].join(' · ');
    return { word: tag, description };
  });
}

/** Writes only what changes; what others said stays. */
async function write(
  { engine, log, by }: Writer,
  chosen: readonly TrajectorySummary[],
  change: (before: OwnLabel) => Partial<OwnLabel>,
): Promise<void> {
  // Another window of this person may have written since.
  await log.refresh();
  const read = await readAll(log, chosen);
  const events = read.flatMap((trajectory) => relabel(trajectory, by, change));
  if (events.length === 0) return;
  await engine.consent.record();
  await log.appendAll(events, { durable: true });
}

export const acceptDialogues = (list: List, chosen: readonly TrajectorySummary[]): Promise<void> =>
  review(list, chosen, () => Promise.resolve({ state: 'accepted' }));

export const redoDialogues = (list: List, chosen: readonly TrajectorySummary[]): Promise<void> =>
  review(list, chosen, async (titled) => {
    const reason = await askReason(t('Redo {0}', titled), redoReasons(t));
    return reason === undefined ? undefined : { state: 'redo', reason };
  });

/** Also reviews that others gave. */
export const takeReviewsBack = (list: List, chosen: readonly TrajectorySummary[]): Promise<void> =>
  review(list, chosen, () => Promise.resolve({}));

/** Asks what to do with the chosen dialogues; without any, which dialogue to go on with. */
export async function chooseReview(
  list: List & { readonly titles: () => ReadonlyMap<string, string> },
  chosen: readonly TrajectorySummary[],
): Promise<void> {
  const finished = chosen.filter(({ state }) => state !== 'open');
  const isAny = finished.length > 0;
  const titles = list.titles();
  const item = (name: CommandName, detail?: string) => ({
    ...{ label: titles.get(idOf(name)) ?? '', detail, name },
  });
  const isReviewed = finished.some(({ review }) => review !== undefined);
  const picked = await pickOne({
    title: isAny ? t('Review {0}', inWords(list, finished)) : t('Review'),
    items: [
      ...(isAny ? [item('acceptTrajectories'), item('redoTrajectories')] : []),
      ...(isReviewed ? [item('unreviewTrajectories')] : []),
      item('nextUnreviewed', t('Opens the next dialogue of the list without a review')),
      item('judgeNext', t('Opens one that others played, without what they said of it')),
    ],
  });
  const name = valueOf(picked)?.name;
  if (name !== undefined) await vscode.commands.executeCommand(idOf(name));
}

/** Without a state it takes the earlier review back. */
interface Verdict {
  readonly state?: ReviewState;
  readonly reason?: string;
}

/** Leaves out unfinished dialogues, which can still change. @param ask is given the dialogues in words */
async function review(
  list: List,
  chosen: readonly TrajectorySummary[],
  ask: (titled: string) => Promise<Verdict | undefined>,
): Promise<void> {
  const finished = chosen.filter(({ state }) => state !== 'open');
  const [first] = finished;
  if (first === undefined) {
    inform(t('Nothing was reviewed: the dialogue is not finished. Play it to its end first.'));
    return;
  }
  const engine = await list.engines.withEpisode(first.id);
  const by = await askPseudonym(
    engine,
    t('Reviews are logged under a pseudonym. Choose one first, and how your data may be shared.'),
  );
  const verdict = by === undefined ? undefined : await ask(inWords(list, finished));
  if (by === undefined || verdict === undefined) return;
  const log = await engine.log();
  // Another window may have written since.
  await log.refresh();
  const events = finished.flatMap(({ id }): NewEvent[] => {
    const before = log.summary(id);
    const isSame = before?.review === verdict.state && before?.reviewReason === verdict.reason;
    return before === undefined || isSame ? [] : [{ event: 'review', episode: id, ...verdict, by }];
  });
  if (events.length === 0) return;
  await engine.consent.record();
  await log.appendAll(events, { durable: true });
}
