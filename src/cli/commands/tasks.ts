import type { Install, CommandResult, CliContext } from '../command';
import { inFlight } from '../../core/concurrency';
import { startProgress, table } from '../terminal';
import { checkPack, readPrograms, type PackCheck } from '../../core/task/pack';
import { openGrader } from '../resources';

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
    .option('--references', 'also run every reference on its own tests, and say which tests are weak')
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
  { assets, signal }: CliContext,
): Promise<ReferenceCheck> {
  const grader = await openGrader({ assets });
  const progress = startProgress('references', 'tasks');
  const bad: Finding[] = [];
  const weak: Finding[] = [];
  let done = 0;
  try {
    for (const file of files) {
      await inFlight(readPrograms(file, { signal }), IN_FLIGHT, async (read) => {
        if (!('task' in read)) return;
        const reasons = await grader.checkReference(read.task, { signal });
        if (reasons.length > 0) bad.push({ file, task: read.task.id, reasons });
        const weaknesses = await grader.weakTests(read.task, { signal });
        if (weaknesses.length > 0) weak.push({ file, task: read.task.id, reasons: weaknesses });
        progress.update(++done, total);
      });
    }
  } finally {
    progress.end();
    await grader.close();
  }
  return { bad, weak };
}

function inWords(packs: readonly PackCheck[], { bad, weak }: ReferenceCheck): string {
  const rows = packs.map((pack) => [
    pack.file,
    ...[pack.tasks, pack.tests, pack.withFacts, pack.bad.length].map(String),
  ]);
  return [
    table([['pack', 'tasks', 'tests', 'with facts', 'bad lines'], ...rows]),
    ...packs.flatMap((pack) => pack.bad.map(({ file, line, reason }) => `${file}:${line}: ${reason}`)),
    ...bad.map(
      ({ file, task, reasons: [first, ...others] }) =>
        `${file}: reference of task ${task}: ${first}${others.length === 0 ? '' : ` (and ${others.length} more tests)`}`,
    ),
    ...weak.flatMap(({ file, task, reasons }) =>
      reasons.map((reason) => `${file}: tests of task ${task}: ${reason}`),
    ),
  ].join('\n');
}
