import path from 'node:path';
import * as vscode from 'vscode';
import {
  allows,
  CLUSTER,
  clusterFields,
  fields,
  isFieldPath,
  textOf,
  valueOf,
} from '../../../core/training/fields';
import { isObject } from '../../../core/json';
import {
  DEFAULT_METHOD,
  isMethodName,
  isUsedBy,
  methodIn,
  METHODS,
  playsTasks,
  usedSettings,
  type MethodName,
} from '../../../core/training/methods';
import { runsFolderOf } from '../../../core/training/runFolder';
import type { DuplicatedRun, Values } from '../../../../webview/newRun/protocol';
import { readAddress } from '../../../core/model/address';
import { days, validateDay } from '../../dialogue/filter';
import { ADDRESS, filledCluster, type ClusterState } from './cluster';
import { wantedWords } from './words';
import type { LoopSettings } from '../../../core/evaluation/loop/settings';
import type { LocalPlace } from '../../localModels';

const { t } = vscode.l10n;

/** Value of the base field for a model on the hub; the values hold the model's name under this key. */
export const HUB = 'hub';

export interface Form {
  readonly values: Values;
  readonly copied?: DuplicatedRun;
}

export interface FormContext {
  readonly recommended: Readonly<Record<string, unknown>>;
  readonly dataFolder: string;
  /** Default name of a run. */
  readonly name: (method: MethodName) => string;
  readonly cluster: ClusterState;
}

export interface Filled {
  /** For `tandem train`, without invalid values and without settings that the method does not read. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** One sentence each, by field name. */
  readonly errors: Values;
  /** Absent for a run on this machine. */
  readonly cluster?: ReturnType<typeof filledCluster>;
}

export const baseOf = ({ values }: Pick<Form, 'values'>): string =>
  values.base === HUB ? (values[HUB] ?? '').trim() : (values.base ?? '');

/** True for a form that trains a simulator, as long as it is no copy. */
export const fitsSimulator = ({ values, copied }: Form): boolean =>
  copied === undefined && values.role === 'collaborator';

export function methodOf({ values: { method = '' } }: Pick<Form, 'values'>): MethodName {
  return isMethodName(method) ? method : DEFAULT_METHOD;
}

/** True if the run plays tasks of a pack and takes no dialogues of the log. */
export const playsItself = (form: Pick<Form, 'values'>): boolean => playsTasks(methodOf(form));

/** True if a cluster cannot train it. */
export function isTrainedHere(form: Form): boolean {
  const { trl, may_play: mayPlay } = METHODS[methodOf(form)];
  return trl || mayPlay;
}

export const isOnCluster = (form: Form): boolean =>
  !isTrainedHere(form) && (form.values.where ?? (hasCluster(form) ? 'cluster' : 'here')) === 'cluster';

const hasCluster = ({ copied }: Form): boolean => isObject(at(copied?.configuration ?? {}, CLUSTER));

/** As requests use it; undefined when there is none to ask. */
export function addressOf(form: Form): string | undefined {
  if (!isOnCluster(form)) return undefined;
  const text = form.values[ADDRESS] ?? clusterTexts(form.copied?.configuration ?? {})[ADDRESS] ?? '';
  const address = readAddress(text);
  return typeof address === 'string' ? undefined : address.baseUrl;
}

export function learnsFromRows(form: Form): boolean {
  const { data } = form.copied?.configuration ?? {};
  return !playsItself(form) && isObject(data) && 'trajectories' in data && form.values.source !== 'log';
}

export const learnsFromLog = (form: Form): boolean => !playsItself(form) && !learnsFromRows(form);

export const PACK = 'data.tasks';

