import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Fault } from '../fault';
import { isObject, isTooDeep } from '../json';
import { PAGE_PROPERTIES, PAGE_SELECTOR, type PageCheck, type PageProperty } from '../pageCheck';
import {
  isProgram,
  type Fact,
  type PageTask,
  programOf,
  type ProgramTask,
  type Specification,
  type Task,
  type TestCase,
  testsOf,
} from './task';
import { withoutEnd } from '../text';

/** Text that is not blank, since an empty field is as good as a missing one. */
const text = z.string().refine((value) => value.trim() !== '', 'is empty');

export const factSchema = z.object({
  topic: text,
  keywords: z.array(text).min(1),
  answers: z.array(text).min(1),
});

const count = z.int().min(0);

const specificationSchema = z.object({
  requirements: z.array(text).min(1),
  by: text.optional(),
  check: z
    .object({ by: text, passed: count, tests: count.min(1) })
    .refine(({ passed, tests }) => passed <= tests, 'has more passed tests than tests')
    .optional(),
});

/** Hugging Face `datasets` gives all objects of a column the same fields, and pads with `null`. */
const padded = <Inner extends z.ZodType>(inner: Inner) => z.preprocess(withoutNulls, inner);

/** pandas makes numbers of a column of ids that look like some, and floats if a row has none. */
const idSchema = z.preprocess((id) => (Number.isSafeInteger(id) ? String(id) : id), text.optional());

const paddedFact = padded(
  factSchema.extend({
    keywords: padded(factSchema.shape.keywords),
    answers: padded(factSchema.shape.answers),
  }),
);

const paddedSpecification = padded(
  specificationSchema.extend({ requirements: padded(specificationSchema.shape.requirements) }),
);

/** A map, because a record of zod leaves out the name `__proto__`, which a test may have like any other. */
const testCasesSchema = z.preprocess(
  (cases) => (isObject(cases) ? new Map(Object.entries(withoutNulls(cases))) : cases),
  z.map(z.string(), text).refine((cases) => cases.size > 0, 'is empty; a task needs at least one test'),
);

const shared = {
  problem_description: text,
  ground_truth: text,
  id: idSchema,
  source: z.string().optional(),
  license: z.string().optional(),
};

/** One line of a pack, in ColBench's fields. Fields that are not named here are left aside. */
const programSchema = padded(
  z.object({
    ...shared,
    test_cases: testCasesSchema,
    hidden_information: z.string().optional(),
    facts: padded(z.array(paddedFact)).optional(),
    specification: paddedSpecification.optional(),
  }),
);

const properties = Object.keys(PAGE_PROPERTIES) as PageProperty[];

const checkSchema = padded(
  z
    .object({
      name: text,
      where: z
        .string()
        .regex(PAGE_SELECTOR, 'must name elements by their tags, such as "header" or "main section:nth(2)"'),
      property: z.literal(properties, `must be one of ${properties.join(', ')}`),
      equals: text,
    })
    .refine(({ property, equals }) => PAGE_PROPERTIES[property].test(equals), {
      path: ['equals'],
      error: 'does not fit its property',
    }),
);

const pageSchema = padded(z.object({ ...shared, checks: padded(z.array(checkSchema)).optional() }));

interface SharedRow {
  readonly problem_description: string;
  readonly ground_truth: string;
  readonly id?: string;
  readonly source?: string;
  readonly license?: string;
}

interface ProgramRow extends SharedRow {
  readonly test_cases: Readonly<Record<string, string>>;
  readonly hidden_information: string;
  readonly facts?: readonly Fact[];
  readonly specification?: Specification;
}

interface PageRow extends SharedRow {
  readonly kind: 'page';
  readonly checks?: readonly PageCheck[];
}

export type TaskRow = ProgramRow | PageRow;

/** @throws {Fault} `task/bad-row` with one sentence that names the field, what it must be and what it is */
export function parseTask(row: unknown): Task {
  // zod's error would hold the row as JSON.
  if (isTooDeep(row)) throw new Fault('task/bad-row', 'The task is nested too deeply.');
  return isPageRow(row) ? pageFrom(row) : programFrom(row);
}

/** @throws {Fault} as `parseTask`, and `task/page` */
export const parseProgram = (row: unknown): ProgramTask => programOf(parseTask(row));

function pageFrom(row: unknown): PageTask {
  const { id, problem_description, ground_truth, checks, ...origin } = checked(pageSchema, row);
  return {
    kind: 'page',
    id: id ?? contentId(problem_description, ground_truth, []),
    description: problem_description,
    reference: ground_truth,
    ...(checks && checks.length > 0 && { checks }),
    ...origin,
  };
}

