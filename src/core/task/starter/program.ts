/** Decisions that a colleague may have made without saying so, in the order in which a program applies them. */
export const KINDS = [
  'empty',
  'free',
  'threshold',
  'strictness',
  'discount',
  'fee',
  'order',
  'minimum',
  'maximum',
  'rounding',
  'unit',
] as const;

export type DecisionKind = (typeof KINDS)[number];
export type Value = string | number;
export type DecisionValues = Readonly<Partial<Record<DecisionKind, Value>>>;

/**
 * Values that each decision chooses from. No number stands in two sets or elsewhere in a program, so that a number says
 * which decision it belongs to. Every fee is below every minimum and every minimum below every maximum, so that no
 * decision is without effect, whatever the others are.
 */
export const OPTIONS: Readonly<Record<DecisionKind, readonly Value[]>> = {
  empty: [44, 66, 77, 88, 99, 999],
  free: [2, 4, 6, 8, 12, 14],
  threshold: [21, 24, 27, 32, 36, 42],
  strictness: ['>', '>='],
  discount: [15, 20, 25, 30, 35, 40],
  fee: [3, 5, 7, 9, 11, 13],
  order: ['discount first', 'fee first'],
  minimum: [16, 18, 22, 26, 28, 34],
  maximum: [45, 55, 65, 75, 85, 95],
  rounding: ['up', 'nearest', 'down'],
  unit: [50, 60, 80, 250, 500, 1000],
};

/** Amount that is added beyond the threshold, the same in every task. */
export const EXTRA = 10;

/** Each means something beside the others, and the order in which they apply is clear. */
export function fitTogether(kinds: ReadonlySet<DecisionKind>): boolean {
  if (kinds.has('strictness') && !kinds.has('threshold')) return false;
  if (kinds.has('order') !== (kinds.has('discount') && kinds.has('fee'))) return false;
  // It would be unclear whether the threshold counts what is free, and in which unit the result is rounded.
  return !(kinds.has('free') && kinds.has('threshold')) && !(kinds.has('rounding') && kinds.has('unit'));
}

/** The three forms of a function: its input, and the way in which it gives the amount before any decision applies. */
export const FORMS = ['amount', 'list', 'base'] as const;
export type FunctionForm = (typeof FORMS)[number];

/** `quantity` is a name such as "minutes". */
export interface Shape {
  readonly name: string;
  readonly quantity: string;
  readonly form: FunctionForm;
}

export function signatureOf({ name, quantity, form }: Shape): string {
  return `def ${name}(${quantity}, rate${form === 'base' ? ', base' : ''})`;
}

/** Without `strictness` the threshold is exclusive, without `order` the discount comes first. */
export function sourceOf(shape: Shape, values: DecisionValues): string {
  const { quantity, form } = shape;
  const lines = [`${signatureOf(shape)}:`];
  const add = (...more: string[]): void => void lines.push(...more.map((line) => `    ${line}`));
  if (values.empty !== undefined) {
    add(form === 'list' ? `if not ${quantity}:` : `if ${quantity} == 0:`, `    return ${values.empty}`);
  }
  if (form === 'list') add(`${quantity} = sum(${quantity})`);
  if (values.free !== undefined) add(`${quantity} = max(${quantity} - ${values.free}, 0)`);
  add(form === 'base' ? `total = base + ${quantity} * rate` : `total = ${quantity} * rate`);
  if (values.threshold !== undefined) {
    add(`if ${quantity} ${values.strictness ?? '>'} ${values.threshold}:`, `    total += ${EXTRA}`);
  }
  const discount = values.discount === undefined ? [] : [`total -= total * ${values.discount} / 100`];
  const fee = values.fee === undefined ? [] : [`total += ${values.fee}`];
  add(...(values.order === 'fee first' ? [...fee, ...discount] : [...discount, ...fee]));
  if (values.minimum !== undefined) add(`total = max(total, ${values.minimum})`);
  if (values.maximum !== undefined) add(`total = min(total, ${values.maximum})`);
  if (values.rounding === 'up') add('total = -int(-total // 1)');
  if (values.rounding === 'nearest') add('total = int(total + 0.5)');
  if (values.rounding === 'down') add('total = int(total)');
  if (values.unit !== undefined) add(`total = total * ${values.unit}`);
  add('return total');
  return lines.join('\n');
}

/** `quantity` has one number unless the form is `list`; `base` counts only in the form of that name. */
export interface Input {
  readonly quantity: readonly number[];
  readonly rate: number;
  readonly base: number;
}

export function callOf({ name, form }: Shape, { quantity, rate, base }: Input): string {
  const first = form === 'list' ? `[${quantity.join(', ')}]` : String(quantity[0]);
  return `${name}(${first}, ${rate}${form === 'base' ? `, ${base}` : ''})`;
}

interface ProgramArithmetic {
  readonly afterDiscount: (total: number, percent: number) => number;
  readonly nearest: (total: number) => number;
}

const inReference: ProgramArithmetic = {
  afterDiscount: (total, percent) => total - (total * percent) / 100,
  nearest: (total) => Math.floor(total + 0.5),
};

/** The reference's arithmetic comes first; then that which others would write. */
export const RECKONINGS: readonly ProgramArithmetic[] = [
  inReference,
  { ...inReference, afterDiscount: (total, percent) => total * (1 - percent / 100) },
  { ...inReference, afterDiscount: (total, percent) => (total * (100 - percent)) / 100 },
  // Python's round() takes halves to the even neighbour.
  { ...inReference, nearest: (total) => (total % 1 === 0.5 ? 2 * Math.round(total / 2) : Math.round(total)) },
];

/** The result of `sourceOf` for this input, without Python: it finds tests that distinguish decisions. */
export function resultOf(
  form: FunctionForm,
  values: DecisionValues,
  input: Input,
  reckoning = inReference,
): number {
  let quantity = input.quantity.reduce((sum, each) => sum + each, 0);
  if (values.empty !== undefined && quantity === 0) return Number(values.empty);
  if (values.free !== undefined) quantity = Math.max(quantity - Number(values.free), 0);
  let total = quantity * input.rate + (form === 'base' ? input.base : 0);
  if (values.threshold !== undefined) {
    const limit = Number(values.threshold);
    if (values.strictness === '>=' ? quantity >= limit : quantity > limit) total += EXTRA;
  }
  const fee = Number(values.fee ?? 0);
  if (values.order === 'fee first') total += fee;
  if (values.discount !== undefined) total = reckoning.afterDiscount(total, Number(values.discount));
  if (values.order !== 'fee first') total += fee;
  if (values.minimum !== undefined) total = Math.max(total, Number(values.minimum));
  if (values.maximum !== undefined) total = Math.min(total, Number(values.maximum));
  if (values.rounding === 'up') total = Math.ceil(total);
  if (values.rounding === 'nearest') total = reckoning.nearest(total);
  if (values.rounding === 'down') total = Math.floor(total);
  if (values.unit !== undefined) total *= Number(values.unit);
  return total;
}
