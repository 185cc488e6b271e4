import { createHash } from 'node:crypto';
import { Consents } from '../consent';
import { Scanner, type Finding } from '../findings/scanner';
import type { TrajectoryLog } from '../log';
import { branchesIn, isRole, type Role } from '../searchTree';
import { isBoundByTerms } from '../modelTerms';
import { inheritedBy, type Trajectory, type TrajectorySummary } from '../trajectory';
import { atifTrajectory } from './atif';
import { CardFacts } from './card';
import { formatOf, type FormatId } from './formats';
import { inspectSample } from './inspect';
import { stsRow } from './sts';
import { JUDGED } from './judgements';
import { inHindsight, isAboutOwnCode, whyNotOwnCode } from './ownCode';
import { pairsOf, rolePairRow, rolePairs } from './pairs';
import { isProgram, testsOf } from '../../task/task';
import {
  chatRow,
  preferenceRow,
  sftRow,
  trajectoryRow,
  type ExportedTrajectory,
  type Rendered,
} from './rows';
import {
  countUp,
  select,
  type ExportOptions,
  type LeftOut,
  type LeftOutReason,
  type Render,
  type Selected,
  type Signal,
} from './selection';

type OfFormat<Format extends FormatId> = ExportOptions & { readonly format: Format; readonly render: Render };

/** The counts are complete once all rows were produced. */
export class RowGathering {
  readonly facts: CardFacts;
  readonly leftOut: LeftOut;
  rowCount = 0;
  /** Rows of feedback. */
  readonly signals: Partial<Record<Signal, number>> = {};
  private readonly selected: readonly Selected[];
  private readonly needsReward: boolean;
  private readonly scanner: Scanner;
  private readonly consents: Consents;
  private readonly hash = createHash('sha256');

  constructor(
    private readonly log: TrajectoryLog,
    private readonly options: ExportOptions,
  ) {
    this.consents = options.withDoubtful === true ? new Consents(log.consents) : log.allowed;
    this.facts = new CardFacts(this.consents, options.sawAnotherPrompt);
    this.scanner = new Scanner(this.consents);
    this.needsReward = formatOf(options.format).needsReward === true && options.withUngraded !== true;
    // A list does not say which dialogues are about own code, so that those are counted when they are read.
    const isAsked = options.withOwnCode === true;
    ({ selected: this.selected, leftOut: this.leftOut } = select(log, options, this.needsReward && !isAsked));
  }

  get findings(): readonly Finding[] {
    return this.scanner.findings;
  }

  /** SHA-256 of the rows produced so far; rows that stay on this machine are not in it. */
  get digest(): string {
    return this.hash.copy().digest('hex');
  }

  rows(): AsyncGenerator<object> {
    const { options } = this;
    if (isPreferences(options)) return this.preferences(options);
    return isOfRole(options) ? this.ofRole(options) : this.ofDialogues(options);
  }

  /** Each dialogue has one row, or one for each of people's words that it holds. */
  private async *ofDialogues(options: ExportOptions): AsyncGenerator<object> {
    const judged = isJudged(options) ? JUDGED[options.format] : undefined;
    const asked = this.selected.filter(({ summary }) => judged?.isWithout(summary) !== true);
    if (judged) this.leaveOut(judged.without, this.selected.length - asked.length);
    const selected = IMITATED.has(options.format) ? bestOfForks(asked, this.log) : asked;
    this.leaveOut('sharing turns with a better or earlier dialogue', asked.length - selected.length);
    const played = new Map<string, number>();
    for await (const exported of this.read(selected)) {
      const { trajectory } = exported;
      let counted = 0;
      const count = (reason: LeftOutReason): [] => {
        counted += 1;
        this.leaveOut(reason);
        return [];
      };
      const epoch = (played.get(trajectory.task.id) ?? 0) + 1;
      const rows = judged
        ? judged.rows(this.rendered(exported, options.render!), count, options)
        : [singleRow(options, exported, epoch)];
      if (judged && rows.length === 0 && counted === 0) this.leaveOut(judged.without);
      if (await this.isLeftOutForFindings(trajectory, rows)) continue;
      played.set(trajectory.task.id, epoch);
      // Findings in any row of a dialogue are reported for its first row.
      if (rows.length > 0) await this.scan(trajectory, rows, this.rowCount + 1);
      for (const [index, row] of rows.entries()) yield await this.given(row, index === 0 ? [exported] : []);
    }
  }

