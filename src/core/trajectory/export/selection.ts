import { EVALUATION } from '../index/filter';
import type { TrajectoryFilter, TrajectoryLog } from '../log';
import { playsByTerms } from '../modelTerms';
import type { Trajectory, TrajectorySummary, Turn } from '../trajectory';
import type { FormatId } from './formats';
import type { ChatMessageLike, ExportedGrade } from './rows';

export interface Selection {
  readonly filter?: TrajectoryFilter;
  /** Grading mode of the rewards; defaults to `fixed`. */
  readonly mode?: 'fixed' | 'paper';
  readonly onlySuccess?: boolean;
  readonly onlyAccepted?: boolean;
  readonly withRedo?: boolean;
  /** 0 to 1. */
  readonly minReward?: number;
  readonly withLeaked?: boolean;
  /** Include dialogues played to evaluate an agent; training on them would spoil the next evaluation. */
  readonly withEvaluations?: boolean;
  /** Include dialogues with text by a model of the editor; the terms of many such models forbid training on it. */
  readonly withEditorModels?: boolean;
  /** Include dialogues that lines lost from the log may have deleted, marked as leaked, or withdrawn the consent to. */
  readonly withDoubtful?: boolean;
}

/**
 * The whole conversation as the agent saw it during play, up to its last message; its own messages are raw, thoughts
 * included. For the formats `replies` and `edits`: for each reply, what a simulator would read, and the reply. For the
 * format of a role: what the role read, and its first output. Callers provide this function, because it needs the
 * dialogue's prompts.
 */
export type Render = (trajectory: Trajectory) => readonly ChatMessageLike[];

/**
 * Ways to pair trajectories of one task. `paper`: the first one with reward 1 against every one with a lower reward
 * (the critic's pairs of SWEET-RL); of a web page, whose score is seldom 1, every two. `successes`: each one with
 * reward 1 against every lower one. `all`: every two with different rewards.
 */
export const PAIRINGS = ['paper', 'successes', 'all'] as const;
export type Pairing = (typeof PAIRINGS)[number];

export type ExportFormat =
  /** `visible` returns the text that the collaborator sees. With `render`, rows also contain the conversation. */
  | {
      readonly format: 'trajectories';
      readonly visible: (turn: Turn) => string;
      readonly render?: Render;
    }
  /** `pairs` is for preferences. */
  | {
      readonly format: Exclude<FormatId, 'trajectories'>;
      readonly render: Render;
      readonly pairs?: Pairing;
    };

/** The caller's reason to leave a trajectory out; undefined to keep it. */
export type LeaveOut = (trajectory: Trajectory) => LeftOutReason | undefined;

/**
 * If there are secrets or e-mail addresses: write nothing, leave out the dialogues that contain them, or write
 * everything.
 */
export type FindingsPolicy = 'refuse' | 'leave-out' | 'write';

/** What people leave on turns, as fields of `data.feedback` name it. Of edits, the reply is the collaborator's. */
export type Signal = 'thumbs' | 'choices' | 'verdicts' | 'edits' | 'outcomes';

/** On turns of the agent. */
export const AGENT_SIGNALS = [
  'thumbs',
  'choices',
  'verdicts',
  'outcomes',
] as const satisfies readonly Signal[];

export type ExportOptions = ExportFormat &
  Selection & {
    readonly leaveOut?: LeaveOut;
    /** True if the agent saw other instructions than those that `render` writes; such trajectories are counted. */
    readonly sawAnotherPrompt?: (trajectory: Trajectory) => boolean;
    readonly findings?: FindingsPolicy;
    /** Digest of the rows that a person has previewed; if they have changed, nothing is written. */
    readonly previewed?: string;
    /**
     * True if the rows stay on this machine, e.g. for training: then dialogues that people keep local are included, and
     * the rows are not scanned for secrets.
     */
    readonly staysHere?: boolean;
    /**
     * With `staysHere`: takes dialogues about own functions, with the code after the person's edits as their hidden
     * information, where a consent names that. Exports never hold that code.
     */
    readonly withOwnCode?: boolean;
    /** For the formats `feedback` and `edits`: only these, and only where the consent names edits and outcomes. */
    readonly signals?: readonly Signal[];
    /** True if dialogues without a grade are taken where the format would need one. */
    readonly withUngraded?: boolean;
    readonly signal?: AbortSignal;
    readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  };

/** A consent from before these were asked about does not cover them. */
export const UNCOVERED = [
  'edits without a consent that names them',
  'outcomes without a consent that names them',
] as const;
type UncoveredReason = (typeof UNCOVERED)[number];

