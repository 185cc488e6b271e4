import type { FileHandle } from 'node:fs/promises';
import { writeAtomically } from '../files';
import type { TrajectoryLog } from '../log';
import type { Trajectory, Turn } from '../trajectory';
import { CardFacts, datasetCard } from './card';
import { choiceRows } from './choices';
import { pairsByTask, type Pairing, type TaskPairs } from './pairs';
import { chatRow, preferenceRow, trajectoryRow, type ChatMessageLike, type Side } from './rows';
import {
  countUp,
  select,
  type LeftOut,
  type LeftOutReason,
  type Selected,
  type Selection,
} from './selection';

export type { Pairing } from './pairs';
export type { ChatMessageLike } from './rows';
export type { LeftOut, LeftOutReason, Selection } from './selection';

/**
 * The whole conversation as the agent saw it in play, ending in its last message; its own messages raw, thoughts
 * included. The dialogue's prompts make it, so that whoever asks for the export brings it.
 */
export type Render = (trajectory: Trajectory) => readonly ChatMessageLike[];

export type ExportFormat =
  /** `visible`: what the collaborator sees of an agent's turn. With `render` a row holds the conversation, too. */
  | {
      readonly format: 'trajectories';
      readonly visible: (turn: Turn) => string;
      readonly render?: Render;
    }
  | { readonly format: 'chat'; readonly render: Render }
  | { readonly format: 'preferences'; readonly render: Render; readonly pairs?: Pairing }
  /** Single steps: of two candidates for a turn, the one that a person chose against the other. */
  | { readonly format: 'choices'; readonly render: Render };

/** Why a trajectory is left out that only its whole content tells, e.g. a reply without consent. */
export type LeaveOut = (trajectory: Trajectory) => LeftOutReason | undefined;

export type ExportOptions = ExportFormat &
  Selection & {
    readonly leaveOut?: LeaveOut;
    readonly signal?: AbortSignal;
    readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  };

export interface ExportResult {
  readonly rows: number;
  /** Different trajectories in those rows. */
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  /** Of the trajectories: those whose every turn has the token ids that were sampled. */
  readonly withTokenIds: number;
  readonly leftOut: LeftOut;
  readonly file: string;
  /** The dataset card beside it. */
  readonly card: string;
}

/**
 * Writes the log's finished trajectories as JSON lines into `file`, and a dataset card beside it as `<file>.md`. The
 * file appears only when it is whole; one of that name is replaced. What is left out is counted in the result.
 *
 * @throws the signal's reason when it is aborted; nothing is written then
 */
export async function exportTrajectories(
  log: TrajectoryLog,
  file: string,
  options: ExportOptions,
): Promise<ExportResult> {
  const needsReward = options.format === 'trajectories' || options.format === 'preferences';
  const { selected, leftOut } = select(log, options, needsReward);
  const facts = new CardFacts();
  let rows = 0;
  await writeAtomically(file, async (handle) => {
    const writer = new RowWriter(handle);
    for await (const row of rowsOf(log, selected, options, facts, leftOut)) {
      options.signal?.throwIfAborted();
      await writer.write(row);
      rows += 1;
    }
    await writer.flush();
  });
  const card = `${file}.md`;
  const text = datasetCard({
    file,
    format: options.format,
    rows,
    facts,
    leftOut,
    selection: options,
    consents: log.consents,
  });
  await writeAtomically(card, (handle) => handle.writeFile(text));
  const { trajectories, successes, withTokenIds } = facts;
  return { rows, trajectories, tasks: facts.tasks.size, successes, withTokenIds, leftOut, file, card };
}

function rowsOf(
  log: TrajectoryLog,
  selected: readonly Selected[],
  options: ExportOptions,
  facts: CardFacts,
  leftOut: LeftOut,
): AsyncGenerator<object> {
  if (options.format === 'preferences') return preferences(log, selected, options, facts, leftOut);
  if (options.format === 'choices') return choiceRows(log, selected, options, facts, leftOut);
  return singles(log, selected, options, facts, leftOut);
}

