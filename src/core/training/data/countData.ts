import { roleMessages } from '../../dialogue/refinement/roleOutputs';
import { isProgram } from '../../task/task';
import type { ChatMessageLike } from '../../trajectory/export/export';
import { RowGathering } from '../../trajectory/export/gathering';
import { pairsOf } from '../../trajectory/export/pairs';
import {
  select,
  UNCOVERED,
  type LeftOut,
  type Pairing,
  type Signal,
} from '../../trajectory/export/selection';
import type { TrajectoryLog } from '../../trajectory/log';
import { isRole } from '../../trajectory/searchTree';
import { inheritedBy, type Trajectory, type Turn } from '../../trajectory/trajectory';
import type { LogSelection } from '../configuration';
import type { FeedbackOfRun, RowsOfRun } from '../methods';
import { chosenBy } from './prepare';

export interface DataCounts {
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  /** Pairs of trajectories of one task, under the chosen pairing; of the collaborator, edited suggestions; of a role, its good and bad outputs. */
  readonly pairs: number;
  /** Messages of the agent, and their tokens as sampled; or replies to learn from. */
  readonly turns: number;
  readonly tokens: number;
  /** Of replies: who gave them. */
  readonly people?: number;
  /** Messages without a number of tokens in the log; they are missing from `tokens`. */
  readonly uncounted: number;
  readonly leftOut: LeftOut;
  /** Rows of what people left on turns; absent without `feedback`. */
  readonly feedback?: Partial<Record<Signal, number>>;
}

export interface CountOptions {
  /** `trajectories` by default. */
  readonly rows?: RowsOfRun;
  readonly pairing: Pairing;
  /** `data.pair_margin` of the configuration. */
  readonly margin?: number;
  readonly feedback?: FeedbackOfRun;
  /** As for `prepareData`. */
  readonly withUngraded?: boolean;
  readonly signal?: AbortSignal;
}

/** Counts the trajectories that `prepareData` would write. */
export async function countData(
  log: TrajectoryLog,
  selection: LogSelection,
  options: CountOptions,
): Promise<DataCounts> {
  const counts = await countDialogues(log, selection, options);
  if (options.feedback === undefined) return counts;
  const { signals, leftOut } = await countFeedback(log, selection, options.feedback, options.signal);
  const uncovered = UNCOVERED.flatMap((reason) => {
    const count = leftOut[reason];
    return count === undefined ? [] : [[reason, count]];
  });
  const left = { ...counts.leftOut, ...(Object.fromEntries(uncovered) as LeftOut) };
  return { ...counts, leftOut: left, feedback: signals };
}

async function countDialogues(
  log: TrajectoryLog,
  selection: LogSelection,
  { rows: kind = 'trajectories', pairing, margin, withUngraded, signal }: CountOptions,
): Promise<DataCounts> {
  if (kind !== 'trajectories') return countMessages(log, selection, kind, { withUngraded, signal });
  const chosen = chosenBy(selection);
  const taken = new Map<string, TurnCounts>();
  const pages = new Set<string>();
  const gathering = new RowGathering(log, {
    ...chosen,
    format: 'trajectories',
    visible: () => '',
    render: (trajectory) => {
      taken.set(trajectory.id, turnsOf(trajectory));
      if (!isProgram(trajectory.task)) pages.add(trajectory.task.id);
      return [];
    },
    ...{ withUngraded, signal },
  });
  // `gathering` counts a row when it is made.
  const rows = gathering.rows();
  while ((await rows.next()).done !== true);
  const { selected } = select(log, chosen, true);
  const kept = selected.filter(({ summary }) => taken.has(summary.id));
  const pairs = [...Map.groupBy(kept, ({ summary }) => summary.taskId)].flatMap(
    ([task, played]) => pairsOf(played, { pairing, margin, isPage: pages.has(task) }).pairs,
  );
  const sum = (field: keyof TurnCounts): number =>
    [...taken.values()].reduce((total, counts) => total + counts[field], 0);
  const { facts, leftOut } = gathering;
  return {
    ...{ trajectories: facts.trajectories, tasks: facts.tasks.size, successes: facts.successes, leftOut },
    pairs: pairs.length,
    ...{ turns: sum('turns'), tokens: sum('tokens'), uncounted: sum('uncounted') },
  };
}

async function countMessages(
  log: TrajectoryLog,
  selection: LogSelection,
  format: Exclude<RowsOfRun, 'trajectories'>,
  options: Pick<CountOptions, 'withUngraded' | 'signal'>,
): Promise<DataCounts> {
  const gathering = new RowGathering(log, {
    ...chosenBy(selection),
    format,
    render: (trajectory) => {
      if (isRole(format)) return roleMessages(format, trajectory, spokenIn);
      const replied = trajectory.turns.filter(({ reply }) => reply !== undefined);
      return isProgram(trajectory.task) ? replied.map(() => EMPTY_REPLY) : [];
    },
    ...options,
  });
  const rows = gathering.rows();
  while ((await rows.next()).done !== true);
  const { facts, leftOut, rowCount } = gathering;
  return {
    ...{ trajectories: facts.trajectories, tasks: facts.tasks.size, successes: facts.successes, leftOut },
    ...{ pairs: format === 'replies' ? 0 : rowCount, turns: rowCount, tokens: 0, uncounted: rowCount },
    ...(format === 'replies' && { people: facts.developers.size }),
  };
}

async function countFeedback(
  log: TrajectoryLog,
  selection: LogSelection,
  { format, signals }: FeedbackOfRun,
  signal?: AbortSignal,
): Promise<RowGathering> {
  const gathering = new RowGathering(log, {
    ...{ ...chosenBy(selection), format, signals, signal },
    render: ({ task, turns }) => {
      const said = format === 'edits' ? turns.filter(({ reply }) => reply !== undefined) : turns;
      return format === 'edits' && !isProgram(task) ? [] : said.map(() => EMPTY_REPLY);
    },
  });
  const rows = gathering.rows();
  while ((await rows.next()).done !== true);
  return gathering;
}

/** Enough to tell histories apart. */
const spokenIn = (turns: readonly Turn[]): readonly ChatMessageLike[] =>
  turns.map(({ agent, reply }) => ({ role: 'user', content: `${agent.text}\n${reply?.text}` }));

/** Stands for the prompt and the text, which are not counted. */
const EMPTY_REPLY = { role: 'assistant', content: '' } as const;

type TurnCounts = Pick<DataCounts, 'turns' | 'tokens' | 'uncounted'>;

function turnsOf({ turns: all, started }: Trajectory): TurnCounts {
  const turns = all.slice(inheritedBy(started.parent).messages);
  const tokens = turns.map(({ agent }) => agent.tokens?.ids?.length ?? agent.usage?.completionTokens);
  const known = tokens.filter((count) => count !== undefined);
  return {
    turns: turns.length,
    tokens: known.reduce((total, count) => total + count, 0),
    uncounted: turns.length - known.length,
  };
}
