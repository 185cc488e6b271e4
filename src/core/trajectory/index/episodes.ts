import type { Collaborator, EventOf } from '../event';
import type { Trajectory, TrajectoryState, TrajectorySummary } from '../trajectory';
import { Table, type Column, type ColumnKind, type Strings } from './columns';

/** Every episode has one row; strings are numbers of the shared string table, -1 where there is none. */
const COLUMNS = {
  flags: 'u8',
  state: 'u8',
  collaboratorKind: 'u8',
  fixedOutcome: 'u8',
  paperOutcome: 'u8',
  stars: 'u8',
  turns: 'i32',
  choices: 'i32',
  verdicts: 'i32',
  /** The turn whose candidates wait for a choice; 0 when none do. */
  undecidedTurn: 'i32',
  task: 'i32',
  pack: 'i32',
  agent: 'i32',
  collaborator: 'i32',
  collection: 'i32',
  rollout: 'i32',
  /** Row of the task's line; -1 when the log does not hold it. */
  taskLine: 'i32',
  /** Newest of the episode's byte ranges; each knows the one before it. */
  lastRange: 'i32',
  lastLeakTurn: 'i32',
  lastReplyTurn: 'i32',
  /** Replies of a developer whose time is known, and the sum of these times in milliseconds. */
  timedReplies: 'i32',
  seed: 'f64',
  startedAt: 'f64',
  lastAt: 'f64',
  replyMs: 'f64',
  fixedReward: 'f64',
  paperReward: 'f64',
  leak: 'f64',
} as const satisfies Record<string, ColumnKind>;

export type EpisodeColumn = keyof typeof COLUMNS;

const STARTED = 1;
const DELETED = 2;
const LEAKED = 4;
const DAMAGED = 8;
const DOUBTFUL = 16;
/** It was deleted at some time, or restored. */
const WAS_DELETED = 32;

const STATES = ['open', 'answered', 'cancelled', 'failed', 'skipped'] as const;
const ANSWERED = STATES.indexOf('answered');
const KINDS = ['developer', 'simulator', 'rules'] as const satisfies Collaborator['kind'][];
/** 0: not graded in this mode. */
const OUTCOMES = [undefined, null, false, true] as const;

/** What a row takes from the start of its episode. */
export type StartFields = Pick<
  EventOf<'episode-started'>,
  'task' | 'pack' | 'agent' | 'collaborator' | 'seed' | 'rollout' | 'collection'
>;

/** What the index knows of each episode, in columns. Rows are numbers from 0 in the order they were first seen. */
export class Episodes {
  private rows: Map<string, number> | undefined;

  constructor(
    readonly strings: Strings,
    readonly ids: string[] = [],
    readonly table: Table<EpisodeColumn> = Table.of(COLUMNS),
  ) {}

  static readonly columnKinds: Readonly<Record<EpisodeColumn, ColumnKind>> = COLUMNS;

  get length(): number {
    return this.ids.length;
  }

  find(id: string): number | undefined {
    // Built only when it is first needed: a list does not.
    this.rows ??= new Map(this.ids.map((known, row) => [known, row]));
    return this.rows.get(id);
  }

  /** The row of an episode, which is new when nothing was known of it. */
  row(id: string): number {
    const known = this.find(id);
    if (known !== undefined) return known;
    const row = this.ids.push(id) - 1;
    this.rows?.set(id, row);
    this.table.addZeros();
    const { pack, collection, rollout, taskLine, lastRange } = this.columns;
    for (const column of [pack, collection, rollout, taskLine, lastRange]) column.set(row, -1);
    return row;
  }

  get columns(): Readonly<Record<EpisodeColumn, Column>> {
    return this.table.columns;
  }

  /** Started and not deleted: what a list shows. */
  isVisible(row: number): boolean {
    return (this.columns.flags.get(row) & (STARTED | DELETED)) === STARTED;
  }

  isStarted(row: number): boolean {
    return (this.columns.flags.get(row) & STARTED) !== 0;
  }

  isDeleted(row: number): boolean {
    return (this.columns.flags.get(row) & DELETED) !== 0;
  }

