/** What a curve keeps of neighbouring steps. */
export interface Bucket {
  /** The first and the last step in it. */
  readonly from: number;
  to: number;
  count: number;
  sum: number;
  low: number;
  high: number;
}

/** How far somebody has read a curve. */
export interface CurveMark {
  readonly edition: number;
  readonly length: number;
  /** The last step that it had. */
  readonly to: number | undefined;
}

/** What is new: in place of everything from the bucket `from` on. */
export interface CurveNews {
  readonly from: number;
  readonly buckets: readonly Bucket[];
  readonly mark: CurveMark;
}

/** More points than a screen has pixels tell a person nothing. */
export const MOST_BUCKETS = 2000;

/**
 * The values of one figure by step, in at most `MOST_BUCKETS` buckets however long the run is: when they are full, every
 * two become one. Lowest and highest are kept, so that no peak is lost.
 */
export class Curve {
  private buckets: Bucket[] = [];
  /** How many values a bucket takes. */
  private capacity = 1;
  /** Another one means that what was read before is not the beginning of this any more. */
  private edition = 0;

  /** The latest value. */
  last: number | undefined;

  get all(): readonly Bucket[] {
    return this.buckets;
  }

  /** How many values a point of the curve stands for, its latest ones aside. */
  get valuesPerPoint(): number {
    return this.capacity;
  }

  /** A step that was told before is told again by a run that was resumed: the later one counts, and all after it. */
  add(step: number, value: number): void {
    const end = this.buckets.at(-1);
    if (end !== undefined && end.to >= step) this.cutFrom(step);
    this.last = value;
    const bucket = this.buckets.at(-1);
    if (bucket !== undefined && bucket.count < this.capacity) {
      bucket.to = step;
      bucket.count += 1;
      bucket.sum += value;
      bucket.low = Math.min(bucket.low, value);
      bucket.high = Math.max(bucket.high, value);
      return;
    }
    if (this.buckets.length === MOST_BUCKETS) this.halve();
    this.buckets.push({ from: step, to: step, count: 1, sum: value, low: value, high: value });
  }

  /** What has changed since; everything without a mark, and when the buckets are others by now. */
  since(mark?: CurveMark): CurveNews {
    const isSame = mark?.edition === this.edition;
    // The last one that was read may have got more values.
    const from = isSame ? Math.max(0, mark.length - 1) : 0;
    return {
      from,
      buckets: this.buckets.slice(from),
      mark: { edition: this.edition, length: this.buckets.length, to: this.buckets.at(-1)?.to },
    };
  }

  /** At most so many means, evenly over the steps: the curve in the size of a word. */
  outline(points: number): number[] {
    const { length } = this.buckets;
    const each = Math.max(1, Math.ceil(length / points));
    const means: number[] = [];
    for (let start = 0; start < length; start += each) {
      const some = this.buckets.slice(start, start + each);
      means.push(total(some, 'sum') / total(some, 'count'));
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
    // What it holds of later steps cannot be taken out of a sum; it is less than a point's width.
    if (end !== undefined && end.to >= step) end.to = step - 1;
    this.edition += 1;
  }
}

function joined(first: Bucket, second: Bucket): Bucket {
  return {
    from: first.from,
    to: second.to,
    count: first.count + second.count,
    sum: first.sum + second.sum,
    low: Math.min(first.low, second.low),
    high: Math.max(first.high, second.high),
  };
}

const total = (buckets: readonly Bucket[], field: 'sum' | 'count'): number =>
  buckets.reduce((sum, bucket) => sum + bucket[field], 0);