  private async *preferences(options: OfFormat<'preferences'>): AsyncGenerator<object> {
    const { pairs: pairing = 'paper' } = options;
    const byTask = [...Map.groupBy(this.selected, ({ summary }) => summary.taskId).values()];
    const paired = byTask.flatMap((selected) => {
      // Which tasks are pages is known when their dialogues are read; the score of most has no success.
      const isPage = selected.some(({ grade }) => grade?.success === null);
      const { pairs, unpaired } = pairsOf(selected, { pairing, isPage });
      if (pairs.length > 0) return selected;
      this.leaveOut(WITHOUT_PAIR, unpaired);
      return [];
    });
    for await (const sides of this.groups(paired, options.render, ({ task }) => task)) {
      const isPage = sides.some(({ trajectory }) => !isProgram(trajectory.task));
      const { pairs, unpaired } = pairsOf(sides, { pairing, isPage });
      this.leaveOut(WITHOUT_PAIR, unpaired);
      const used = new Set<Rendered>();
      for (const { chosen, rejected } of pairs) {
        const row = preferenceRow(chosen, rejected);
        if (row === undefined) continue;
        const sidesOfRow = [chosen, rejected].filter((side) => !used.has(side));
        for (const side of sidesOfRow) {
          used.add(side);
          // Each side is scanned by itself: findings in one are none of the other.
          await this.scan(side.trajectory, chatRow(side), this.rowCount + 1);
        }
        yield await this.given(row, sidesOfRow);
      }
      const others = sides.length - unpaired - used.size;
      this.leaveOut('paired only with trajectories of other prompts or measures', others);
    }
  }

  private async *ofRole(options: OfFormat<Role>): AsyncGenerator<object> {
    const { format: role } = options;
    const played = this.selected.filter(({ summary }) => branchesIn(summary.collection) !== undefined);
    this.leaveOut('outside of a search tree', this.selected.length - played.length);
    const trees = Map.groupBy(played, ({ summary }) => treeOf(summary.collection, summary.taskId));
    const keyOf = ({ collection, task }: Started): string => treeOf(collection, task);
    for await (const endings of this.groups([...trees.values()].flat(), options.render, keyOf)) {
      const pairs = rolePairs(role, endings, branchesIn(endings[0]!.trajectory.started.collection)!);
      if (pairs.length === 0) this.leaveOut('in a search tree without a pair of this role', endings.length);
      const used = new Set<Rendered>();
      for (const pair of pairs) {
        const sides = [pair.chosen.from, pair.rejected.from].filter((side) => !used.has(side));
        for (const side of sides) used.add(side);
        yield await this.given(rolePairRow(role, pair), sides);
      }
    }
  }

  /**
   * Adjacent dialogues with the same key, which are few enough to be held in memory together. Those with findings are
   * left out before, so that another one can take their place in a pair.
   */
  private async *groups(
    selected: readonly Selected[],
    render: Render,
    keyOf: (started: Started) => string,
  ): AsyncGenerator<readonly Rendered[]> {
    let group: Rendered[] = [];
    for await (const exported of this.read(selected)) {
      const { started } = exported.trajectory;
      if (group.length > 0 && keyOf(group[0]!.trajectory.started) !== keyOf(started)) {
        yield group;
        group = [];
      }
      const side = this.rendered(exported, render);
      if (!(await this.isLeftOutForFindings(side.trajectory, chatRow(side)))) group.push(side);
    }
    if (group.length > 0) yield group;
  }

  private rendered(exported: ExportedTrajectory, render: Render): Rendered {
    return { ...exported, messages: render(exported.trajectory) };
  }

  private leaveOut(reason: LeftOutReason, number = 1): void {
    if (number > 0) countUp(this.leftOut, reason, number);
  }

  private async *read(selected: readonly Selected[]): AsyncGenerator<ExportedTrajectory> {
    const { signal, onProgress } = this.options;
    const grades = new Map(selected.map(({ summary, grade }) => [summary.id, grade]));
    let done = 0;
    for await (const trajectory of this.log.trajectories(grades.keys(), () => this.leaveOut('damaged'))) {
      signal?.throwIfAborted();
      const grade = grades.get(trajectory.id);
      if (!this.isLeftOut(trajectory, grade !== undefined)) {
        const { staysHere = false } = this.options;
        yield {
          trajectory: staysHere ? inHindsight(trajectory) : trajectory,
          grade,
          consents: this.consents,
        };
      }
      done += 1;
      onProgress?.({ done, total: grades.size });
    }
    signal?.throwIfAborted();
  }

  private isLeftOut(trajectory: Trajectory, isGraded: boolean): boolean {
    const { leaveOut, staysHere = false } = this.options;
    const reason: LeftOutReason | undefined =
      this.lossIn(trajectory) ??
      emptyIn(trajectory, this.options.format) ??
      this.consents.whyNot(trajectory, staysHere) ??
      this.sessionIn(trajectory) ??
      this.ownCodeIn(trajectory) ??
      (this.needsReward && !isGraded ? 'not graded' : undefined) ??
      leaveOut?.(trajectory) ??
      this.boundBy(trajectory);
    if (reason !== undefined) this.leaveOut(reason);
    return reason !== undefined;
  }

  private lossIn({ damaged, doubtful, turns }: Trajectory): LeftOutReason | undefined {
    if (damaged !== undefined || turns.length === 0) return 'damaged';
    return doubtful !== undefined && this.options.withDoubtful !== true ? 'doubtful' : undefined;
  }

  /** Dialogues that another program recorded have no tests, so no run learns from them. */
  private sessionIn({ started, task }: Trajectory): LeftOutReason | undefined {
    const isUntested = started.imported?.harness !== undefined && testsOf(task).length === 0;
    return this.options.staysHere === true && isUntested ? 'recorded elsewhere, without tests' : undefined;
  }

