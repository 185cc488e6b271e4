import * as vscode from 'vscode';
import { inOneLine } from '../../core/text';
import { MAX_LENGTHS } from '../../core/training/runNotes';
import { ownLabel, relabel, type OwnLabel, tagsOf } from '../../core/trajectory/opinions';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory, TrajectorySummary } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { askLine, pickOne, valueOf } from '../inputSteps';
import { askPseudonym } from '../pseudonym';
import { type KnownWord, pickTags } from '../pickOrType';
import type { TrajectoryTree } from './tree';
import { notes, tagsInShort } from '../dialogue/words';
import { dialogues } from '../words';

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
  const retag = await pickTags(
    chosen.length === 1
      ? t('Tags of {0}', list.trajectories.title(first))
      : t('Tags of {0}', dialogues(chosen.length, t)),
    offered,
  );
  if (retag !== undefined) await write(writer, chosen, ({ tags }) => ({ tags: retag(tags) }));
}

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
