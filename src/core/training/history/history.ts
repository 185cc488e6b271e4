import { setImmediate as yielding } from 'node:timers/promises';
import type { EventTail } from '../eventFile';
import { figureNames, figuresOf, type FigureName, type TrainerEvent, type TrainerEventOf } from '../events';
import { advance, type Progress, isFinal } from '../progress';
import { EventList, type ListedEvent } from './eventList';

export interface Curves {
  readonly training: Curve;
  readonly heldOut: Curve;
}

/** For one figure of a stage, with the position up to which it is then read. */
interface CurvesNews {
  readonly training: CurveEnd;
  readonly heldOut: CurveEnd;
  readonly read: ReadCurves;
}

/** Position up to which a reader has the curves of one figure of a stage. */
export interface ReadCurves {
  readonly stage: string;
  readonly figure: FigureName;
  readonly training: CurveMark;
  readonly heldOut: CurveMark;
}

const MAX_SAMPLES = 24;
const PIECE = 1000;

const STEP_FIGURES = figuresOf('step');
const EVALUATION_FIGURES = figuresOf('evaluation');

/**
 * Folds the events of a run as they arrive. Its size does not grow with the length of the run, and every event costs
 * the same.
 */
export class RunHistory {
  progress: Progress | undefined;
  data: TrainerEventOf<'data'> | undefined;
  result: TrainerEventOf<'result'> | undefined;
  /** Absent for runs without a critic and for runs of an older trainer. */
  control: TrainerEventOf<'control'> | undefined;
  gains: TrainerEventOf<'gains'> | undefined;
  /** Since the last start of the workers; absent for runs on one machine. */
  nodes: TrainerEventOf<'nodes'> | undefined;
  /** For a person. No figure is computed from these, because a long run has more than are kept. */
  readonly told = new EventList();
  readonly samples: TrainerEventOf<'sample'>[] = [];
  /** A change means that there is something new. */
  events = 0;
  private readonly ranked = new Map<string, TrainerEventOf<'ranking'>>();
  private readonly bestLooks = new Map<string, TrainerEventOf<'evaluation'>>();
  private readonly byStage = new Map<string, Map<FigureName, Curves>>();
  private readonly clock = new TrainingClock();
  private planned: readonly string[] = [];
  private readonly begun: string[] = [];

  /** `prepare`, the planned ones in order, then any that began without being in the plan. */
  get stages(): readonly string[] {
    return ['prepare', ...this.planned, ...this.begun.filter((stage) => !this.planned.includes(stage))];
  }

  get trained(): readonly string[] {
    return [...this.byStage.keys()];
  }

  /** The latest of each round, in order; a resumed run may report one again. */
  get rankings(): readonly TrainerEventOf<'ranking'>[] {
    return [...this.ranked.values()];
  }

  hasBegun(stage: string): boolean {
    return this.begun.includes(stage);
  }

  /** Other work in this process gets a turn in between. */
  async read(tail: EventTail): Promise<void> {
    let count = 0;
    for await (const event of tail.read()) {
      this.add(event);
      count += 1;
      if (count % PIECE === 0) await yielding();
    }
  }

  add(event: TrainerEvent): void {
    this.events += 1;
    this.clock.advance(event);
    this.progress = advance(this.progress, event);
    const { stage } = this.progress;
    if (stage !== undefined && stage !== 'prepare' && !this.begun.includes(stage)) this.begun.push(stage);
    switch (event.event) {
      case 'step':
        for (const figure of STEP_FIGURES)
          this.note(event.stage, figure, 'training', event.step, event[figure]);
        break;
      case 'evaluation':
        for (const figure of EVALUATION_FIGURES)
          this.note(event.stage, figure, 'heldOut', event.step, event[figure]);
        if (event.best === true || this.bestLooks.get(event.stage)?.best !== true)
          this.bestLooks.set(event.stage, event);
        this.told.add(event);
        break;
      case 'sample':
        this.samples.push(event);
        if (this.samples.length > MAX_SAMPLES) this.samples.shift();
        break;
      case 'progress':
        break;
      default:
        this.keep(event);
        this.told.add(event);
    }
  }

