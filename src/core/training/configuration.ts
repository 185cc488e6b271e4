import { dirname, resolve } from 'node:path';
import { SHORT } from '../dialogue/prompts';
import { Fault, messageOf } from '../fault';
import { isObject, isTooDeep } from '../json';
import { isUnfit, MB, readText } from '../regularFile';
import { EDITOR_MODEL } from '../trajectory/modelTerms';
import { METHOD_GROUPS } from './methods';
import { isFolder, ROW_FILES } from './runFolder';
import { refusalOf, runSchema, type RunSchema, type Schema } from './schema';

type DataFields = RunSchema['properties']['data']['properties'];
type Named<
  Fields,
  Typed extends { readonly [Name in keyof Typed]: Name extends keyof Fields ? unknown : never },
> = Typed;

/** A trajectory must match every field that is given. */
type LogFilter = Named<
  DataFields['filter']['properties'],
  {
    readonly task?: string;
    readonly pack?: string;
    readonly agent?: string;
    readonly collaborator?: string;
    readonly collaborator_kind?: 'developer' | 'simulator' | 'rules';
    readonly collection?: string;
    readonly stars?: number;
    readonly review?: 'accepted' | 'redo' | 'none';
    readonly since?: string;
    readonly until?: string;
  }
>;

/**
 * The fields of `data` that choose trajectories from a log; a name that the schema lacks does not compile. The
 * `run.json` that the trainer gets names files of rows instead of them.
 */
export type LogSelection = Named<
  DataFields,
  {
    readonly log: string;
    readonly filter?: LogFilter;
    readonly mode?: 'fixed' | 'paper';
    readonly minimum_reward?: number;
    /** What rewards measure: `tests`, or of pages `structure`, `checks` or `clip`, also with its version. */
    readonly measure?: string;
    readonly renderer?: string;
    readonly with_leaked?: boolean;
    readonly with_evaluations?: boolean;
    readonly with_redo?: boolean;
    readonly with_doubtful?: boolean;
    readonly with_own_code?: boolean;
    readonly exclude_models?: readonly string[];
    /**
     * The agent.md that the dialogues were played with; `short` names the shipped one for small models. For a run of the
     * collaborator, the simulator.md that the model will play with.
     */
    readonly opening?: string;
  }
>;

/** The terms of the models that the editor offers forbid training on their text, unless their owner allows it. */
export const EXCLUDED_MODELS: readonly string[] = [`${EDITOR_MODEL}*`];

/** Fields of `data` that only Tandem reads. */
const OURS: readonly string[] = Object.entries(runSchema.properties.data.properties).flatMap(
  ([name, field]) => ('readBy' in field ? [name] : []),
);
/** Fields of a selection that the trainer reads, too. */
const SHARED: readonly (keyof LogSelection)[] = [
  ...(['mode', 'with_leaked', 'with_doubtful', 'opening'] as const),
  ...(['measure', 'renderer'] as const),
];