function programFrom(row: unknown): ProgramTask {
  const { problem_description, ground_truth, hidden_information, id, facts, test_cases, ...origin } = checked(
    programSchema,
    row,
  );
  const testCases = inOrder(test_cases);
  return {
    id: id ?? contentId(problem_description, ground_truth, testCases),
    description: problem_description,
    reference: ground_truth,
    testCases,
    hiddenInformation: hidden_information ?? ground_truth,
    ...(facts && facts.length > 0 && { facts }),
    ...origin,
  };
}

function checked<Schema extends z.ZodType>(schema: Schema, row: unknown): z.output<Schema> {
  const parsed = schema.safeParse(row, { reportInput: true });
  if (!parsed.success) throw new Fault('task/bad-row', explain(parsed.error.issues));
  return parsed.data;
}

/** An id that is only the content's hash is left out, so that `parseTask` reads the same task. */
export function taskToRow(task: ProgramTask): ProgramRow;
export function taskToRow(task: Task): TaskRow;
export function taskToRow(task: Task): TaskRow {
  const { id, description, reference, source, license } = task;
  const request = { problem_description: description, ground_truth: reference };
  const named = id === contentId(description, reference, testsOf(task)) ? {} : { id };
  if (!isProgram(task)) {
    const { checks } = task;
    return { kind: 'page', ...request, ...named, checks, source, license };
  }
  const { testCases, hiddenInformation, facts, specification } = task;
  return {
    ...request,
    test_cases: Object.fromEntries(testCases.map(({ name, call }) => [name, call])),
    hidden_information: hiddenInformation,
    ...named,
    facts,
    specification,
    source,
    license,
  };
}

/** First 16 hexadecimal digits of the SHA-256 of what the task asks and how it is tested. */
function contentId(description: string, reference: string, testCases: readonly TestCase[]): string {
  const content = JSON.stringify([description, reference, testCases.map(({ call }) => call)]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

/**
 * Sorts `test1` … `testN` by number (a JSON object may list `test10` after `test1`), and leaves other names as they
 * stand. The trainer orders them alike (`trainer/tandem_trainer/data/json_rows.py`).
 */
function inOrder(cases: ReadonlyMap<string, string>): TestCase[] {
  const tests = [...cases].map(([name, call]) => ({ name, call }));
  const numbered = tests.map((test) => {
    const prefix = withoutEnd(test.name, '0123456789');
    // A number may have any length: of two without leading zeros the longer one is greater.
    return { test, prefix, digits: test.name.slice(prefix.length).replace(/^0+(?=\d)/, '') };
  });
  const prefixes = new Set(numbered.map(({ prefix }) => prefix));
  if (prefixes.size !== 1 || numbered.some(({ digits }) => digits === '')) return tests;
  return numbered
    .toSorted(({ digits: a }, { digits: b }) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0))
    .map(({ test }) => test);
}

/** Members of an object or entries of a list that are there, for fields whose form is fixed. */
function withoutNulls<Value>(value: Value): Value;
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((entry: unknown) => entry !== null);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** A published page has HTML and no tests; rows that Tandem wrote say it. */
function isPageRow(row: unknown): boolean {
  if (!isObject(row)) return false;
  if ('kind' in row && row.kind === 'page') return true;
  if (('test_cases' in row && row.test_cases !== null) || !('ground_truth' in row)) return false;
  return typeof row.ground_truth === 'string' && /<(html|body|!doctype)\b/i.test(row.ground_truth);
}

/** The first problem only; a second one often follows from the first. */
function explain(issues: readonly z.core.$ZodIssue[]): string {
  const [issue] = issues;
  if (!issue) throw new Error('A row was refused without an issue.');
  const more = issues.length > 1 ? ` (${issues.length - 1} more in this row)` : '';
  return `${fault(issue)}${more}.`;
}

function fault(issue: z.core.$ZodIssue): string {
  const [field, ...inside] = issue.path;
  if (field === undefined) return `A task must be a JSON object, here ${describe(issue.input)}`;
  const where = [String(field), ...inside.map((key) => `[${JSON.stringify(key)}]`)].join('');
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return `The field ${where} is missing`;
    const must = issue.expected === 'map' ? 'an object of call strings' : article(issue.expected);
    return `${where} must be ${must}, here ${describe(issue.input)}`;
  }
  if (issue.code === 'too_small') return `${where} must have at least one entry`;
  return `${where} ${issue.message}`;
}

/** Without quoting it: "an array of 3 numbers". */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return article(typeof value);
  const kinds = new Set(value.map((item: unknown) => (item === null ? 'null' : typeof item)));
  const [kind] = kinds;
  if (kind === undefined) return 'an empty array';
  const plural = value.length === 1 ? '' : 's';
  return `an array of ${value.length} ${kinds.size === 1 && kind !== 'null' ? kind : 'value'}${plural}`;
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
