import { createHash } from 'node:crypto';
import { Consents } from '../consent';
import { Scanner, type Finding } from '../findings/scanner';
import type { TrajectoryLog } from '../log';
import { isBoundByTerms } from '../terms';
import type { Trajectory } from '../trajectory';
import { CardFacts } from './card';
import { choiceRows } from './choices';
import type { ExportOptions, Render } from './options';
import { pairsByTask, type Pairing } from './pairs';
import { chatRow, preferenceRow, trajectoryRow, type Exported, type Rendered } from './rows';
import { countUp, select, type LeftOut, type LeftOutReason, type Selected } from './selection';

type Singles = Extract<ExportOptions, { format: 'trajectories' | 'chat' }>;
type Choices = Extract<ExportOptions, { format: 'choices' }>;
type Preferences = Extract<ExportOptions, { format: 'preferences' }>;

/** The rows of an export, and what is known of them once all were given out. */
export class Gathering {
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
    this.facts = new CardFacts(this.consents);
    this.scanner = new Scanner(this.consents);
    ({ selected: this.selected, leftOut: this.leftOut } = select(
      log,
      options,
      options.format === 'trajectories' || options.format === 'preferences',
    ));
  }

  get findings(): readonly Finding[] {
    return this.scanner.findings;
  }

  /** Of the rows that were given out so far; only of an export. */
  get digest(): string {
    return this.hash.copy().digest('hex');
  }

  /** To be gone through once. */
  rows(): AsyncGenerator<object> {
    const { options } = this;
    if (options.format === 'preferences') return this.preferences(options);
    return options.format === 'choices' ? this.choices(options) : this.singles(options);
  }

  private async *singles(options: Singles): AsyncGenerator<object> {
    const grades = new Map(this.selected.map(({ summary, grade }) => [summary.id, grade]));
    for await (const trajectory of this.read(grades.keys(), grades.size)) {
      const grade = grades.get(trajectory.id);
      if (this.isLeftOut(trajectory)) continue;
      const exported = { trajectory, grade, consents: this.consents };
      const row =
        options.format === 'chat'
          ? chatRow({ ...exported, messages: options.render(trajectory) })
          : trajectoryRow({ ...exported, messages: options.render?.(trajectory) }, options.visible);
      if (await this.isLeftOutForFindings(trajectory, row)) continue;
      yield await this.given(row, [exported]);
    }
  }

  private async *choices(options: Choices): AsyncGenerator<object> {
    const withChoices = this.selected.filter(({ summary }) => summary.choices > 0);
    const without = this.selected.length - withChoices.length;
    if (without > 0) countUp(this.leftOut, 'without a choice between candidates', without);
    const grades = new Map(withChoices.map(({ summary, grade }) => [summary.id, grade]));
    for await (const trajectory of this.read(grades.keys(), grades.size)) {
      if (this.isLeftOut(trajectory)) continue;
      const messages = options.render(trajectory);
      const exported = { trajectory, messages, grade: grades.get(trajectory.id), consents: this.consents };
      const rows = choiceRows(exported, this.leftOut);
      if (await this.isLeftOutForFindings(trajectory, rows)) continue;
      // What was found in any of the dialogue's rows is told with the first.
      if (rows.length > 0 && options.staysHere !== true)
        await this.scanner.scan(trajectory, rows, this.rowCount + 1);
      for (const [index, row] of rows.entries()) yield await this.given(row, index === 0 ? [exported] : []);
    }
  }

  private async *preferences(options: Preferences): AsyncGenerator<object> {
    const pairing = options.pairs ?? 'paper';
    const paired = new Map<string, Selected>();
    const byTask = Map.groupBy(this.selected, ({ summary }) => summary.taskId);
    for (const { task, pairs, unpaired } of pairsByTask(this.selected, pairing)) {
      if (pairs.length === 0) countUp(this.leftOut, WITHOUT_PAIR, unpaired);
      else for (const each of byTask.get(task) ?? []) paired.set(each.summary.id, each);
    }
    // The trajectories of one task come one after the other, and are few enough to be held together.
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

  /** What is left out is left out before the rest is paired: another trajectory may stand in its place. */
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
    for (const { pairs, unpaired } of pairsByTask(kept, pairing)) {
      if (unpaired > 0) countUp(this.leftOut, WITHOUT_PAIR, unpaired);
      inPairs = kept.length - unpaired;
      for (const pair of pairs) {
        const [chosen, rejected] = [pair.chosen, pair.rejected].map(({ summary }) => sides.get(summary.id)!);
        const row = preferenceRow(chosen!, rejected!);
        if (row === undefined) continue;
        const isNew = ({ trajectory }: Exported): boolean => !used.has(trajectory.id);
        const sidesOfRow = [chosen!, rejected!].filter(isNew);
        for (const { trajectory } of sidesOfRow) used.add(trajectory.id);
        yield await this.given(row, sidesOfRow);
      }
    }
    if (inPairs > used.size) {
      countUp(this.leftOut, 'paired only with trajectories of other prompts', inPairs - used.size);
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
      this.consents.whyNot(trajectory, staysHere) ??
      leaveOut?.(trajectory) ??
      this.boundBy(trajectory);
    if (reason !== undefined) countUp(this.leftOut, reason);
    return reason !== undefined;
  }

  private lossIn({ damaged, doubtful }: Trajectory): LeftOutReason | undefined {
    if (damaged !== undefined) return 'damaged';
    return doubtful !== undefined && this.options.withDoubtful !== true ? 'doubtful' : undefined;
  }

  private boundBy(trajectory: Trajectory): LeftOutReason | undefined {
    return this.options.withEditorModels !== true && isBoundByTerms(trajectory) ? 'model terms' : undefined;
  }

  /** @param written what the file would hold of the trajectory */
  private async isLeftOutForFindings(trajectory: Trajectory, written: object): Promise<boolean> {
    if (this.options.findings !== 'leave-out' || this.options.staysHere === true) return false;
    const found = await this.scanner.scan(trajectory, written);
    if (found) countUp(this.leftOut, 'secret or e-mail address');
    return found;
  }

  /** Counts a row that is given out. @param from the trajectories that no earlier row held */
  private async given(row: object, from: readonly Exported[]): Promise<object> {
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