/** All paths are absolute. */
export interface RunConfiguration {
  /** Its data lack the rows that come from a log. */
  readonly forTrainer: Readonly<Record<string, unknown>> & {
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly selection?: LogSelection;
  /** For error messages: its file, or a name that the caller chooses. */
  readonly from: string;
}

/** @throws {Fault} `training/bad-configuration` */
export async function readConfiguration(file: string): Promise<RunConfiguration> {
  return parseConfiguration(await readConfigurationFile(file), {
    from: file,
    folder: dirname(resolve(file)),
  });
}

/** Unchecked; `parseConfiguration` checks it. @throws {Fault} `training/bad-configuration` */
export async function readConfigurationFile(file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readText(file, 16 * MB);
  } catch (error) {
    if (isUnfit(error)) throw error;
    throw bad(`The configuration ${file} cannot be read: ${messageOf(error)}.`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw bad(`${file} is not JSON: ${messageOf(error)}.`);
  }
}

/**
 * Checks every field against the schema; the trainer also checks that files exist, and rules that join several fields.
 * @param folder the base of relative paths
 * @throws {Fault} `training/bad-configuration`
 */
export async function parseConfiguration(
  value: unknown,
  { from, folder }: { readonly from: string; readonly folder: string },
): Promise<RunConfiguration> {
  if (isTooDeep(value)) throw bad(`${from} is nested too deeply; write it as the documentation shows.`);
  const refusal = refusalOf(runSchema, value);
  if (refusal !== undefined) throw bad(`${from}: ${refusal}.`);
  const { data, ...rest } = value as { readonly data: object; readonly model: object };
  const opening = 'opening' in data ? data.opening : undefined;
  if ('role' in rest && rest.role === 'collaborator' && opening === SHORT)
    throw bad(
      `${from}: data.opening is short, which is a request to the agent; name a simulator.md, or leave it out to use Tandem's.`,
    );
  const selection = selectionOf(data, from, folder);
  const forData = Object.fromEntries(Object.entries(data).filter(([name]) => !OURS.includes(name)));
  return {
    from,
    forTrainer: {
      ...Object.fromEntries(
        Object.entries(rest).map(([group, settings]) => [group, methodPaths(group, settings, folder)]),
      ),
      model: await modelPaths(rest.model, folder),
      data: dataPaths(forData, folder),
    },
    ...(selection && { selection }),
  };
}

/**
 * Checks `data` alone, where the rest of a configuration is not known yet.
 * @returns undefined when it takes nothing from a log
 * @throws {Fault} `training/bad-configuration`
 */
export function parseSelection(
  data: Readonly<Record<string, unknown>>,
  { from, folder }: { readonly from: string; readonly folder: string },
): LogSelection | undefined {
  const refusal = refusalOf(runSchema.properties.data, data, 'data');
  if (refusal !== undefined) throw bad(`${from}: ${refusal}.`);
  return selectionOf(data, from, folder);
}

function selectionOf(data: object, from: string, folder: string): LogSelection | undefined {
  const given = Object.entries(data);
  const ours = given.find(([name]) => OURS.includes(name));
  if (!('log' in data)) {
    if (ours === undefined) return undefined;
    throw bad(`${from}: data.${ours[0]} chooses from a log; add data.log, the data folder, or take it out.`);
  }
  const names: readonly string[] = [...OURS, ...SHARED];
  const { log, opening, ...rest } = Object.fromEntries(
    given.filter(([name]) => names.includes(name)),
  ) as unknown as LogSelection;
  return {
    ...rest,
    log: resolve(folder, log),
    ...(typeof opening === 'string' && { opening: opening === SHORT ? SHORT : resolve(folder, opening) }),
  };
}

function dataPaths(data: Readonly<Record<string, unknown>>, folder: string): Record<string, unknown> {
  const absolute = (value: unknown): unknown =>
    typeof value === 'string' ? resolve(folder, value) : Array.isArray(value) ? value.map(absolute) : value;
  const isPath = (name: string, value: unknown): boolean =>
    [...ROW_FILES, 'tasks', 'opening'].includes(name) && !(name === 'opening' && value === SHORT);
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, isPath(name, value) ? absolute(value) : value]),
  );
}

function methodPaths(group: string, settings: unknown, folder: string): unknown {
  if (!METHOD_GROUPS.has(group) || !isObject(settings)) return settings;
  const nodes = runSchema.properties[group]?.properties ?? {};
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      isPath(nodes[name]) && typeof value === 'string' ? resolve(folder, value) : value,
    ]),
  );
}

const isPath = (node: Schema | undefined): boolean =>
  node?.format === 'path' || node?.anyOf?.some(isPath) === true;

/**
 * A base that is no folder stays as it is, because it may be a name on the hub; the trainer refuses it if it is
 * neither.
 */
async function modelPaths(given: object, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const model: { base?: unknown; chat_template?: unknown } = { ...given };
  if (typeof model.base === 'string' && model.base !== '') {
    const path = resolve(folder, model.base);
    if (/^[./\\]/.test(model.base) || (await isFolder(path))) model.base = path;
  }
  if (typeof model.chat_template === 'string') model.chat_template = resolve(folder, model.chat_template);
  return model;
}

function bad(message: string): Fault {
  return new Fault('training/bad-configuration', message);
}
