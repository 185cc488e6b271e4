import path from 'node:path';
import { PackAssignment, partsFor } from '../../core/dialogue/packAssignment';
import { SharedTaskIds, TaskProgress } from '../../core/dialogue/taskProgress';
import { loadTasks, packsBeside } from '../../core/task/pack';
import { listIn } from '../../core/text';
import { assigning } from '../../core/trajectory/assignments';
import { MAX_PLAYERS } from '../../core/trajectory/event';
import { wholeNumber, wrongUse, type CliContext, type CommandResult, type Install } from '../command';
import { withLog } from '../resources';
import { dataOption } from '../play';
import { table } from '../terminal';

interface Options {
  readonly data: string;
  readonly to?: string;
  readonly perTask: number;
  readonly nobody?: boolean;
}

export const installAssign: Install = (program, perform) => {
  program
    .command('assign')
    .description('assign the tasks of a pack to people, or show each person’s progress')
    .argument('<file>', 'the pack; the log knows it by its file name')
    .addOption(dataOption())
    .option(
      '--to <people>',
      'pseudonyms with commas between them, in any order: the same people get the same tasks again, others new parts',
    )
    .option('--per-task <n>', 'how many of them play each task', wholeNumber('--per-task', 1), 1)
    .option('--nobody', 'assign it to no one; what was played stays')
    .action((file: string, options: Options) => perform((to) => assign(file, options, to)));
};

async function assign(file: string, options: Options, { signal }: CliContext): Promise<CommandResult> {
  const { data } = options;
  const people = peopleIn(options);
  const { tasks } = await loadTasks(file, { signal });
  const pack = path.basename(file);
  return withLog(data, signal, async (log) => {
    const played = log.valuesOf('pack').map(({ value }) => value);
    // Dialogues from a pack that is gone or was renamed count, as they do in the editor.
    const packs = [{ file, tasks }, ...(await packsBeside(file, played, { signal }))];
    const shared = new SharedTaskIds(packs, () => data);
    if (people !== undefined) {
      const parts = partsFor(pack, people, options.perTask, log.assigned.get(pack));
      await log.appendAll(assigning(pack, parts), { durable: true });
    }
    const [first, ...others] = log.assigned.get(pack) ?? [];
    const progress = new TaskProgress();
    progress.read(log);
    const assignment =
      first &&
      new PackAssignment(tasks, [first, ...others], (task) =>
        progress.states(task, ({ pack: from }) => shared.counts(from, { log: data, pack: file, task })),
      );
    const rows = assignment?.people.map((person) => ({ person, ...assignment.progressOf(person) })) ?? [];
    return {
      rows,
      summary: {
        ...{ data, pack, tasks: tasks.length },
        ...(assignment && { perTask: assignment.perTask, ...assignment.progress }),
      },
      print: () => (assignment === undefined ? `${pack} is assigned to no one.` : inWords(assignment)),
    };
  });
}

/** None for `--nobody`; undefined when nothing is to be changed. */
function peopleIn({ to, perTask, nobody }: Options): string[] | undefined {
  if (nobody === true) {
    if (to !== undefined) throw wrongUse('--to and --nobody contradict each other; give one of them.');
    return [];
  }
  if (to === undefined) return undefined;
  const people = [...new Set(listIn(to, ','))];
  if (people.length === 0) throw wrongUse('--to names no one; --nobody takes an assignment back.');
  if (people.length > MAX_PLAYERS) throw wrongUse(`--to names more than ${MAX_PLAYERS} people.`);
  if (perTask > people.length)
    throw wrongUse(`--per-task ${perTask} takes as many people, and --to names ${people.length}.`);
  return people;
}

function inWords(assignment: PackAssignment<{ readonly id: string }>): string {
  const { people, perTask, progress } = assignment;
  return [
    table([
      ['person', 'done', 'of'],
      ...people.map((person) => {
        const { done, of } = assignment.progressOf(person);
        return [person, String(done), String(of)];
      }),
      ['all', String(progress.done), String(progress.of)],
    ]),
    perTask === 1 ? 'Each task is for 1 person.' : `Each task is for ${perTask} people.`,
  ].join('\n');
}