  /** Best evaluation on held-out examples; the latest until the trainer marks one as best. */
  bestLook(stage: string): TrainerEventOf<'evaluation'> | undefined {
    return this.bestLooks.get(stage);
  }

  figuresOf(stage: string): readonly FigureName[] {
    const of = this.byStage.get(stage);
    return of === undefined ? [] : figureNames.filter((figure) => of.has(figure));
  }

  curves(stage: string, figure: FigureName): Curves | undefined {
    return this.byStage.get(stage)?.get(figure);
  }

  /** All curves when others were read before. Undefined when there are none. */
  curvesSince(stage: string, figure: FigureName, before?: ReadCurves): CurvesNews | undefined {
    const curves = this.curves(stage, figure);
    if (curves === undefined) return undefined;
    const { training, heldOut } = curves;
    const known = before?.stage === stage && before.figure === figure ? before : undefined;
    return {
      training: training.since(known?.training),
      heldOut: heldOut.since(known?.heldOut),
      read: { stage, figure, training: training.mark, heldOut: heldOut.mark },
    };
  }

  private note(
    stage: string,
    figure: FigureName,
    which: keyof Curves,
    step: number,
    value: number | null | undefined,
  ): void {
    if (value == null) return;
    let of = this.byStage.get(stage);
    if (of === undefined) this.byStage.set(stage, (of = new Map<FigureName, Curves>()));
    let curves = of.get(figure);
    if (curves === undefined) of.set(figure, (curves = { training: new Curve(), heldOut: new Curve() }));
    curves[which].add(step, value, this.clock.seconds);
  }

  private keep(event: ListedEvent): void {
    if (event.event === 'data') this.data = event;
    if (event.event === 'result') this.result = event;
    if (event.event === 'nodes') this.nodes = event;
    if (event.event === 'control') this.control = event;
    if (event.event === 'gains') this.gains = event;
    if (event.event === 'ranking') this.ranked.set(event.stage, event);
    // The first plan is kept: the plan of a resumed run may cover only the rest.
    if (event.event === 'plan' && this.planned.length === 0) this.planned = stagesOf(event);
  }
}

/** The keys of `seconds` are the stages in order. */
function stagesOf({ seconds }: TrainerEventOf<'plan'>): readonly string[] {
  const names = typeof seconds === 'object' && seconds !== null ? Object.keys(seconds) : [];
  return names.includes('export') ? names : [...names, 'export'];
}

interface Bucket {
  /** Both inclusive. */
  readonly from: number;
  to: number;
  seconds: number;
  count: number;
  sum: number;
  low: number;
  high: number;
}

interface CurveMark {
  readonly edition: number;
  readonly length: number;
  readonly to: number | undefined;
}

/**
 * Replaces everything from the point `from` on. `points` is flat, with five numbers for each point: its last step, the
 * training time there in seconds, mean, lowest and highest value.
 */
interface CurveEnd {
  readonly from: number;
  readonly points: readonly number[];
  /** The last point may hold fewer. */
  readonly valuesPerPoint: number;
}

/** A screen has about as many pixels; more points would not be visible. */
export const MAX_BUCKETS = 2000;

/**
 * At most `MAX_BUCKETS` buckets are kept however long the run is: when they are full, every two are merged. Minimum
 * and maximum are kept, so that no peak is lost.
 */
export class Curve {
  private buckets: Bucket[] = [];
  /** Values per full bucket. */
  private capacity = 1;
  /** Increases when earlier buckets change, so that a reader has to read everything again. */
  private edition = 0;

  last: number | undefined;

  get all(): readonly Bucket[] {
    return this.buckets;
  }

  /** The last point may hold fewer. */
  get valuesPerPoint(): number {
    return this.capacity;
  }

