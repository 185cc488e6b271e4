import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { SHORT } from '../dialogue/shortPrompt';
import { Fault, messageOf } from '../fault';
import { isTooDeep } from '../nesting';
import { EDITOR_MODEL } from '../trajectory/terms';

/**
 * What `data` of a configuration may say besides what the trainer reads: which trajectories of a log are taken. It is
 * gone from the `run.json` that the trainer gets, in which the rows are named instead.
 */
export const logSelectionSchema = z.strictObject({
  /** A data folder of Tandem. */
  log: z.string().min(1),
  /** Each field that is given must hold. */
  filter: z
    .strictObject({
      task: z.string().optional(),
      pack: z.string().optional(),
      agent: z.string().optional(),
      /** The name of who has the collaborator's seat at the end, and of which kind. */
      collaborator: z.string().optional(),
      collaborator_kind: z.enum(['developer', 'simulator', 'rules']).optional(),
      collection: z.string().optional(),
      /** Rated with at least so many stars, 1 to 5; 0: not rated. */
      stars: z.int().min(0).max(5).optional(),
      /** When the dialogue began: not before, and before. Dates or times, ISO 8601. */
      since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
      until: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
    })
    .optional(),
  /** Whose rewards count; `fixed` when it is not given. */
  mode: z.enum(['fixed', 'paper']).optional(),
  minimum_reward: z.number().min(0).max(1).optional(),
  with_leaked: z.boolean().optional(),
  with_evaluations: z.boolean().optional(),
  with_doubtful: z.boolean().optional(),
  /** Models whose text must not be trained on, as agent or as simulator; `*` stands for anything. */
  exclude_models: z.array(z.string()).readonly().optional(),
  /** The agent.md that was played with, when it is not Tandem's own; the word `short`: the shipped one for small models. */
  opening: z.string().optional(),
});

export type LogSelection = z.infer<typeof logSelectionSchema>;

/** Terms of the models that the editor offers forbid training on what they write, unless their owner says otherwise. */
export const EXCLUDED_MODELS: readonly string[] = [`${EDITOR_MODEL}*`];

/** Fields of `data` that only Tandem reads, and those that the trainer knows, too. */
const OURS: readonly string[] = ['filter', 'minimum_reward', 'with_evaluations', 'exclude_models'];
const SHARED: readonly string[] = ['log', 'mode', 'with_leaked', 'with_doubtful', 'opening'];

/** A configuration whose paths are absolute. */
export interface Configuration {
  /** As the trainer takes it; its data still lack the rows that come from a log. */
  readonly forTrainer: Readonly<Record<string, unknown>> & {
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly selection?: LogSelection;
  /** How messages about it call it: the file, or what the caller says. */
  readonly from: string;
}

/** @throws {Fault} `training/bad-configuration` */
export async function readConfiguration(file: string): Promise<Configuration> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw bad(`The configuration ${file} cannot be read: ${messageOf(error)}.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw bad(`${file} is not JSON: ${messageOf(error)}.`);
  }
  return parseConfiguration(value, { from: file, folder: dirname(resolve(file)) });
}

/**
 * Checks what Tandem itself reads; all else is left to the trainer's own check.
 * @param folder where relative paths begin
 * @throws {Fault} `training/bad-configuration`
 */
export async function parseConfiguration(
  value: unknown,
  { from, folder }: { readonly from: string; readonly folder: string },
): Promise<Configuration> {
  if (isTooDeep(value)) throw bad(`${from} is nested too deeply; write it as the documentation shows.`);
  const whole = z.looseObject({ data: z.looseObject({}) }).safeParse(value);
  if (!whole.success) throw bad(`${from}: ${sentenceOf(whole.error, '')}`);
  const { data, ...rest } = whole.data;
  const selection = selectionOf(data, from, folder);
  const forData = Object.fromEntries(
    Object.entries(data).filter(([name]) => name !== 'log' && !OURS.includes(name)),
  );
  return {
    from,
    forTrainer: { ...rest, ...(await modelPaths(rest, folder)), data: dataPaths(forData, folder) },
    ...(selection && { selection }),
  };
}

function selectionOf(data: object, from: string, folder: string): LogSelection | undefined {
  const given = Object.entries(data);
  const ours = given.find(([name]) => OURS.includes(name));
  if (!('log' in data)) {
    if (ours === undefined) return undefined;
    throw bad(`${from}: data.${ours[0]} chooses from a log; add data.log, the data folder, or take it out.`);
  }
  const names = [...OURS, ...SHARED];
  const parsed = logSelectionSchema.safeParse(
    Object.fromEntries(given.filter(([name]) => names.includes(name))),
  );
  if (!parsed.success) throw bad(`${from}: ${sentenceOf(parsed.error, 'data.')}`);
  const { log, opening, ...rest } = parsed.data;
  return {
    ...rest,
    log: resolve(folder, log),
    ...(opening !== undefined && { opening: opening === SHORT ? SHORT : resolve(folder, opening) }),
  };
}

function sentenceOf(error: z.ZodError, prefix: string): string {
  const { path, message } = error.issues[0]!;
  const where =
    path.length === 0 ? (prefix === '' ? 'the file' : prefix.slice(0, -1)) : `${prefix}${path.join('.')}`;
  return `${where}: ${message}.`;
}

function dataPaths(data: Readonly<Record<string, unknown>>, folder: string): Record<string, unknown> {
  const absolute = (value: unknown): unknown =>
    typeof value === 'string' ? resolve(folder, value) : Array.isArray(value) ? value.map(absolute) : value;
  const isPath = (name: string, value: unknown): boolean =>
    ['trajectories', 'preferences', 'opening'].includes(name) && !(name === 'opening' && value === SHORT);
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, isPath(name, value) ? absolute(value) : value]),
  );
}

/** A model may be a name on the hub: what is no folder stays as it is, and the trainer says so if it is neither. */
async function modelPaths(
  rest: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<Readonly<Record<string, unknown>>> {
  const parsed = z.looseObject({}).safeParse(rest.model);
  if (!parsed.success) return {};
  const model = { ...parsed.data };
  if (typeof model.base === 'string' && model.base !== '') {
    const path = resolve(folder, model.base);
    if (/^[./\\]/.test(model.base) || (await isFolder(path))) model.base = path;
  }
  if (typeof model.chat_template === 'string') model.chat_template = resolve(folder, model.chat_template);
  return { model };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // whatever the reason: the trainer says what is wrong with it
  );
}

function bad(message: string): Fault {
  return new Fault('training/bad-configuration', message);
}
