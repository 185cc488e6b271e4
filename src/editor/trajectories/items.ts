import * as vscode from 'vscode';
import { verdictOf } from '../../core/grading/grade';
import type { MoreRow } from '../tree';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { shortened } from '../../../webview/dialogue/protocol';
import { idOf, contextValues } from '../contributions';
import { collaboratorWords, type Namer } from '../displayNames';
import { leakWords, reviewName } from '../dialogue/filter';
import type { DialogueGroup } from './grouping';
import { grouped } from '../../core/text';
import {
  playedBy,
  notes,
  countWords,
  allTags,
  shownReason,
  tagsInShort,
  givenTitle,
  outcomeWords,
} from '../dialogue/words';
import { ago } from '../words';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Packs } from '../packs';
import { isProgram } from '../../core/task/task';
import { taskTitle } from '../../core/task/title';

export type TrajectoryNode =
  | { readonly kind: 'trajectory'; readonly summary: TrajectorySummary }
  /** The first row while a filter is on; it describes the filter. */
  | { readonly kind: 'filter'; readonly words: string; readonly matching: number; readonly all: number }
  | { readonly kind: 'group'; readonly group: DialogueGroup }
  /** `of` is the key of the group that has more; empty for the list itself. */
  | (MoreRow & { readonly of: string });

const { t } = vscode.l10n;

export const PAGE = 100;

interface RowContext {
  readonly title: string;
  readonly task: KnownTask | undefined;
  readonly namer: Namer;
  readonly isOfAgent: boolean;
  readonly isOfCollaborator: boolean;
  readonly own: string | undefined;
}

export function trajectoryItem(
  node: Extract<TrajectoryNode, { kind: 'trajectory' }>,
  { title, task, namer, isOfAgent, isOfCollaborator, own }: RowContext,
): vscode.TreeItem {
  const { summary } = node;
  const outcome = outcomeWords(summary, task?.tests, t);
  const agent = namer.calledBy(summary.agent);
  const played = playedBy(summary, own);
  const item = new vscode.TreeItem(title);
  item.id = summary.id;
  item.description = [
    outcome,
    ...marksOf(summary),
    ...(isOfCollaborator ? [] : played),
    ...tagsInShort(summary),
    ago(summary.startedAt, Date.now(), t),
    // The agent's name may be long, and the end is cut off first.
    ...(isOfAgent ? [] : [shortened(agent)]),
  ].join(' · ');
  item.iconPath = outcomeIcon(summary, task?.tests);
  item.contextValue = contextValues.trajectory;
  const tags = allTags(summary).join(', ');
  const { leaked, doubtful, stars } = summary;
  item.tooltip = [
    title,
    givenTitle(summary) !== undefined && t('task: {0}', task?.title ?? summary.taskId),
    t('outcome: {0}, {1} agent turns', outcome, summary.turns),
    leaked && t('a reply gives the reference away'),
    doubtful && t('doubtful: lines lost from the log may have deleted it or marked a leak'),
    stars !== undefined && t('rating: {0} of 5', stars),
    ...reviewLines(summary),
    tags !== '' && t('tags: {0}', tags),
    ...notes(summary).map((note) => t('note: {0}', note)),
    t('agent: {0}', agent),
    t('collaborator: {0}', collaboratorWords(summary.collaborator, namer, t)),
    t('started: {0}', new Date(summary.startedAt).toLocaleString()),
  ]
    .filter(Boolean)
    .join('\n');
  const label = [
    title,
    outcome,
    t('agent {0}', agent),
    ...played.map((name) => t('played by {0}', name)),
    leaked && leakWords(true, t),
    doubtful && t('doubtful'),
    summary.parent && forkWords(summary.parent),
    summary.review && reviewName(summary.review, t),
    tags !== '' && t('tags: {0}', tags),
  ];
  item.accessibilityInformation = { label: label.filter(Boolean).join(', ') };
  item.command = { command: idOf('openTrajectory'), title: t('Open'), arguments: [node] };
  return item;
}

function marksOf({ leaked, doubtful, review, parent }: TrajectorySummary): string[] {
  return [
    ...(parent === undefined ? [] : [forkWords(parent)]),
    ...(leaked ? [t('leak')] : []),
    ...(doubtful ? [t('doubtful')] : []),
    // The row's icon shows the outcome, so the shape of a review is in its text.
    ...(review === undefined ? [] : [`${REVIEW_SHAPES[review]} ${reviewName(review, t)}`]),
  ];
}

