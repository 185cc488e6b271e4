import { createHash } from 'node:crypto';
import { Consents } from '../consent';
import { Scanner, type Finding } from '../findings/scanner';
import type { TrajectoryLog } from '../log';
import { branchesIn, isRole, type Role } from '../searchTree';
import { isBoundByTerms } from '../modelTerms';
import type { Trajectory } from '../trajectory';
import { CardFacts } from './card';
import { formatOf } from './formats';
import { inspectSample } from './inspect';
import { JUDGED } from './judgements';
import type { ExportOptions, Render } from './options';
import { pairsByTask, type Pairing } from './pairs';
import { rolePairRow, rolePairs } from './rolePairs';
import { isProgram } from '../../task/task';
import {
  chatRow,
  preferenceRow,
  sftRow,
  trajectoryRow,
  type ExportedTrajectory,
  type Rendered,
} from './rows';
import { countUp, select, type LeftOut, type LeftOutReason, type Selected } from './selection';

type Preferences = Extract<ExportOptions, { format: 'preferences' }>;
type JudgedOptions = ExportOptions & { readonly format: keyof typeof JUDGED };
type RoleOptions = ExportOptions & { readonly format: Role };
type Singles = Exclude<ExportOptions, Preferences | JudgedOptions | RoleOptions>;