  private ownCodeIn(trajectory: Trajectory): LeftOutReason | undefined {
    const { staysHere = false, withOwnCode = false } = this.options;
    // Feedback holds no code, and its outcomes have a consent of their own.
    if (!staysHere || this.options.format === 'feedback' || !isAboutOwnCode(trajectory)) return undefined;
    if (!withOwnCode) return 'about own code';
    return this.needsReward ? 'about own code, which has no grade' : whyNotOwnCode(trajectory, this.consents);
  }

  private boundBy(trajectory: Trajectory): LeftOutReason | undefined {
    return this.options.withEditorModels !== true && isBoundByTerms(trajectory) ? 'model terms' : undefined;
  }

  /**
   * True if a trajectory is left out because of findings, which it counts.
   * @param written all that the file would contain of the trajectory
   */
  private async isLeftOutForFindings(trajectory: Trajectory, written: object): Promise<boolean> {
    if (this.options.findings !== 'leave-out' || this.options.staysHere === true) return false;
    const found = await this.scanner.scan(trajectory, written);
    if (found) this.leaveOut('secret or e-mail address');
    return found;
  }

  /** @param from trajectories that no earlier row contained */
  private async given(row: object, from: readonly ExportedTrajectory[]): Promise<object> {
    this.rowCount += 1;
    const { signal } = (row as { readonly tandem?: { readonly signal?: Signal } }).tandem ?? {};
    if (signal !== undefined) this.signals[signal] = (this.signals[signal] ?? 0) + 1;
    if (this.options.staysHere !== true) this.hash.update(`${JSON.stringify(row)}\n`);
    for (const { trajectory, grade } of from) {
      this.facts.add(trajectory, grade);
      await this.scan(trajectory, row, this.rowCount);
    }
    return row;
  }

  private async scan(trajectory: Trajectory, written: object, row: number): Promise<void> {
    if (this.options.staysHere !== true) await this.scanner.scan(trajectory, written, row);
  }
}

type Started = Trajectory['started'];

const WITHOUT_PAIR = 'without a better or worse trajectory of the same task';

/**
 * A model that spends all its tokens on thoughts says nothing; no chat template and no trainer has a use for that. The
 * turns of a session that was interrupted have steps all the same, or none.
 */
function emptyIn({ turns }: Trajectory, format: ExportOptions['format']): LeftOutReason | undefined {
  const withSteps = format === 'atif' || format === 'sts';
  return turns.some(
    ({ agent: { text, imported } }) => text.trim() === '' && !(withSteps && imported?.parts !== undefined),
  )
    ? 'with an empty message of the agent'
    : undefined;
}

const treeOf = (collection: string | undefined, task: string): string => `${collection} ${task}`;

const isPreferences = (options: ExportOptions): options is OfFormat<'preferences'> =>
  options.format === 'preferences';

const isOfRole = (options: ExportOptions): options is OfFormat<Role> => isRole(options.format);

const isJudged = (options: ExportOptions): options is OfFormat<keyof typeof JUDGED> =>
  options.format in JUDGED;

/** Formats whose readers imitate each message of the agent in a row. */
const IMITATED: ReadonlySet<FormatId> = new Set(['chat', 'llamafactory-sft', 'axolotl-sft']);

/** Of dialogues that share turns, the first one with the highest reward, so that no turn is imitated twice. */
function bestOfForks(selected: readonly Selected[], log: TrajectoryLog): readonly Selected[] {
  const families = Map.groupBy(selected, ({ summary }) => rootOf(summary, log));
  const best = new Set(
    [...families.values()].map((family) =>
      family.reduce((one, other) => ((other.grade?.reward ?? 0) > (one.grade?.reward ?? 0) ? other : one)),
    ),
  );
  return selected.filter((one) => best.has(one));
}

/** Id of the dialogue that said the first turn. */
function rootOf({ id, parent }: TrajectorySummary, log: TrajectoryLog): string {
  if (parent === undefined || inheritedBy(parent).messages === 0) return id;
  const from = log.summary(parent.id);
  return from === undefined ? parent.id : rootOf(from, log);
}

type RowOfDialogue = Exclude<FormatId, 'trajectories' | 'preferences' | Role | keyof typeof JUDGED>;

/** The formats that have a row for each dialogue; `epoch` is 1 for the first one of its task, 2 for the second. */
const ROW_OF: Readonly<Record<RowOfDialogue, (of: Rendered, epoch: number) => object>> = {
  chat: chatRow,
  'llamafactory-sft': sftRow,
  'axolotl-sft': sftRow,
  atif: atifTrajectory,
  sts: stsRow,
  inspect: inspectSample,
};

function singleRow(options: ExportOptions, exported: ExportedTrajectory, epoch: number): object {
  const messages = options.render?.(exported.trajectory);
  if (options.format === 'trajectories') return trajectoryRow({ ...exported, messages }, options.visible);
  return ROW_OF[options.format as RowOfDialogue]({ ...exported, messages: messages! }, epoch);
}
