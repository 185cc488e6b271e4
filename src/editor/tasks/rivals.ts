import path from 'node:path';
import type { Pack } from './pack';

/**
 * Which packs have a task of the same id, so that each gets the dialogues that were begun from it. The log says the file
 * name of the pack, not its folder: packs of one name that log into the same place share the dialogues of such a task.
 */
export class Rivals {
  /** By the log, then by the task: the file names of the packs that have it, where there are several. */
  private readonly names = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  /** @param logOf where the dialogues about a pack's tasks are logged */
  constructor(packs: readonly Pack[], logOf: (file: string) => string) {
    for (const [log, some] of Map.groupBy(packs, ({ file }) => logOf(file)))
      this.names.set(log, shared(some));
  }

  /**
   * Whether a dialogue about a task counts for this pack. One that was begun from no pack counts for each that has the
   * task, and so does one from a pack that is gone or renamed.
   * @param from the file name of the pack that it was begun from, as the log says it
   */
  counts(
    from: string | undefined,
    { log, pack, task }: { log: string; pack: string; task: string },
  ): boolean {
    const names = this.names.get(log)?.get(task);
    return from === undefined || from === path.basename(pack) || names?.has(from) !== true;
  }
}

function shared(packs: readonly Pack[]): Map<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  // Nearly every task is in one pack, for which no set is made.
  const first = new Map<string, string>();
  for (const { file, tasks } of packs) {
    const name = path.basename(file);
    for (const { id } of tasks) {
      const known = first.get(id);
      if (known === undefined) first.set(id, name);
      else names.set(id, (names.get(id) ?? new Set([known])).add(name));
    }
  }
  return names;
}