export type LeftOutReason =
  | 'outside the filter'
  | 'not finished'
  | 'abandoned'
  | 'deleted'
  | 'played in an evaluation'
  | 'leaked'
  | 'to be redone'
  | 'not accepted'
  | 'not graded'
  | 'recorded elsewhere, without tests'
  | 'about own code'
  | 'about own code, which has no grade'
  | 'about own code that was not logged'
  | 'about own code, without consent to train on it'
  | 'not a success'
  | 'below the minimum reward'
  | 'damaged'
  | 'with an empty message of the agent'
  | 'doubtful'
  | 'no consent'
  | 'local only'
  | 'model terms'
  | 'of another measure'
  | 'drawn by another renderer'
  | 'outside the drawn tasks'
  | 'secret or e-mail address'
  | 'without a better or worse trajectory of the same task'
  | 'sharing turns with a better or earlier dialogue'
  | 'outside of a search tree'
  | 'in a search tree without a pair of this role'
  | 'without a choice between candidates'
  | 'choices of candidates that are equal'
  | 'choices of neither candidate'
  | 'choices with an empty candidate'
  | 'without a thumb'
  | 'thumbs that may not leave this machine'
  | 'without a verdict on a critic'
  | 'without a reply to learn from'
  | 'without an edited suggestion'
  | 'replies that leaked'
  | 'replies cut at the limit'
  | 'edits that may not leave this machine'
  | 'without feedback on a turn'
  | UncoveredReason
  | 'turns that neither helped nor hurt, says the critic'
  | 'turns on which verdicts contradict each other'
  | 'paired only with trajectories of other prompts or measures';

/** Counts what makes no row; returns no rows. */
export type CountLeftOut = (reason: LeftOutReason) => [];

export function doubtInWords(count: number, option: '--with-doubtful' | 'data.with_doubtful'): string {
  const dialogues = count === 1 ? '1 dialogue is' : `${count} dialogues are`;
  return `${dialogues} left out as doubtful: lines were lost from the log that may have been a deletion, a leak mark or a withdrawn consent, and no one can tell. Look through the list; ${option} takes doubtful dialogues all the same, and tandem check --repair --accept-loss settles it for good.`;
}

export const OWN_CODE_IN_WORDS =
  'data.with_own_code takes dialogues about own code, where their people agreed to it.';

export type LeftOut = Partial<Record<LeftOutReason, number>>;

export interface Selected {
  readonly summary: TrajectorySummary;
  readonly grade: ExportedGrade | undefined;
}

interface SelectedTrajectories {
  readonly selected: readonly Selected[];
  readonly leftOut: LeftOut;
}

export function select(log: TrajectoryLog, selection: Selection, needsReward: boolean): SelectedTrajectories {
  const { filter = {}, mode = 'fixed' } = selection;
  const { rows } = log.list({ filter, sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY });
  const leftOut: LeftOut = {};
  const selected: Selected[] = [];
  const isEvaluation = ({ collection, parent }: TrajectorySummary): boolean => {
    if (collection?.startsWith(EVALUATION) === true) return true;
    const from = parent && log.summary(parent.id);
    return from !== undefined && isEvaluation(from);
  };
  // Lists omit deleted dialogues, so it is unknown which of them match the filter.
  const deleted = log.deleted.length;
  if (deleted > 0) leftOut.deleted = deleted;
  const outside = log.count().total - rows.length;
  if (outside > 0) leftOut['outside the filter'] = outside;
  for (const summary of rows) {
    const grade = gradeOf(summary, mode);
    const reason = whyNot(summary, grade, { ...selection, isEvaluation }, needsReward);
    if (reason === undefined) selected.push({ summary, grade });
    else countUp(leftOut, reason);
  }
  return { selected, leftOut };
}

export function countUp(leftOut: LeftOut, reason: LeftOutReason, by = 1): void {
  leftOut[reason] = (leftOut[reason] ?? 0) + by;
}

function gradeOf(summary: TrajectorySummary, mode: 'fixed' | 'paper'): ExportedGrade | undefined {
  const grade = summary.grades[mode];
  if (grade?.reward == null) return undefined;
  return { mode, reward: grade.reward, success: grade.success };
}

function whyNot(
  summary: TrajectorySummary,
  grade: ExportedGrade | undefined,
  selection: Selection & { readonly isEvaluation: (summary: TrajectorySummary) => boolean },
  needsReward: boolean,
): LeftOutReason | undefined {
  const { state, leaked, review } = summary;
  const { onlySuccess = false, minReward, withLeaked = false, withEvaluations = false } = selection;
  const { onlyAccepted = false, withRedo = false } = selection;
  if (state === 'open') return 'not finished';
  if (state === 'abandoned') return 'abandoned';
  if (!withEvaluations && selection.isEvaluation(summary)) return 'played in an evaluation';
  if (leaked && !withLeaked) return 'leaked';
  if (review === 'redo' && !withRedo) return 'to be redone';
  if (onlyAccepted && review !== 'accepted') return 'not accepted';
  if (playsByTerms(summary) && selection.withEditorModels !== true) return 'model terms';
  if (!grade) return needsReward || onlySuccess || minReward !== undefined ? 'not graded' : undefined;
  if (onlySuccess && grade.success !== true) return 'not a success';
  return minReward !== undefined && grade.reward < minReward ? 'below the minimum reward' : undefined;
}
