import type { Install, CommandResult, CliContext } from '../command';
import { inFlight } from '../../core/concurrency';
import { startProgress, table } from '../terminal';
import { checkPack, readTasks, type PackCheck } from '../../core/task/pack';
import { checkPage } from '../../core/page/checks';
import { isOfPage } from '../../core/page/outline';
import { isProgram, type PageTask } from '../../core/task/task';
import { openGrader, openPages } from '../resources';

interface Options {
  readonly references?: boolean;
}

interface Finding {
  readonly file: string;
  readonly task: string;
  readonly reasons: readonly string[];
}

interface ReferenceCheck {
  /** One reason for each test on which the reference yields nothing to compare. */
  readonly bad: readonly Finding[];
  /** Some wrong answers pass these tests. */
  readonly weak: readonly Finding[];
}

export const installTasks: Install = (program, perform) => {
  program
    .command('tasks')
    .description('check and count packs (JSON lines in ColBench’s format)')
    .argument('<file...>', 'packs')
    .option(
      '--references',
      'also run every reference on its own tests or checks, and say which tests are weak',
    )
    .action((files: string[], options: Options) => perform((to) => checkPacks(files, options, to)));
};

async function checkPacks(
  files: readonly string[],
  options: Options,
  to: CliContext,
): Promise<CommandResult> {
  const packs: PackCheck[] = [];
  for (const file of files) packs.push(await checkPack(file, { signal: to.signal }));
  const bad = packs.flatMap((pack) => pack.bad);
  const sum = (count: (pack: PackCheck) => number): number => packs.reduce((total, p) => total + count(p), 0);
  const tasks = sum((pack) => pack.tasks);
  const references =
    options.references === true ? await checkReferences(files, tasks, to) : { bad: [], weak: [] };
  return {
    rows: packs,
    summary: {
      tasks,
      tests: sum((pack) => pack.tests),
      pages: sum((pack) => pack.pages),
      withFacts: sum((pack) => pack.withFacts),
      badLines: bad.length,
      ...(options.references === true ? { badReferences: references.bad, weakTests: references.weak } : {}),
    },
    print: () => inWords(packs, references),
    failed: bad.length > 0 || references.bad.length > 0,
  };
}

/** The grader queues references that it cannot run yet. */
const IN_FLIGHT = 16;

async function checkReferences(
  files: readonly string[],
  total: number,
  to: CliContext,
): Promise<ReferenceCheck> {
  const { signal } = to;
  const grader = await openGrader(to);
  const { sheet } = openPages(to);
  const progress = startProgress('references', 'tasks');
  const bad: Finding[] = [];
  const weak: Finding[] = [];
  let done = 0;
  try {
    for (const file of files) {
      await inFlight(readTasks(file, { signal }), IN_FLIGHT, async (read) => {
        if (!('task' in read)) return;
        const { task } = read;
        const reasons = isProgram(task)
          ? await grader.checkReference(task, { signal })
          : failedChecks(task, sheet);
        if (reasons.length > 0) bad.push({ file, task: task.id, reasons });
        const weaknesses = isProgram(task) ? await grader.weakTests(task, { signal }) : [];
        if (weaknesses.length > 0) weak.push({ file, task: task.id, reasons: weaknesses });
        progress.update(++done, total);
      });
    }
  } finally {
    progress.end();
    await grader.close();
  }
  return { bad, weak };
}

/** Checks that the wanted page itself fails, and faults for which it cannot be drawn; without a browser. */
function failedChecks({ reference, checks = [] }: PageTask, sheet: string): string[] {
  try {
    return checkPage(reference, checks, sheet)
      .filter(({ passed }) => !passed)
      .map(({ check }) => `the wanted page fails its check of the ${check.name} (${check.property}).`);
  } catch (error) {
    if (isOfPage(error)) return [error.message];
    throw error;
  }
}

function inWords(packs: readonly PackCheck[], { bad, weak }: ReferenceCheck): string {
  const rows = packs.map((pack) => [
    pack.file,
    ...[pack.tasks, pack.tests, pack.withFacts, pack.pages, pack.bad.length].map(String),
  ]);
  return [
    table([['pack', 'tasks', 'tests', 'with facts', 'web pages', 'bad lines'], ...rows]),
    ...packs.flatMap((pack) => pack.bad.map(({ file, line, reason }) => `${file}:${line}: ${reason}`)),
    ...bad.map(
      ({ file, task, reasons: [first, ...others] }) =>
        `${file}: reference of task ${task}: ${first}${others.length === 0 ? '' : ` (and ${others.length} more)`}`,
    ),
    ...weak.flatMap(({ file, task, reasons }) =>
      reasons.map((reason) => `${file}: tests of task ${task}: ${reason}`),
    ),
  ].join('\n');
}
