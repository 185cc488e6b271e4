import { measureLeak } from '../../core/dialogue/leak';
import { importTrajectories } from '../../core/trajectory/import';
import type { Install, CommandResult, CliContext } from '../command';
import { openLog } from '../log';
import { dataOption } from '../play';
import { startCount } from '../terminal';

export const installImport: Install = (program, perform) => {
  program
    .command('import')
    .description('add published trajectory rows to the log; importing twice adds nothing')
    .argument('<file>', 'JSON lines {task, dialogue_history, answer, reward}')
    .addOption(dataOption())
    .action((file: string, options: { data: string }) => perform((to) => importFile(file, options.data, to)));
};

async function importFile(file: string, data: string, { signal }: CliContext): Promise<CommandResult> {
  const log = await openLog(data);
  const count = startCount('import', 'rows');
  try {
    const { imported, alreadyThere, bad } = await importTrajectories(log, file, {
      signal,
      measureLeak,
      onProgress: ({ rows }) => count(rows),
    });
    return {
      summary: { data, imported, alreadyThere, badLines: bad },
      print: () =>
        [
          `${imported} trajectories imported into ${data}; ${alreadyThere} were there already.`,
          ...bad.map((problem) => `${problem.file}:${problem.line}: ${problem.reason}`),
        ].join('\n'),
      failed: bad.length > 0,
    };
  } finally {
    await log.close();
  }
}
