import { episodeOf, summarize, type Folding } from '../fold';
import type { Trajectory, TrajectorySummary } from '../trajectory';

/**
 * The columns of the table `episode`: the result of folding each episode. Numbers in `task`, `pack`, `agent`,
 * `collaborator`, `collection`, `player`, `title`, `tags`, `note`, `review_reason`, `fixed_scale` and `paper_scale` refer
 * to texts in the table `name`. Times are in milliseconds since 1970.
 */
export const COLUMNS = {
  /** Ascending in the order in which the log first knew the episodes. */
  number: 'integer primary key',
  id: 'text not null',
  task: 'integer',
  pack: 'integer',
  agent: 'integer',
  collaborator: 'integer',
  collaborator_kind: 'text',
  collection: 'integer',
  rollout: 'integer',
  /** Of a fork: id of the dialogue that it continues otherwise, and where they part. */
  parent: 'text',
  parent_turn: 'integer',
  parent_by: 'text',
  seed: 'real',
  /** Null while only other lines of the episode are known. */
  started_at: 'real',
  state: 'text',
  turns: 'integer',
  choices: 'integer',
  verdicts: 'integer',
  stars: 'integer',
  /** Number of people who gave stars or a thumb, or chose between candidates. */
  raters: 'integer',
  review: 'text',
  review_reason: 'integer',
  player: 'integer',
  title: 'integer',
  /** With a line feed before and after each tag, so that one is found whole. */
  tags: 'integer',
  note: 'integer',
  leak: 'real',
  leaked: 'integer',
  /** Number of a developer's replies with a known time, and the sum of those times. */
  timed_replies: 'integer',
  reply_ms: 'real',
  /** `success`, `failure`, or `none` if the grader could not tell; null without a grade in this mode. */
  fixed: 'text',
  fixed_reward: 'real',
  /** Of a page: mode, measure, version and renderer of the score, as a JSON list in the table `name`. */
  fixed_scale: 'integer',
  paper: 'text',
  paper_reward: 'real',
  paper_scale: 'integer',
  /** 1 if lost lines may have deleted the episode or marked a leak in it. */
  doubtful: 'integer not null default 0',
  /** 1 if lines of the episode or its task are missing or unreadable. */
  damaged: 'integer not null default 0',
  deleted: 'integer not null default 0',
  was_deleted: 'integer not null default 0',
  /** Position of its first line: the segment's number and the byte offset. */
  first_segment: 'integer',
  first_start: 'integer',
  last_at: 'real not null',
  /** 1 if the episode must still be read whole. */
  unsettled: 'integer not null default 0',
  /** Revision of the index that last wrote the row. */
  revision: 'integer not null',
} as const;

export type Column = keyof typeof COLUMNS;

/** Columns in which a text is looked for; the first ones have few different values. */
export const TEXT_COLUMNS = [
  'agent',
  'collaborator',
  'pack',
  'player',
  'task',
  'tags',
  'title',
  'note',
] as const satisfies readonly Column[];
export type TextColumn = (typeof TEXT_COLUMNS)[number];

/** The bit in the table `name` that says that a column has, or once had, the text. */
export const usedAs = (column: TextColumn): number => 1 << TEXT_COLUMNS.indexOf(column);

type Value = string | number | null;
export type Row = Record<Column, Value>;

interface Numbered {
  /** `column` is where the text will stand, if it is one of `TEXT_COLUMNS`. */
  number(text: string, column?: TextColumn): number;
  text(number: number): string;
}

const MODES = ['fixed', 'paper'] as const;

export type Known = Pick<
  Row,
  'number' | 'id' | 'first_segment' | 'first_start' | 'last_at' | 'unsettled' | 'revision'
>;

