import { isObject } from '../json';
import { runSchema } from './schema';

/** An entry of the trainer's table of methods (`trainer/tandem_trainer/methods/table.py`). */
export interface Method {
  readonly title: string;
  readonly description: string;
  /** Groups of settings that it reads beside those of every run. */
  readonly settings: readonly string[];
  /** Paths that it does not read; a path stands for all below it. */
  readonly ignores: readonly string[];
  readonly learns_from: 'pairs' | 'successes' | 'dialogues' | 'tasks';
  readonly hidden_information: boolean;
  readonly preferences: 'alone' | 'beside' | 'none';
  readonly trl: boolean;
}

export type MethodName = keyof typeof runSchema.properties.method.methods;
export const METHODS = runSchema.properties.method.methods as Readonly<Record<MethodName, Method>>;

/** The groups that belong to methods. */
const GROUPS = new Set(Object.values(METHODS).flatMap(({ settings }) => settings));

/** Undefined for a method of another version. */
export const methodNamed = (name: string): Method | undefined =>
  (METHODS as Readonly<Record<string, Method>>)[name];

/** True if the run plays tasks itself, in place of learning from dialogues. */
export const playsTasks = (name: string): boolean => methodNamed(name)?.learns_from === 'tasks';

/** True also for a method that is not known here. */
export function isUsedBy(name: string, path: string): boolean {
  const method = methodNamed(name);
  if (method === undefined) return true;
  const [group = ''] = path.split('.');
  if (GROUPS.has(group) && !method.settings.includes(group)) return false;
  return !method.ignores.some((ignored) => path === ignored || path.startsWith(`${ignored}.`));
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
  isObject(configuration) && typeof configuration.method === 'string' ? configuration.method : 'sweet-rl';