/** The counts are complete once all rows were produced. */
export class RowGathering {
  readonly facts: CardFacts;
  readonly leftOut: LeftOut;
  rowCount = 0;
  private readonly selected: readonly Selected[];
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
    ({ selected: this.selected, leftOut: this.leftOut } = select(
      log,
      options,
      formatOf(options.format).needsReward === true && options.withUngraded !== true,
    ));
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
    if (options.format === 'preferences') return this.preferences(options);
    if (isOfRole(options)) return this.ofRole(options);
    return isJudged(options) ? this.judged(options) : this.singles(options);
  }

  private async *singles(options: Singles): AsyncGenerator<object> {
    const grades = new Map(this.selected.map(({ summary, grade }) => [summary.id, grade]));
    const played = new Map<string, number>();
    for await (const trajectory of this.read(grades.keys(), grades.size)) {
      const grade = grades.get(trajectory.id);
      if (this.isLeftOut(trajectory)) continue;
      const exported = { trajectory, grade, consents: this.consents };
      const epoch = (played.get(trajectory.task.id) ?? 0) + 1;
      const row = singleRow(options, exported, epoch);
      if (await this.isLeftOutForFindings(trajectory, row)) continue;
      played.set(trajectory.task.id, epoch);
      yield await this.given(row, [exported]);
    }
  }

  /** A dialogue may have several rows. */
  private async *judged(options: JudgedOptions): AsyncGenerator<object> {
    const { isWithout, without, rows: rowsOf } = JUDGED[options.format];
    const judged = this.selected.filter(({ summary }) => !isWithout(summary));
    const others = this.selected.length - judged.length;
    if (others > 0) countUp(this.leftOut, without, others);
    const grades = new Map(judged.map(({ summary, grade }) => [summary.id, grade]));
    for await (const trajectory of this.read(grades.keys(), grades.size)) {
      if (this.isLeftOut(trajectory)) continue;
      const messages = options.render(trajectory);
      const exported = { trajectory, messages, grade: grades.get(trajectory.id), consents: this.consents };
      let counted = 0;
      const count = (reason: LeftOutReason): [] => {
        counted += 1;
        countUp(this.leftOut, reason);
        return [];
      };
      const rows = rowsOf(exported, count, options);
      if (rows.length === 0 && counted === 0) countUp(this.leftOut, without);
      if (await this.isLeftOutForFindings(trajectory, rows)) continue;
      // Findings in any row of a dialogue are reported for its first row.
      if (rows.length > 0 && options.staysHere !== true)
        await this.scanner.scan(trajectory, rows, this.rowCount + 1);
      for (const [index, row] of rows.entries()) yield await this.given(row, index === 0 ? [exported] : []);
    }
  }

  private async *preferences(options: Preferences): AsyncGenerator<object> {
    const pairing = options.pairs ?? 'paper';
    const paired = new Map<string, Selected>();
    const byTask = Map.groupBy(this.selected, ({ summary }) => summary.taskId);
    // Which tasks are pages is known when their dialogues are read; the score of most has no success.
    const withoutSuccess = (task: string): boolean =>
      byTask.get(task)?.some(({ grade }) => grade?.success === null) === true;
    for (const { task, pairs, unpaired } of pairsByTask(this.selected, { pairing, isPage: withoutSuccess })) {
      if (pairs.length === 0) countUp(this.leftOut, WITHOUT_PAIR, unpaired);
      else for (const each of byTask.get(task) ?? []) paired.set(each.summary.id, each);
    }
    // The trajectories of one task are adjacent, and few enough to be held in memory together.
    let ofTask: Played[] = [];
    for await (const trajectory of this.read(paired.keys(), paired.size)) {
      if (ofTask.length > 0 && ofTask[0]!.trajectory.started.task !== trajectory.started.task) {
        yield* this.pairsOf(ofTask, pairing, options.render);
        ofTask = [];
      }
      const selected = paired.get(trajectory.id);
      if (selected && !this.isLeftOut(trajectory)) ofTask.push({ trajectory, selected });
    }
    yield* this.pairsOf(ofTask, pairing, options.render);
  }

  /**
   * Pairs the trajectories of one task. Trajectories with findings are left out before the pairing, so that another one
   * can take their place.
   */
  private async *pairsOf(
    played: readonly Played[],
    pairing: Pairing,
    render: Render,
  ): AsyncGenerator<object> {
    const sides = new Map<string, Rendered>();
    const kept: Selected[] = [];
    for (const { trajectory, selected } of played) {
      const side = {
        ...{ trajectory, grade: selected.grade, consents: this.consents },
        messages: render(trajectory),
      };
      if (await this.isLeftOutForFindings(trajectory, chatRow(side))) continue;
      sides.set(trajectory.id, side);
      kept.push(selected);
    }
    const used = new Set<string>();
    let inPairs = 0;
    const isPage = (): boolean => played.some(({ trajectory }) => !isProgram(trajectory.task));
    for (const { pairs, unpaired } of pairsByTask(kept, { pairing, isPage })) {
      if (unpaired > 0) countUp(this.leftOut, WITHOUT_PAIR, unpaired);
      inPairs = kept.length - unpaired;
      for (const pair of pairs) {
        const [chosen, rejected] = [pair.chosen, pair.rejected].map(({ summary }) => sides.get(summary.id)!);
        const row = preferenceRow(chosen!, rejected!);
        if (row === undefined) continue;
        const isNew = ({ trajectory }: ExportedTrajectory): boolean => !used.has(trajectory.id);
        const sidesOfRow = [chosen!, rejected!].filter(isNew);
        for (const side of sidesOfRow) {
          used.add(side.trajectory.id);
          // Each side is scanned by itself: findings in one are none of the other.
          if (this.options.staysHere !== true)
            await this.scanner.scan(side.trajectory, chatRow(side), this.rowCount + 1);
        }
        yield await this.given(row, sidesOfRow);
      }
    }
    if (inPairs > used.size) {
      countUp(
        this.leftOut,
        'paired only with trajectories of other prompts or measures',
        inPairs - used.size,
      );
    }
  }

  private async *ofRole(options: RoleOptions): AsyncGenerator<object> {
    const played = this.selected.filter(({ summary }) => branchesIn(summary.collection) !== undefined);
    const others = this.selected.length - played.length;
    if (others > 0) countUp(this.leftOut, 'outside of a search tree', others);
    const trees = Map.groupBy(played, ({ summary }) => treeOf(summary.collection, summary.taskId));
    const inOrder = new Map([...trees.values()].flat().map((one) => [one.summary.id, one]));
    // The endings of one tree are adjacent, and few enough to be held in memory together.
    let endings: Rendered[] = [];
    for await (const trajectory of this.read(inOrder.keys(), inOrder.size)) {
      const { started } = endings[0]?.trajectory ?? trajectory;
      if (
        treeOf(started.collection, started.task) !==
        treeOf(trajectory.started.collection, trajectory.started.task)
      ) {
        yield* this.rolePairsOf(endings, options);
        endings = [];
      }
      if (this.isLeftOut(trajectory)) continue;
      const { grade } = inOrder.get(trajectory.id)!;
      const ending = { trajectory, grade, consents: this.consents, messages: options.render(trajectory) };
      if (!(await this.isLeftOutForFindings(trajectory, chatRow(ending)))) endings.push(ending);
    }
    yield* this.rolePairsOf(endings, options);
  }

  private async *rolePairsOf(
    endings: readonly Rendered[],
    { format: role }: RoleOptions,
  ): AsyncGenerator<object> {
    const branches = branchesIn(endings[0]?.trajectory.started.collection);
    if (branches === undefined) return;
    const pairs = rolePairs(role, endings, branches);
    if (pairs.length === 0)
      countUp(this.leftOut, 'in a search tree without a pair of this role', endings.length);
    const used = new Set<Rendered>();
    for (const pair of pairs) {
      const sides = [pair.chosen.from, pair.rejected.from].filter((side) => !used.has(side));
      for (const side of sides) used.add(side);
      yield await this.given(rolePairRow(role, pair), sides);
    }
  }

  private async *read(ids: Iterable<string>, total: number): AsyncGenerator<Trajectory> {
    let done = 0;
    for await (const trajectory of this.log.trajectories(ids, () => countUp(this.leftOut, 'damaged'))) {
      this.options.signal?.throwIfAborted();
      yield trajectory;
      done += 1;
      this.options.onProgress?.({ done, total });
    }
    this.options.signal?.throwIfAborted();
  }

  private isLeftOut(trajectory: Trajectory): boolean {
    const { leaveOut, staysHere = false } = this.options;
    const reason: LeftOutReason | undefined =
      this.lossIn(trajectory) ??
      emptyIn(trajectory) ??
      this.consents.whyNot(trajectory, staysHere) ??
      leaveOut?.(trajectory) ??
      this.boundBy(trajectory);
    if (reason !== undefined) countUp(this.leftOut, reason);
    return reason !== undefined;
  }

  private lossIn({ damaged, doubtful, turns }: Trajectory): LeftOutReason | undefined {
    if (damaged !== undefined || turns.length === 0) return 'damaged';
    return doubtful !== undefined && this.options.withDoubtful !== true ? 'doubtful' : undefined;
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
    if (found) countUp(this.leftOut, 'secret or e-mail address');
    return found;
  }

  /** @param from trajectories that no earlier row contained */
  private async given(row: object, from: readonly ExportedTrajectory[]): Promise<object> {
    this.rowCount += 1;
    if (this.options.staysHere !== true) this.hash.update(`${JSON.stringify(row)}\n`);
    for (const { trajectory, grade } of from) {
      this.facts.add(trajectory, grade);
      if (this.options.staysHere !== true) await this.scanner.scan(trajectory, row, this.rowCount);
    }
    return row;
  }
}