async function* singles(
  log: TrajectoryLog,
  selected: readonly Selected[],
  options: Extract<ExportOptions, { format: 'trajectories' | 'chat' }>,
  facts: CardFacts,
  leftOut: LeftOut,
): AsyncGenerator<object> {
  const grades = new Map(selected.map(({ summary, grade }) => [summary.id, grade]));
  let done = 0;
  for await (const trajectory of log.trajectories(grades.keys())) {
    done += 1;
    options.onProgress?.({ done, total: selected.length });
    const grade = grades.get(trajectory.id);
    const reason = trajectory.damaged === undefined ? options.leaveOut?.(trajectory) : 'damaged';
    if (reason !== undefined) {
      countUp(leftOut, reason);
      continue;
    }
    facts.add(trajectory, grade);
    if (options.format === 'chat') yield chatRow(trajectory, options.render(trajectory), grade);
    else if (grade) yield trajectoryRow(trajectory, grade, options.visible, options.render?.(trajectory));
  }
}

async function* preferences(
  log: TrajectoryLog,
  selected: readonly Selected[],
  options: Extract<ExportOptions, { format: 'preferences' }>,
  facts: CardFacts,
  leftOut: LeftOut,
): AsyncGenerator<object> {
  const byTask = new Map(pairsByTask(selected, options.pairs ?? 'paper').map((pairs) => [pairs.task, pairs]));
  const paired = new Map<string, Selected>();
  for (const { pairs, unpaired } of byTask.values()) {
    if (unpaired > 0) countUp(leftOut, 'without a better or worse trajectory of the same task', unpaired);
    for (const side of pairs.flatMap(({ chosen, rejected }) => [chosen, rejected])) {
      paired.set(side.summary.id, side);
    }
  }
  // The trajectories of one task come one after the other, and are few enough to be held together.
  let sides = new Map<string, Side>();
  let task: string | undefined;
  let done = 0;
  for await (const trajectory of log.trajectories(paired.keys())) {
    if (trajectory.started.task !== task) {
      yield* taskRows(byTask.get(task ?? ''), sides, facts, leftOut);
      task = trajectory.started.task;
      sides = new Map();
    }
    const grade = paired.get(trajectory.id)?.grade;
    const reason =
      trajectory.damaged === undefined && grade ? options.leaveOut?.(trajectory) : ('damaged' as const);
    if (reason !== undefined || !grade) countUp(leftOut, reason ?? 'damaged');
    else sides.set(trajectory.id, { trajectory, messages: options.render(trajectory), grade });
    done += 1;
    options.onProgress?.({ done, total: paired.size });
  }
  yield* taskRows(byTask.get(task ?? ''), sides, facts, leftOut);
}

function* taskRows(
  task: TaskPairs | undefined,
  sides: ReadonlyMap<string, Side>,
  facts: CardFacts,
  leftOut: LeftOut,
): Generator<object> {
  const used = new Set<Side>();
  for (const pair of task?.pairs ?? []) {
    const chosen = sides.get(pair.chosen.summary.id);
    const rejected = sides.get(pair.rejected.summary.id);
    const row = chosen && rejected && preferenceRow(chosen, rejected);
    if (!row) continue;
    used.add(chosen).add(rejected);
    yield row;
  }
  for (const { trajectory, grade } of used) facts.add(trajectory, grade);
  const alone = sides.size - used.size;
  if (alone > 0) countUp(leftOut, 'paired only with trajectories of other prompts', alone);
}

const FLUSH_LENGTH = 1024 * 1024;

/** Writes rows as JSON lines, many at a time. */
class RowWriter {
  private text = '';

  constructor(private readonly handle: FileHandle) {}

  async write(row: object): Promise<void> {
    this.text += `${JSON.stringify(row)}\n`;
    if (this.text.length > FLUSH_LENGTH) await this.flush();
  }

  async flush(): Promise<void> {
    await this.handle.writeFile(this.text);
    this.text = '';
  }
}