  isLeaked(row: number): boolean {
    return (this.columns.flags.get(row) & LEAKED) !== 0;
  }

  /** Lines of the episode, or its task, are missing from the log or cannot be read. */
  isDamaged(row: number): boolean {
    return (this.columns.flags.get(row) & DAMAGED) !== 0 || this.columns.taskLine.get(row) < 0;
  }

  /** Lines were lost after its start, and nobody can tell whether they deleted it or marked a leak in it. */
  isDoubtful(row: number): boolean {
    return (this.columns.flags.get(row) & DOUBTFUL) !== 0;
  }

  /** It was deleted at some time, or restored: whether it is doubtful the order of its events decides. */
  wasDeleted(row: number): boolean {
    return (this.columns.flags.get(row) & WAS_DELETED) !== 0;
  }

  isAnswered(row: number): boolean {
    return this.columns.state.get(row) === ANSWERED;
  }

  state(row: number): TrajectoryState {
    const state = STATES[this.columns.state.get(row)]!;
    return state === 'open' || state === 'answered' ? state : 'abandoned';
  }

  seatKind(row: number): Collaborator['kind'] {
    return KINDS[this.columns.collaboratorKind.get(row)]!;
  }

  /** Of an episode that has started. */
  agent(row: number): string {
    return this.strings.text(this.columns.agent.get(row));
  }

  /** The latest grade in a mode; undefined when there is none. */
  grade(
    row: number,
    mode: 'fixed' | 'paper',
  ): { reward: number | null; success: boolean | null } | undefined {
    const success = OUTCOMES[this.columns[`${mode}Outcome`].get(row)];
    if (success === undefined) return undefined;
    const reward = this.columns[`${mode}Reward`].get(row);
    return { reward: Number.isNaN(reward) ? null : reward, success };
  }

  start(row: number, event: StartFields, at: number): void {
    const { strings } = this;
    const optional = (text: string | undefined): number => (text === undefined ? -1 : strings.number(text));
    this.columns.flags.set(row, this.columns.flags.get(row) | STARTED);
    this.columns.startedAt.set(row, at);
    this.columns.task.set(row, strings.number(event.task));
    this.columns.pack.set(row, optional(event.pack));
    this.columns.agent.set(row, strings.number(event.agent));
    this.columns.seed.set(row, event.seed);
    this.columns.rollout.set(row, event.rollout ?? -1);
    this.columns.collection.set(row, optional(event.collection));
    this.seat(row, event.collaborator);
  }

  /** Another agent may go on with it. */
  resume(row: number, agent: string | undefined): void {
    if (agent !== undefined) this.columns.agent.set(row, this.strings.number(agent));
  }

  seat(row: number, collaborator: Collaborator): void {
    this.columns.collaboratorKind.set(row, KINDS.indexOf(collaborator.kind));
    this.columns.collaborator.set(row, this.strings.number(collaborator.name));
  }

  setState(row: number, state: (typeof STATES)[number]): void {
    this.columns.state.set(row, STATES.indexOf(state));
  }

  setGrade(row: number, mode: 'fixed' | 'paper', reward: number | null, success: boolean | null): void {
    this.columns[`${mode}Reward`].set(row, reward ?? Number.NaN);
    this.columns[`${mode}Outcome`].set(row, OUTCOMES.indexOf(success));
  }

  addLeak(row: number, turn: number, fraction: number, leaked: boolean): void {
    this.columns.lastLeakTurn.set(row, turn);
    if (fraction > this.columns.leak.get(row)) this.columns.leak.set(row, fraction);
    if (leaked) this.columns.flags.set(row, this.columns.flags.get(row) | LEAKED);
  }

  /** @param milliseconds how long a developer took for the reply; undefined when that is not known */
  addReply(row: number, turn: number, milliseconds: number | undefined): void {
    this.columns.lastReplyTurn.set(row, turn);
    if (milliseconds !== undefined) this.addReplyTime(row, 1, milliseconds);
  }

  delete(row: number): void {
    this.columns.flags.set(row, this.columns.flags.get(row) | DELETED | WAS_DELETED);
  }

  undelete(row: number): void {
    this.columns.flags.set(row, (this.columns.flags.get(row) & ~DELETED) | WAS_DELETED);
  }

