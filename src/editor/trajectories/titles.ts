import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Packs } from '../packs';
import { isProgram } from '../../core/task/task';
import { taskTitle } from '../../core/task/title';

export interface KnownTask {
  readonly title: string;
  /** Undefined for a page, which has none; 0 for a developer's own function. */
  readonly tests: number | undefined;
}

/** Titles of the tasks of dialogues: from a pack of this workspace, else from the log. */
export class TaskTitles {
  private ofLog = new Map<string, KnownTask>();
  private log: TrajectoryLog | undefined;

  constructor(private readonly packs: Packs) {}

  /** Only tasks that no pack here has are read from the log. @param dialogues one of each task, by the task's id */
  async of(
    log: TrajectoryLog,
    dialogues: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, KnownTask>> {
    if (this.log !== log) this.ofLog = new Map();
    this.log = log;
    const packs = await this.packs.all();
    const known = new Map<string, KnownTask>(
      packs.flatMap((pack) => pack.tasks.map((task) => [task.id, task] as const)),
    );
    const missing = [...dialogues].filter(([task]) => !known.has(task) && !this.ofLog.has(task));
    for await (const { task } of log.trajectories(missing.map(([, id]) => id))) {
      this.ofLog.set(task.id, {
        title: taskTitle(task),
        tests: isProgram(task) ? task.testCases.length : undefined,
      });
    }
    for (const [id, task] of this.ofLog) if (!known.has(id)) known.set(id, task);
    return known;
  }

  async ofAll(log: TrajectoryLog): Promise<ReadonlyMap<string, KnownTask>> {
    const known = await this.of(log, new Map());
    // To find a dialogue of each task takes long, and is needed only for tasks that were not read yet.
    const areKnown = log.namesOf('task').every((task) => known.has(task));
    return areKnown ? known : this.of(log, log.oneOfEachTask());
  }
}