const forkWords = ({ turn }: NonNullable<TrajectorySummary['parent']>): string => t('fork at turn {0}', turn);

const REVIEW_SHAPES = { accepted: '✓', redo: '↻' };

function reviewLines({ review, reviewReason }: TrajectorySummary): string[] {
  if (review === undefined) return [];
  const name = reviewName(review, t);
  return [
    reviewReason === undefined
      ? t('review: {0}', name)
      : t('review: {0} ({1})', name, shownReason(reviewReason, t)),
  ];
}

function outcomeIcon(
  { state, grades, abandoned }: TrajectorySummary,
  tests: number | undefined,
): vscode.ThemeIcon {
  if (state === 'open') return new vscode.ThemeIcon('color-mode');
  if (state === 'abandoned') return new vscode.ThemeIcon(abandoned === 'failed' ? 'warning' : 'dash');
  const grade = grades.fixed ?? grades.paper;
  if (grade?.success === null && grade.reward !== null) return new vscode.ThemeIcon('browser');
  switch (grade && verdictOf(grade)) {
    case 'passed':
      return new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
    case 'partial':
      return new vscode.ThemeIcon('pie-chart', new vscode.ThemeColor('list.warningForeground'));
    case 'failed':
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed'));
    case undefined:
      return new vscode.ThemeIcon(tests === 0 ? 'pass' : 'question');
  }
}

export function filterItem({
  words,
  matching,
  all,
}: Extract<TrajectoryNode, { kind: 'filter' }>): vscode.TreeItem {
  const item = new vscode.TreeItem(words);
  item.id = 'filter';
  item.description = t('{0} of {1}', grouped(matching), grouped(all));
  item.iconPath = new vscode.ThemeIcon('filter-filled');
  item.contextValue = contextValues.trajectoryFilter;
  item.tooltip = t('Only these are shown: {0}', words);
  item.accessibilityInformation = { label: t('Filter: {0}, {1} of {2} dialogues', words, matching, all) };
  item.command = { command: idOf('filterTrajectories'), title: t('Filter') };
  return item;
}

export function groupItem({ key, label, counts, isFolded }: DialogueGroup): vscode.TreeItem {
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, isFolded ? Collapsed : Expanded);
  item.id = key;
  item.description = countWords(counts, t);
  item.accessibilityInformation = { label: `${label}, ${countWords(counts, t).split(' · ').join(', ')}` };
  return item;
}

export interface KnownTask {
  readonly title: string;
  /** Undefined for a page, which has none; 0 for a developer's own function. */
  readonly tests: number | undefined;
}

/** Titles of the tasks of dialogues: from a pack of this workspace, else from the log. */
export class TaskTitles {
  private ofLog = new Map<string, KnownTask>();
  private log: TrajectoryLog | undefined;

  constructor(private readonly packs: Packs) {}

  /** Only tasks that no pack here has are read from the log. @param dialogues one of each task, by the task's id */
  async of(
    log: TrajectoryLog,
    dialogues: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, KnownTask>> {
    if (this.log !== log) this.ofLog = new Map();
    this.log = log;
    const packs = await this.packs.all();
    const known = new Map<string, KnownTask>(
      packs.flatMap((pack) => pack.tasks.map((task) => [task.id, task] as const)),
    );
    const missing = [...dialogues].filter(([task]) => !known.has(task) && !this.ofLog.has(task));
    for await (const { task } of log.trajectories(missing.map(([, id]) => id))) {
      this.ofLog.set(task.id, {
        title: taskTitle(task),
        tests: isProgram(task) ? task.testCases.length : undefined,
      });
    }
    for (const [id, task] of this.ofLog) if (!known.has(id)) known.set(id, task);
    return known;
  }

  async ofAll(log: TrajectoryLog): Promise<ReadonlyMap<string, KnownTask>> {
    const known = await this.of(log, new Map());
    // To find a dialogue of each task takes long, and is needed only for tasks that were not read yet.
    const areKnown = log.namesOf('task').every((task) => known.has(task));
    return areKnown ? known : this.of(log, log.oneOfEachTask());
  }
}