  doubt(row: number): void {
    this.columns.flags.set(row, this.columns.flags.get(row) | DOUBTFUL);
  }

  /** Replaces what the row says by what the whole episode says, as one that is not deleted. */
  restore(row: number, trajectory: Trajectory, summary: TrajectorySummary): void {
    const { started, turns, damaged, doubtful, pending } = trajectory;
    const marks = (damaged === undefined ? 0 : DAMAGED) | (doubtful === undefined ? 0 : DOUBTFUL);
    this.columns.flags.set(row, marks | (this.columns.flags.get(row) & WAS_DELETED));
    this.start(row, started, Date.parse(started.at));
    this.resume(row, summary.agent);
    this.seat(row, summary.collaborator);
    this.setState(row, summary.state === 'abandoned' ? summary.abandoned! : summary.state);
    this.columns.turns.set(row, summary.turns);
    this.columns.choices.set(row, summary.choices);
    this.columns.verdicts.set(row, summary.verdicts ?? 0);
    const last = pending?.at(-1);
    this.columns.undecidedTurn.set(row, last === undefined || last.choice ? 0 : last.shown.turn);
    this.columns.leak.set(row, 0);
    this.addLeak(row, summary.turns, summary.leak, summary.leaked);
    this.columns.stars.set(row, summary.stars ?? 0);
    this.columns.lastReplyTurn.set(row, turns.findLast(({ reply }) => reply)?.agent.turn ?? 0);
    this.columns.timedReplies.set(row, 0);
    this.columns.replyMs.set(row, 0);
    const { replyTime } = summary;
    if (replyTime) this.addReplyTime(row, replyTime.replies, replyTime.milliseconds);
    this.columns.fixedOutcome.set(row, 0);
    this.columns.paperOutcome.set(row, 0);
    for (const mode of ['fixed', 'paper'] as const) {
      const grade = summary.grades[mode];
      if (grade) this.setGrade(row, mode, grade.reward, grade.success);
    }
  }

  summary(row: number): TrajectorySummary {
    const state = STATES[this.columns.state.get(row)]!;
    const fixed = this.grade(row, 'fixed');
    const paper = this.grade(row, 'paper');
    const pack = this.text(row, 'pack');
    const collection = this.text(row, 'collection');
    const stars = this.columns.stars.get(row);
    const rollout = this.columns.rollout.get(row);
    const replies = this.columns.timedReplies.get(row);
    const verdicts = this.columns.verdicts.get(row);
    return {
      id: this.ids[row]!,
      taskId: this.strings.text(this.columns.task.get(row)),
      ...(pack !== undefined && { pack }),
      agent: this.agent(row),
      collaborator: {
        kind: this.seatKind(row),
        name: this.strings.text(this.columns.collaborator.get(row)),
      },
      startedAt: new Date(this.columns.startedAt.get(row)).toISOString(),
      state: this.state(row),
      ...(state !== 'open' && state !== 'answered' && { abandoned: state }),
      turns: this.columns.turns.get(row),
      grades: { ...(fixed && { fixed }), ...(paper && { paper }) },
      leak: this.columns.leak.get(row),
      leaked: this.isLeaked(row),
      ...(this.isDoubtful(row) && { doubtful: true }),
      choices: this.columns.choices.get(row),
      ...(verdicts > 0 && { verdicts }),
      ...(stars > 0 && { stars }),
      ...(replies > 0 && { replyTime: { replies, milliseconds: this.columns.replyMs.get(row) } }),
      seed: this.columns.seed.get(row),
      ...(rollout >= 0 && { rollout }),
      ...(collection !== undefined && { collection }),
    };
  }

  private addReplyTime(row: number, replies: number, milliseconds: number): void {
    const { timedReplies, replyMs } = this.columns;
    timedReplies.set(row, timedReplies.get(row) + replies);
    replyMs.set(row, replyMs.get(row) + milliseconds);
  }

  private text(row: number, column: 'pack' | 'collection'): string | undefined {
    const number = this.columns[column].get(row);
    return number < 0 ? undefined : this.strings.text(number);
  }
}
