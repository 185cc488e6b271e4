import { type Install, type CommandResult, type CliContext, wholeNumber, refuseToReplace } from '../command';
import { inFlight } from '../../core/concurrency';
import { Progress, table } from '../terminal';
import { checkPack, readTasks, type PackCheck } from '../../core/task/pack';
import { checkPage } from '../../core/page/checks';
import { isOfPage } from '../../core/page/outline';
import { isProgram, type PageTask } from '../../core/task/task';
import { openGrader, openPages, Opened } from '../resources';
import { Option } from 'commander';
import { writeStarterPack, type StarterPack } from '../../core/task/starter/worlds';
import { DIFFICULTIES, SPLITS } from '../../core/task/starter/world';
import { WORLDS, type World } from '../../core/task/starter/splits';

interface TasksOptions {
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
    .action(perform(checkPacks));
};

async function checkPacks(
  files: readonly string[],
  options: TasksOptions,
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
    print: () => checkInWords(packs, references),
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
  await using opened = new Opened();
  const grader = opened.add(await openGrader(to));
  const { sheet } = openPages(to);
  using progress = new Progress('references', 'tasks');
  const bad: Finding[] = [];
  const weak: Finding[] = [];
  let done = 0;
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

function checkInWords(packs: readonly PackCheck[], { bad, weak }: ReferenceCheck): string {
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

interface WorldOptions extends Omit<StarterPack, 'world'> {
  readonly kind: World;
  readonly overwrite?: boolean;
}

export const installWorld: Install = (program, perform) => {
  program
    .command('world')
    .description(
      'write tasks of the starter world: small functions or web pages whose decisions only the collaborator knows, or figures to find by twenty questions',
    )
    .argument('<out>', 'the file to write, JSON lines')
    .addOption(new Option('--kind <kind>', 'what the tasks ask for').choices(WORLDS).default('functions'))
    .requiredOption('--tasks <n>', 'the number of tasks', wholeNumber('--tasks', 1))
    .addOption(
      new Option('--split <split>', 'tasks of different splits share no structure, and no figure')
        .choices(SPLITS)
        .default('train'),
    )
    .option(
      '--seed <s>',
      'seed of the generator; another seed draws other tasks of the split',
      wholeNumber('--seed'),
      0,
    )
    .addOption(
      new Option(
        '--difficulty <difficulty>',
        'how much there is to find out, and how much the request hints at',
      )
        .choices(Object.keys(DIFFICULTIES))
        .default('standard'),
    )
    .option('--overwrite', 'replace a file of that name')
    .action(perform(writeWorld));
};

async function writeWorld(
  out: string,
  { overwrite, kind, tasks, split, seed, difficulty }: WorldOptions,
  { signal }: CliContext,
): Promise<CommandResult> {
  refuseToReplace(out, overwrite);
  await writeStarterPack(out, { world: kind, tasks, split, seed, difficulty }, signal);
  return {
    summary: { file: out, kind, tasks, split, seed, difficulty },
    print: () => `Wrote ${tasks} tasks (${kind}, ${split}, ${difficulty}, seed ${seed}) to ${out}.`,
  };
}
