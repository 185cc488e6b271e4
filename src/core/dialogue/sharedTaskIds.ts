import path from 'node:path';

interface Pack {
  readonly file: string;
  readonly tasks: readonly { readonly id: string }[];
}

/**
 * Packs that have a task of the same id: each gets the dialogues that were begun from it. The log has a pack's file
 * name, not its folder, so packs of one name in one log share the dialogues of such a task.
 */
export class SharedTaskIds {
  /** File names of the packs that share a task, by log, then by task. */
  private readonly names = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  constructor(packs: readonly Pack[], logOf: (file: string) => string) {
    for (const [log, some] of Map.groupBy(packs, ({ file }) => logOf(file)))
      this.names.set(log, shared(some));
  }

  /**
   * Whether a dialogue about a task counts for this pack. One from no pack, or from a pack that is gone or renamed,
   * counts for each pack that has the task.
   * @param from file name of the pack that it was begun from, as the log has it
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
  // Nearly every task is in one pack only, and needs no set.
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