interface Played {
  readonly trajectory: Trajectory;
  readonly selected: Selected;
}

const WITHOUT_PAIR = 'without a better or worse trajectory of the same task';

/** A model that spends all its tokens on thoughts says nothing; no chat template and no trainer has a use for that. */
function emptyIn({ turns }: Trajectory): LeftOutReason | undefined {
  return turns.some(({ agent }) => agent.text.trim() === '')
    ? 'with an empty message of the agent'
    : undefined;
}

const treeOf = (collection: string | undefined, task: string): string => `${collection} ${task}`;

const isOfRole = (options: ExportOptions): options is RoleOptions => isRole(options.format);

const isJudged = (options: ExportOptions): options is JudgedOptions => options.format in JUDGED;

/** @param epoch 1 for the first dialogue of its task, 2 for the second, and so on */
function singleRow(options: Singles, exported: ExportedTrajectory, epoch: number): object {
  const { trajectory } = exported;
  switch (options.format) {
    case 'trajectories':
      return trajectoryRow({ ...exported, messages: options.render?.(trajectory) }, options.visible);
    case 'chat':
      return chatRow({ ...exported, messages: options.render(trajectory) });
    case 'llamafactory-sft':
    case 'axolotl-sft':
      return sftRow({ ...exported, messages: options.render(trajectory) });
    case 'inspect':
      return inspectSample({ ...exported, messages: options.render(trajectory) }, epoch);
  }
}
