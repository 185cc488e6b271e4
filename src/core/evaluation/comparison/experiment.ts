import path from 'node:path';
import { isObject } from '../../json';
import { readText } from '../../regularFile';
import { EventTail } from '../../training/eventFile';
import { RunHistory } from '../../training/history/history';
import { isUsedBy, methodIn, usedSettings } from '../../training/methods';
import { MAX_RECORD_BYTES, runFiles } from '../../training/runFolder';
import type { Run, Runs } from '../../training/runs';
import { keptOf, type KeptEvaluation } from '../loop/evaluationCache';

export interface RunRecord {
  readonly run: Run;
  readonly history: RunHistory;
  readonly configuration: unknown;
  readonly kept: readonly KeptEvaluation[];
}

/** Each call reads only the new events. */
export class RunReader {
  private readonly history = new RunHistory();
  private readonly tail: EventTail;

  constructor(
    private readonly runs: Runs,
    readonly id: string,
  ) {
    this.tail = new EventTail(path.join(runs.folder, id, runFiles.events));
  }

  /** Undefined when the run is gone. */
  async read(): Promise<RunRecord | undefined> {
    // The run is read before the events, so that these include whatever its process wrote until it ended.
    const run = await this.runs.read(this.id);
    if (run === undefined) return undefined;
    await this.history.read(this.tail);
    const [configuration, kept] = await Promise.all([configurationOf(run), keptOf(run.folder)]);
    return { run, history: this.history, configuration, kept };
  }

  close(): Promise<void> {
    return this.tail.close();
  }
}

/** A field of `run.json` that is not the same in all of some runs. */
export interface Difference {
  /** Path, such as `critic.learning_rate`. */
  readonly field: string;
  /**
   * In the order of the runs; undefined where the configuration leaves it to the default, and a dash where the run's
   * method does not read it.
   */
  readonly values: readonly (string | undefined)[];
}

/** Not compared: they are in the heading of each run, or are equal although the rows differ. */
const ASIDE: readonly string[] = ['name', 'version', 'data.trajectories'];

/** In the order of their first occurrence. A list is one value. */
export function differencesOf(configurations: readonly unknown[]): Difference[] {
  const flat = configurations.map((one) => new Map(fieldsOf(one)));
  const fields = new Set(flat.flatMap((one) => [...one.keys()]));
  return [...fields].flatMap((field) => {
    const values = flat.map((one, index) =>
      isUsedBy(methodIn(configurations[index]), field) ? one.get(field) : '–',
    );
    return ASIDE.includes(field) || new Set(values).size === 1 ? [] : [{ field, values }];
  });
}

/** Settings that the run's method does not read are left out. @throws any error of reading or parsing it */
export async function configurationOf({ folder }: Pick<Run, 'folder'>): Promise<unknown> {
  return usedSettings(
    JSON.parse(await readText(path.join(folder, runFiles.configuration), MAX_RECORD_BYTES)) as unknown,
  );
}

/** Each leaf with its path, such as `critic.beta`, and its value as text. */
function fieldsOf(value: unknown, at = ''): [string, string][] {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, inside]) =>
      fieldsOf(inside, at === '' ? name : `${at}.${name}`),
    );
  }
  return [[at, typeof value === 'string' ? value : JSON.stringify(value)]];
}
