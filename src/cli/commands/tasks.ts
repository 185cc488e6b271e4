import type { Install, Outcome, Surroundings } from '../command';
import { table } from '../terminal';
import { checkPack, readTasks, type PackCheck } from '../../core/task/pack';
import { openGrader } from '../grader';

interface Options {
  readonly references?: boolean;
}

interface BadReference {
  readonly file: string;
  readonly task: string;
  readonly reason: string;
}

export const installTasks: Install = (program, perform) => {
  program
    .command('tasks')
    .description('check and count packs (JSON lines in ColBench form)')
    .argument('<file...>', 'packs')
    .option('--references', 'also run every reference on its own tests')
    .action((files: string[], options: Options) => perform((to) => checkPacks(files, options, to)));
};

async function checkPacks(files: readonly string[], options: Options, to: Surroundings): Promise<Outcome> {
  const packs: PackCheck[] = [];
  for (const file of files) packs.push(await checkPack(file, { signal: to.signal }));
  const references = options.references === true ? await checkReferences(files, to) : [];
  const bad = packs.flatMap((pack) => pack.bad);
  const sum = (count: (pack: PackCheck) => number): number => packs.reduce((total, p) => total + count(p), 0);
  return {
    rows: packs,
    summary: {
      tasks: sum((pack) => pack.tasks),
      tests: sum((pack) => pack.tests),
      withFacts: sum((pack) => pack.withFacts),
      badLines: bad.length,
      ...(options.references === true ? { badReferences: references } : {}),
    },
    print: () => inWords(packs, references),
    failed: bad.length > 0 || references.length > 0,
  };
}

async function checkReferences(
  files: readonly string[],
  { assets, signal }: Surroundings,
): Promise<BadReference[]> {
  const grader = await openGrader({ assets });
  const bad: BadReference[] = [];
  try {
    for (const file of files) {
      for await (const read of readTasks(file, { signal })) {
        if (!('task' in read)) continue;
        const failures = await grader.checkReference(read.task, { signal });
        for (const reason of failures) bad.push({ file, task: read.task.id, reason });
      }
    }
  } finally {
    await grader.close();
  }
  return bad;
}

function inWords(packs: readonly PackCheck[], references: readonly BadReference[]): string {
  const rows = packs.map((pack) => [
    pack.file,
    ...[pack.tasks, pack.tests, pack.withFacts, pack.bad.length].map(String),
  ]);
  return [
    table([['pack', 'tasks', 'tests', 'with facts', 'bad lines'], ...rows]),
    ...packs.flatMap((pack) => pack.bad.map(({ file, line, reason }) => `${file}:${line}: ${reason}`)),
    ...references.map(({ file, task, reason }) => `${file}: the reference of task ${task}: ${reason}`),
  ].join('\n');
}
