import path from 'node:path';
import type { PackTask } from '../../core/dialogue/collect';
import { PackAssignment } from '../../core/dialogue/packAssignment';
import { SharedTaskIds, TaskProgress, type TaskState } from '../../core/dialogue/taskProgress';
import type { TrajectoryLog } from '../../core/trajectory/log';

interface SeatTaskState extends PackTask {
  readonly state: TaskState;
}

interface Pack {
  readonly file: string;
  readonly tasks: readonly PackTask[];
}

/** The tasks that are served, and how far each person is with them. */
export class SeatTasks {
  private readonly packs: readonly Pack[];
  private readonly shared: SharedTaskIds;
  private readonly progress = new TaskProgress();

  /** @param files the packs, in which each task has its pack's file name */
  constructor(
    private readonly log: TrajectoryLog,
    files: readonly string[],
    tasks: readonly PackTask[],
  ) {
    // Files of one name in two folders are one pack for the log.
    this.packs = [...new Map(files.map((file) => [path.basename(file), file]))].map(([name, file]) => ({
      file,
      tasks: tasks.filter(({ pack }) => pack === name),
    }));
    const ids = this.packs.map((pack) => ({ file: pack.file, tasks: pack.tasks.map(({ task }) => task) }));
    this.shared = new SharedTaskIds(ids, () => '');
  }

  get isAssigned(): boolean {
    const { assigned } = this.log;
    return this.packs.some(({ file }) => assigned.has(path.basename(file)));
  }

  /** The tasks of a person in order: of an assigned pack those dealt to them, of other packs all. */
  async of(person: string): Promise<SeatTaskState[]> {
    await this.log.refresh();
    this.progress.read(this.log);
    return this.packs.flatMap(({ file, tasks }) => {
      const counts =
        (task: string, isOwn: (player: string | undefined) => boolean) =>
        ({ pack, player }: { readonly pack?: string; readonly player?: string }): boolean =>
          isOwn(player) && this.shared.counts(pack, { log: '', pack: file, task });
      const [first, ...others] = this.log.assigned.get(path.basename(file)) ?? [];
      const dealt =
        first &&
        new PackAssignment(
          tasks.map(({ task }) => task),
          [first, ...others],
          (task) =>
            this.progress.states(
              task,
              counts(task, () => true),
            ),
        ).partOf(person);
      const ids = dealt && new Set(dealt.map(({ id }) => id));
      return tasks
        .filter(({ task }) => ids?.has(task.id) !== false)
        .map((one) => ({
          ...one,
          state: this.progress.state(
            one.task.id,
            counts(one.task.id, (player) => player === person),
          ),
        }));
    });
  }
}

/** A dialogue that was begun comes first, then what was never played or is to be redone. */
export function nextOf(tasks: readonly SeatTaskState[]): SeatTaskState | undefined {
  return (
    tasks.find(({ state }) => state.kind === 'draft') ??
    tasks.find(({ state }) => state.kind === 'new' || state.kind === 'redo')
  );
}