/** @param isDamaged true if unfolded lines or the task are missing */
export function rowOf(
  known: Known,
  folding: Folding | undefined,
  isDamaged: boolean,
  names: Numbered,
): Partial<Row> {
  if (!folding) return known;
  const episode = episodeOf(folding);
  const summary = summarize(episode);
  const optional = (text: string | undefined, column?: TextColumn): Value =>
    text === undefined ? null : names.number(text, column);
  const { fixed, paper } = summary.grades;
  return {
    ...known,
    task: names.number(summary.taskId, 'task'),
    pack: optional(summary.pack, 'pack'),
    agent: names.number(summary.agent, 'agent'),
    collaborator: names.number(summary.collaborator.name, 'collaborator'),
    collaborator_kind: summary.collaborator.kind,
    collection: optional(summary.collection),
    rollout: summary.rollout ?? null,
    parent: summary.parent?.id ?? null,
    parent_turn: summary.parent?.turn ?? null,
    parent_by: summary.parent?.by ?? null,
    seed: summary.seed,
    started_at: Date.parse(summary.startedAt),
    state: summary.abandoned ?? summary.state,
    turns: summary.turns,
    choices: summary.choices,
    verdicts: summary.verdicts ?? 0,
    stars: summary.stars ?? null,
    raters: summary.raters ?? 0,
    review: summary.review ?? null,
    review_reason: optional(summary.reviewReason),
    player: optional(summary.player, 'player'),
    title: optional(summary.title, 'title'),
    tags: optional(summary.tags && `\n${summary.tags.join('\n')}\n`, 'tags'),
    note: optional(summary.note, 'note'),
    leak: summary.leak,
    leaked: Number(summary.leaked),
    timed_replies: summary.replyTime?.replies ?? 0,
    reply_ms: summary.replyTime?.milliseconds ?? 0,
    fixed: fixed ? resultOf(fixed.success) : null,
    fixed_reward: fixed?.reward ?? null,
    fixed_scale: optional(scaleIn(episode, 'fixed')),
    paper: paper ? resultOf(paper.success) : null,
    paper_reward: paper?.reward ?? null,
    paper_scale: optional(scaleIn(episode, 'paper')),
    doubtful: Number(folding.isDoubtful),
    damaged: Number(isDamaged || episode.damaged !== undefined),
    deleted: Number(folding.deleted),
    was_deleted: Number(folding.wasDeleted),
  };
}

/** Undefined if the latest grade in this mode is no page's score. */
function scaleIn({ grades }: Pick<Trajectory, 'grades'>, mode: 'fixed' | 'paper'): string | undefined {
  const grade = grades.findLast((event) => event.grade.mode === mode)?.grade;
  if (grade?.page === undefined || grade.reward === null) return undefined;
  const { measure, version, renderer } = grade.page;
  return JSON.stringify([mode, measure, version, renderer]);
}

const resultOf = (success: boolean | null): string =>
  success === null ? 'none' : success ? 'success' : 'failure';

/** Null if there is no grade, or the grader could not tell. */
export const successOf = (result: Value): boolean | null =>
  result === 'success' ? true : result === 'failure' ? false : null;

export const stateOf = (state: Value): TrajectorySummary['state'] =>
  state === 'open' || state === 'answered' ? state : 'abandoned';

/** A grade that says "not gradable" counts. */
export const gradedModes = (row: Row): ('fixed' | 'paper')[] => MODES.filter((mode) => row[mode] !== null);

export const tagsIn = (text: string): string[] => text.split('\n').slice(1, -1);

export function summaryOf(row: Row, names: Numbered): TrajectorySummary {
  const state = stateOf(row.state);
  const text = (column: Column): string => names.text(Number(row[column]));
  const textIn = (column: Column): string | undefined => (row[column] === null ? undefined : text(column));
  const numberIn = (column: Column): number | undefined =>
    row[column] === null ? undefined : Number(row[column]);
  const replies = Number(row.timed_replies);
  const tags = textIn('tags');
  const grades = gradedModes(row).map((mode) => {
    const reward = row[`${mode}_reward`];
    return [mode, { reward: reward === null ? null : Number(reward), success: successOf(row[mode]) }];
  });
  return {
    id: String(row.id),
    taskId: text('task'),
    pack: textIn('pack'),
    agent: text('agent'),
    collaborator: {
      kind: row.collaborator_kind as TrajectorySummary['collaborator']['kind'],
      name: text('collaborator'),
    },
    startedAt: new Date(Number(row.started_at)).toISOString(),
    state,
    abandoned: state === 'abandoned' ? (row.state as TrajectorySummary['abandoned']) : undefined,
    turns: Number(row.turns),
    grades: Object.fromEntries(grades) as TrajectorySummary['grades'],
    leak: Number(row.leak),
    leaked: row.leaked === 1,
    doubtful: row.doubtful === 1 ? true : undefined,
    choices: Number(row.choices),
    verdicts: Number(row.verdicts) || undefined,
    stars: numberIn('stars'),
    player: textIn('player'),
    raters: Number(row.raters) || undefined,
    review: (row.review ?? undefined) as TrajectorySummary['review'],
    reviewReason: textIn('review_reason'),
    title: textIn('title'),
    tags: tags === undefined ? undefined : tagsIn(tags),
    note: textIn('note'),
    replyTime: replies > 0 ? { replies, milliseconds: Number(row.reply_ms) } : undefined,
    seed: Number(row.seed),
    rollout: numberIn('rollout'),
    collection: textIn('collection'),
    parent:
      row.parent === null
        ? undefined
        : {
            id: String(row.parent),
            turn: Number(row.parent_turn),
            by: row.parent_by as NonNullable<TrajectorySummary['parent']>['by'],
          },
  };
}