export function filled(form: Form, context: FormContext): Filled {
  const { values, copied } = form;
  const configuration = structuredClone(copied?.configuration ?? context.recommended) as Tree;
  const errors: Record<string, string> = {};
  const method = methodOf(form);
  put(configuration, 'name', context.name(method));
  put(configuration, 'method', method);
  put(configuration, 'model.base', baseOf(form));
  const wrong = baseProblem(form);
  if (wrong !== undefined) errors[values.base === HUB ? HUB : 'base'] = wrong;
  for (const [name, text] of Object.entries(values)) {
    if (!isFieldPath(name) || name === 'method' || name === PACK || !isUsedBy(method, name)) continue;
    const value = valueOf(fields[name], text);
    if (value === undefined) errors[name] = wantedWords(fields[name]);
    else put(configuration, name, value);
  }
  if (values.base !== HUB) put(configuration, 'model.revision', undefined);
  if (playsItself(form)) fromPack(configuration, form, errors);
  else if (!learnsFromRows(form)) fromLog(configuration, values, errors, context);
  const cluster = isOnCluster(form)
    ? filledCluster(
        values,
        { copied: clusterTexts(configuration), device: at(configuration, 'model.device') },
        context.cluster,
      )
    : undefined;
  put(configuration, CLUSTER, cluster?.configuration);
  if (cluster !== undefined) put(configuration, 'resources.processes', undefined);
  return {
    configuration: ordered(usedSettings(configuration)),
    errors: { ...errors, ...cluster?.errors },
    ...(cluster && { cluster }),
  };
}

const clusterTexts = (configuration: Readonly<Record<string, unknown>>): Values =>
  Object.fromEntries(
    Object.keys(clusterFields).flatMap((name) => {
      const value = at(configuration, name);
      return value === undefined ? [] : [[name, textOf(value)]];
    }),
  );

function fromPack(configuration: Tree, form: Form, errors: Record<string, string>): void {
  put(configuration, 'data.trajectories', undefined);
  put(configuration, 'data.preferences', undefined);
  const pack = packOf(form);
  if (pack === '') errors[PACK] = t('Choose the pack whose tasks are played.');
  else put(configuration, PACK, [pack]);
}

export const packOf = ({ values, copied }: Form): string =>
  values[PACK] ?? packIn(copied?.configuration ?? {});

export function packIn(configuration: Readonly<Record<string, unknown>>): string {
  const tasks = at(configuration, PACK);
  return Array.isArray(tasks) && typeof tasks[0] === 'string' ? tasks[0] : '';
}

function fromLog(
  configuration: Tree,
  values: Values,
  errors: Record<string, string>,
  { dataFolder }: FormContext,
): void {
  put(configuration, 'data.trajectories', undefined);
  put(configuration, 'data.preferences', ownFiles(at(configuration, 'data.preferences'), dataFolder));
  put(configuration, PACK, undefined);
  put(configuration, 'data.log', dataFolder);
  for (const name of ['pack', 'agent', 'collaborator', 'collaborator_kind', 'review'])
    put(configuration, `data.filter.${name}`, chosen(values[name]));
  const stars = chosen(values.stars);
  put(configuration, 'data.filter.stars', stars === undefined ? undefined : Number(stars));
  const [since, until] = [chosen(values.since), chosen(values.until)];
  for (const [name, day] of Object.entries({ since, until })) {
    const wrong = day === undefined ? undefined : validateDay(day, t);
    if (wrong !== undefined) errors[name] = wrong;
  }
  if (errors.since === undefined && errors.until === undefined) {
    const range = days(since, until);
    put(configuration, 'data.filter.since', range.since);
    put(configuration, 'data.filter.until', range.until);
  }
  if (values.opening !== undefined) put(configuration, 'data.opening', chosen(values.opening));
  if (values.with_evaluations === 'true') put(configuration, 'data.with_evaluations', true);
  if (values.with_redo === 'true') put(configuration, 'data.with_redo', true);
  if (values.with_own_code === 'true') put(configuration, 'data.with_own_code', true);
  if (values.with_editor_models === 'true') put(configuration, 'data.exclude_models', []);
}

/** Without the rows that an earlier run took from the log, which gives them again. */
function ownFiles(files: unknown, dataFolder: string): readonly unknown[] | undefined {
  if (!Array.isArray(files)) return undefined;
  const runs = runsFolderOf(dataFolder) + path.sep;
  const own = files.filter((file) => typeof file !== 'string' || !file.startsWith(runs));
  return own.length === 0 ? undefined : own;
}

