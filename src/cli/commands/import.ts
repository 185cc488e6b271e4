import { stat } from 'node:fs/promises';
import { measureLeak } from '../../core/dialogue/leak';
import { ifThere } from '../../core/trajectory/files';
import { importTrajectories } from '../../core/trajectory/import';
import type { Install, CommandResult, CliContext } from '../command';
import { withLog } from '../resources';
import { dataOption } from '../play';
import { startCount } from '../terminal';

export const installImport: Install = (program, perform) => {
  program
    .command('import')
    .description(
      'add the dialogues of another data folder, or published trajectory rows, to the log; importing twice adds nothing',
    )
    .argument('<from>', 'a data folder, or a file of JSON lines {task, dialogue_history, answer, reward}')
    .addOption(dataOption())
    .action((from: string, options: { data: string }) =>
      perform(async (to) => {
        const isFolder = (await ifThere(() => stat(from)))?.isDirectory() === true;
        return isFolder ? importFolder(from, options.data, to) : importFile(from, options.data, to);
      }),
    );
};

async function importFolder(from: string, data: string, { signal }: CliContext): Promise<CommandResult> {
  return withLog(data, signal, async (log) => {
    const { imported, deleted, different, ...segments } = await log.merge(from, signal);
    return {
      summary: { data, imported, deleted, ...segments, different },
      print: () =>
        [
          `${imported} trajectories imported from ${from} into ${data}.`,
          ...deletedWords(deleted, data),
          ...different.map(
            (name) => `${name} stays as it is in ${data}: what was erased from it does not come back.`,
          ),
        ].join('\n'),
    };
  });
}

/** Only the editor has a command that shows deleted dialogues again. */
function deletedWords(deleted: number, data: string): string[] {
  if (deleted === 0) return [];
  return [
    deleted === 1
      ? `1 was deleted in that folder and is hidden in ${data} too; “Restore Deleted Trajectories…” in the editor shows it again.`
      : `${deleted} were deleted in that folder and are hidden in ${data} too; “Restore Deleted Trajectories…” in the editor shows them again.`,
  ];
}

async function importFile(file: string, data: string, { signal }: CliContext): Promise<CommandResult> {
  const count = startCount('import', 'rows');
  return withLog(data, signal, async (log) => {
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
  });
}
