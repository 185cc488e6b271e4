import { isObject } from '../json';
import { AGENT_SIGNALS, type Signal } from '../trajectory/export/selection';
import { isRole, type Role } from '../trajectory/searchTree';
import { runSchema } from './schema';

/** An entry of the trainer's table of methods (`trainer/tandem_trainer/methods/table.py`). */
export interface Method {
  readonly title: string;
  readonly description: string;
  /** Groups of settings that it reads beside those of every run. */
  readonly settings: readonly string[];
  /** Paths that it does not read; a path stands for all below it. */
  readonly ignores: readonly string[];
  /** The group with the settings of its stage `policy`. */
  readonly policy: string;
  readonly learns_from: 'pairs' | 'successes' | 'rewards' | 'dialogues' | 'tasks';
  /** True if it also plays tasks, where there are packs. Such a method trains in one process. */
  readonly may_play: boolean;
  readonly preferences: 'alone' | 'beside' | 'feedback' | 'none';
  /** What it learns from when it trains the collaborator. */
  readonly collaborator: 'replies' | 'edits' | 'dialogues' | 'none';
  /** TRL trains it, in one process. */
  readonly trl: boolean;
}

/** Rows of what people left on turns. Where they are enough, the run needs no dialogue beside them. */
export interface FeedbackOfRun {
  readonly format: 'feedback' | 'edits';
  readonly signals: readonly Signal[];
  readonly isEnough: boolean;
}

export type RowsOfRun = 'trajectories' | 'replies' | 'edits' | Role;

const { methods, enum: names, default: usual } = runSchema.properties.method;

export type MethodName = keyof typeof methods;
export const METHODS = methods as Readonly<Record<MethodName, Method>>;
/** In the order of the table. */
export const METHOD_NAMES = names as readonly MethodName[];
export const DEFAULT_METHOD = usual as MethodName;

/** The groups that belong to methods. */
export const METHOD_GROUPS = new Set(Object.values(METHODS).flatMap(({ settings }) => settings));

/** False for a method of another version. */
export const isMethodName = (name: string): name is MethodName => Object.hasOwn(METHODS, name);

export const methodNamed = (name: string): Method | undefined =>
  isMethodName(name) ? METHODS[name] : undefined;

/** True if the run plays tasks itself, in place of learning from dialogues. */
export const playsTasks = (name: string): boolean => methodNamed(name)?.learns_from === 'tasks';

/** False if it learns from dialogues whatever their rewards are. */
export const needsGrades = (name: string): boolean => methodNamed(name)?.learns_from !== 'dialogues';

/** True also for a method that is not known here. */
export function isUsedBy(name: string, path: string): boolean {
  const method = methodNamed(name);
  if (method === undefined) return true;
  const [group = ''] = path.split('.');
  if (METHOD_GROUPS.has(group) && !method.settings.includes(group)) return false;
  return !method.ignores.some((ignored) => path === ignored || path.startsWith(`${ignored}.`));
}

/** Format of the rows that the run takes from a log. The trainer refuses a method that does not train the run's role. */
export function rowsOfRun(configuration: unknown): RowsOfRun {
  if (!isObject(configuration)) return 'trajectories';
  if (isRole(configuration.role)) return configuration.role;
  if (configuration.role !== 'collaborator') return 'trajectories';
  const rows = methodNamed(methodIn(configuration))?.collaborator ?? 'none';
  return rows === 'replies' || rows === 'edits' ? rows : 'trajectories';
}

/** Undefined if the run takes no feedback from a log. */
export function feedbackOfRun(configuration: unknown): FeedbackOfRun | undefined {
  const { preferences = 'none' } = methodNamed(methodIn(configuration)) ?? {};
  const rows = rowsOfRun(configuration);
  if (preferences === 'none' || (rows !== 'trajectories' && rows !== 'replies')) return undefined;
  const { data } = configuration as {
    readonly data?: { readonly feedback?: Readonly<Record<string, unknown>> };
  };
  const { properties } = runSchema.properties.data.properties.feedback;
  const named: readonly Signal[] = rows === 'replies' ? ['edits'] : AGENT_SIGNALS;
  const signals = named.filter((name) => (data?.feedback?.[name] ?? properties[name].default) !== 0);
  if (signals.length === 0) return undefined;
  return { format: rows === 'replies' ? 'edits' : 'feedback', signals, isEnough: preferences === 'alone' };
}

export function usedSettings<Configuration>(configuration: Configuration): Configuration {
  const method = methodIn(configuration);
  const part = (value: unknown, at: string): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([name, inside]) => {
            const path = at === '' ? name : `${at}.${name}`;
            return isUsedBy(method, path) ? [[name, part(inside, path)]] : [];
          }),
        )
      : value;
  return part(configuration, '') as Configuration;
}

/** The schema's default where it is not given. */
export const methodIn = (configuration: unknown): string =>
  isObject(configuration) && typeof configuration.method === 'string' ? configuration.method : DEFAULT_METHOD;

export const hasCritic = (configuration: unknown): boolean => isUsedBy(methodIn(configuration), 'critic');

/** A critic needs no pairs if its score is no log-ratio (the trainer's `data_shortage.py`). */
export function learnsFrom(configuration: unknown): Method['learns_from'] | undefined {
  const critic = isObject(configuration) && isObject(configuration.critic) ? configuration.critic : {};
  const { score = 'log-ratio' } = critic;
  if (hasCritic(configuration) && score !== 'log-ratio') return 'dialogues';
  return methodNamed(methodIn(configuration))?.learns_from;
}