  /**
   * A resumed run repeats steps: an earlier value of this step and all later ones are dropped.
   * @param seconds training time at the step; it never decreases
   */
  add(step: number, value: number, seconds: number): void {
    const end = this.buckets.at(-1);
    if (end !== undefined && end.to >= step) this.cutFrom(step);
    this.last = value;
    const bucket = this.buckets.at(-1);
    if (bucket !== undefined && bucket.count < this.capacity) {
      bucket.to = step;
      bucket.seconds = seconds;
      bucket.count += 1;
      bucket.sum += value;
      bucket.low = Math.min(bucket.low, value);
      bucket.high = Math.max(bucket.high, value);
      return;
    }
    if (this.buckets.length === MAX_BUCKETS) this.halve();
    this.buckets.push({ from: step, to: step, seconds, count: 1, sum: value, low: value, high: value });
  }

  get mark(): CurveMark {
    return { edition: this.edition, length: this.buckets.length, to: this.buckets.at(-1)?.to };
  }

  /** Everything without a mark or after a new edition. */
  since(mark?: CurveMark): CurveEnd {
    const isSame = mark?.edition === this.edition;
    // The last bucket that was read may have received more values.
    const from = isSame ? Math.max(0, mark.length - 1) : 0;
    const points = this.buckets
      .slice(from)
      .flatMap(({ to, seconds, sum, count, low, high }) => [
        ...[to, Number(seconds.toFixed(3)), short(sum / count), short(low), short(high)],
      ]);
    return { from, points, valuesPerPoint: this.capacity };
  }

  /** At most `points` means, evenly spaced over the buckets, for a sparkline. */
  outline(points: number): number[] {
    const { length } = this.buckets;
    const each = Math.max(1, Math.ceil(length / points));
    const means: number[] = [];
    for (let start = 0; start < length; start += each) {
      const some = this.buckets.slice(start, start + each);
      means.push(short(total(some, 'sum') / total(some, 'count')));
    }
    return means;
  }

  private halve(): void {
    const halved: Bucket[] = [];
    for (let index = 0; index < this.buckets.length; index += 2) {
      const [first, second] = [this.buckets[index]!, this.buckets[index + 1]];
      halved.push(second === undefined ? first : joined(first, second));
    }
    this.buckets = halved;
    this.capacity *= 2;
    this.edition += 1;
  }

  private cutFrom(step: number): void {
    this.buckets = this.buckets.filter(({ from }) => from < step);
    const end = this.buckets.at(-1);
    // The bucket's sum still holds the later steps; the error is less than the width of a point.
    if (end !== undefined && end.to >= step) end.to = step - 1;
    this.edition += 1;
  }
}

function joined(first: Bucket, second: Bucket): Bucket {
  return {
    from: first.from,
    to: second.to,
    seconds: second.seconds,
    count: first.count + second.count,
    sum: first.sum + second.sum,
    low: Math.min(first.low, second.low),
    high: Math.max(first.high, second.high),
  };
}

const total = (buckets: readonly Bucket[], field: 'sum' | 'count'): number =>
  buckets.reduce((sum, bucket) => sum + bucket[field], 0);

/** A screen's precision. */
const short = (value: number): number => Number(value.toPrecision(6));

/**
 * Seconds since the first event, without the time in which no trainer worked on the run. Steps that a resumed run
 * repeats count twice, because their time was spent twice.
 */
export class TrainingClock {
  seconds = 0;
  /** Milliseconds since 1970. */
  private last: number | undefined;
  private isAtRest = true;

  advance(event: TrainerEvent): void {
    const at = Date.parse(event.at);
    if (Number.isNaN(at)) return;
    // A killed trainer reports no end, so each start counts as the end of a pause. On a cluster `nodes` precedes it.
    const isStart = event.event === 'nodes' || (event.event === 'state' && event.state === 'preparing');
    const isPause = this.isAtRest || isStart;
    // A clock that was set back must not turn the curve back.
    if (!isPause && this.last !== undefined) this.seconds += Math.max(0, at - this.last) / 1000;
    this.last = at;
    this.isAtRest = event.event === 'state' && isFinal(event.state);
  }
}