const chosen = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function baseProblem(form: Form): string | undefined {
  const base = baseOf(form);
  if (form.values.base === HUB)
    return /^[\w.-]+\/[\w.-]+$/.test(base)
      ? undefined
      : t('Enter the ID as owner/name, e.g. Qwen/Qwen2.5-1.5B-Instruct.');
  return path.isAbsolute(base) ? undefined : t('Choose the model that learns.');
}

export function textsOf({ configuration }: Filled): Values {
  const entries = Object.entries(fields).map(([name, field]) => {
    const value = at(configuration, name);
    return [name, textOf(value === undefined || !allows(field, value) ? field.default : value)];
  });
  return Object.fromEntries(entries) as Values;
}

export function valuesOf(configuration: Readonly<Record<string, unknown>>): Values {
  const base = textOf(at(configuration, 'model.base'));
  return {
    ...(path.isAbsolute(base) ? { base } : { base: HUB, [HUB]: base }),
    method: methodIn(configuration),
  };
}

type Tree = Record<string, unknown>;

function at(tree: Readonly<Record<string, unknown>>, name: string): unknown {
  let value: unknown = tree;
  for (const key of name.split('.')) value = isObject(value) ? value[key] : undefined;
  return value;
}

/** @param value undefined removes the entry */
function put(tree: Tree, name: string, value: unknown): void {
  const keys = name.split('.');
  const last = keys.pop()!;
  let inner = tree;
  for (const key of keys) {
    const next = inner[key];
    if (!isObject(next)) {
      if (value === undefined) return;
      inner[key] = {};
    }
    inner = inner[key] as Tree;
  }
  if (value === undefined) Reflect.deleteProperty(inner, last);
  else inner[last] = value;
}

/** Most important fields first, for the reader of the file. */
function ordered({ name, method, model, data, ...rest }: Tree): Tree {
  return { name, method, model, data, ...rest };
}

/** Folders with weights for PyTorch, the starter model first. */
export async function trainablePlaces(places: readonly LocalPlace[]): Promise<LocalPlace[]> {
  const found = await Promise.all(
    places.map(async (place) => ((await weightsIn(place.folder)) > 0 ? [place] : [])),
  );
  return found.flat();
}

interface Recommended {
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly isSmall: boolean;
}

/**
 * Small models are trained whole with settings of their own, large ones with the trainer's defaults.
 * @param base a folder, or a name on the hub
 */
export const recommendedFor = async (base: string): Promise<Recommended> =>
  recommendedOf(base, path.isAbsolute(base) ? await weightsIn(base) : 0);

/** @param size of the weights, in bytes; 0 when unknown */
export async function recommendedOf(base: string, size: number): Promise<Recommended> {
  const { QUICK, MAX_WHOLE_TRAINING_PARAMETERS, SMALL_DISTILLED } =
    await import('../../../core/evaluation/loop/settings');
  // A weight takes at least two bytes.
  const isSmall = size > 0 && size <= 2 * MAX_WHOLE_TRAINING_PARAMETERS;
  const { model, data, ...stages } = isSmall
    ? { ...QUICK.training, grpo: smallOnline(QUICK), distill: SMALL_DISTILLED }
    : { model: {}, data: {} };
  // With an ONNX graph, the model can play here.
  const result = { export: { onnx: ['int8'] } };
  return { isSmall, configuration: { model: { base, ...model }, data: { ...data }, ...stages, ...result } };
}

/** Plays as the loop does, and trains at the learning rate of its policy. */
const smallOnline = ({ protocol, maxTokens }: LoopSettings): Readonly<Record<string, number>> => ({
  learning_rate: 1e-3,
  max_turns: protocol.maxTurns,
  max_new_tokens: maxTokens,
});

/** Bytes of a folder's weights; 0 when it is gone, which the Models view reports. */
async function weightsIn(folder: string): Promise<number> {
  const uri = vscode.Uri.file(folder);
  try {
    const names = await vscode.workspace.fs.readDirectory(uri);
    const weights = names.filter(([name]) => name.endsWith('.safetensors'));
    const sizes = await Promise.all(
      weights.map(async ([name]) => (await vscode.workspace.fs.stat(vscode.Uri.joinPath(uri, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}
