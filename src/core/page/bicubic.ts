/** 8-bit samples, row after row, three to a pixel. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export interface Window {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const CHANNELS = 3;
/** Pillow scales with fixed-point weights of this many fractional bits (`Resample.c`, 8-bit pictures). */
const PRECISION_BITS = 22;
const HALF = 1 << (PRECISION_BITS - 1);
const SUPPORT = 2;

/** Keys' cubic convolution with a = −0.5. */
function bicubic(x: number): number {
  const a = -0.5;
  const t = Math.abs(x);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

/** For each sample of the result: where its weights begin in the source, and the weights. */
interface Weights {
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  readonly values: Int32Array;
  /** Distance between the first weights of two samples. */
  readonly stride: number;
}

/** For the samples `from` to `from + count` of a line of `size` samples that is scaled to `scaled`. */
function weightsOf(size: number, scaled: number, from: number, count: number): Weights {
  const scale = size / scaled;
  // Wider when it shrinks, so that every source sample counts.
  const stretch = Math.max(scale, 1);
  const support = SUPPORT * stretch;
  const stride = Math.ceil(support) * 2 + 1;
  const starts = new Int32Array(count);
  const counts = new Int32Array(count);
  const values = new Int32Array(count * stride);
  for (let index = 0; index < count; index++) {
    const center = (from + index + 0.5) * scale;
    const start = Math.max(Math.trunc(center - support + 0.5), 0);
    const end = Math.min(Math.trunc(center + support + 0.5), size);
    const raw = Array.from({ length: end - start }, (_, i) =>
      bicubic((i + start - center + 0.5) * (1 / stretch)),
    );
    const sum = raw.reduce((total, weight) => total + weight, 0);
    starts[index] = start;
    counts[index] = raw.length;
    raw.forEach((weight, i) => {
      const fixed = (sum === 0 ? weight : weight / sum) * 2 ** PRECISION_BITS;
      values[index * stride + i] = Math.trunc(fixed + (fixed < 0 ? -0.5 : 0.5));
    });
  }
  return { starts, counts, values, stride };
}

/**
 * The part `window` of the picture scaled to `width` × `height`, byte for byte as Pillow's `resize` with `BICUBIC`: first
 * along the rows, then along the columns, each rounded to 8 bits. Only what the part needs is computed. Pillow 13 begins
 * with the columns of some pictures (python-pillow/Pillow#9549); the published figures were made with earlier ones.
 */
export function resizeBicubic(image: RgbImage, width: number, height: number, window: Window): RgbImage {
  const across = weightsOf(image.width, width, window.left, window.width);
  const down = weightsOf(image.height, height, window.top, window.height);
  const first = down.starts[0]!;
  const end = down.starts.at(-1)! + down.counts.at(-1)!;
  const narrow = scaleRows(image, across, first, end);
  return {
    width: window.width,
    height: window.height,
    data: scaleColumns(narrow, window.width, down, first),
  };
}

function scaleRows({ width, data }: RgbImage, weights: Weights, first: number, end: number): Uint8Array {
  const { starts, counts, values, stride } = weights;
  const columns = starts.length;
  const scaled = new Uint8Array((end - first) * columns * CHANNELS);
  for (let row = first, at = 0; row < end; row++) {
    for (let column = 0; column < columns; column++) {
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      let from = (row * width + starts[column]!) * CHANNELS;
      const base = column * stride;
      for (let i = base, last = base + counts[column]!; i < last; i++, from += CHANNELS) {
        const weight = values[i]!;
        red += data[from]! * weight;
        green += data[from + 1]! * weight;
        blue += data[from + 2]! * weight;
      }
      scaled[at++] = clipped(red);
      scaled[at++] = clipped(green);
      scaled[at++] = clipped(blue);
    }
  }
  return scaled;
}

/** @param first row of the source that is the first one of `data` */
function scaleColumns(data: Uint8Array, width: number, weights: Weights, first: number): Uint8Array {
  const { starts, counts, values, stride } = weights;
  const samples = width * CHANNELS;
  const scaled = new Uint8Array(starts.length * samples);
  const sums = new Float64Array(samples);
  for (let row = 0; row < starts.length; row++) {
    sums.fill(HALF);
    for (let i = 0; i < counts[row]!; i++) {
      const weight = values[row * stride + i]!;
      const from = (starts[row]! + i - first) * samples;
      for (let sample = 0; sample < samples; sample++) sums[sample]! += data[from + sample]! * weight;
    }
    for (let sample = 0; sample < samples; sample++) scaled[row * samples + sample] = clipped(sums[sample]!);
  }
  return scaled;
}

/** To 0 to 255, from fixed point. */
function clipped(sum: number): number {
  const value = sum >> PRECISION_BITS;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
