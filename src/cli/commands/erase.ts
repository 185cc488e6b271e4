import { eraseDeveloper } from '../../core/erasure/erase';
import { wrongUse, type CliContext, type Install, type CommandResult } from '../command';
import { withLog } from '../resources';
import { dataOption } from '../play';

interface Options {
  readonly data: string;
  readonly yes?: boolean;
}

export const installErase: Install = (program, perform) => {
  program
    .command('erase')
    .description(
      'delete all data of one developer: dialogues, ratings, consent, and runs, exports, loops and scoreboards made with them; cannot be undone',
    )
    .argument('<pseudonym>', 'the name under which the developer played')
    .addOption(dataOption())
    .option('--yes', 'do it')
    .action((pseudonym: string, options: Options) => perform((to) => erase(pseudonym, options, to)));
};

async function erase(
  pseudonym: string,
  { data, yes }: Options,
  { signal }: CliContext,
): Promise<CommandResult> {
  if (yes !== true) {
    throw wrongUse(`This cannot be undone; add --yes to take the data of ${pseudonym} out of ${data}.`);
  }
  return withLog(data, signal, async (log) => {
    const { episodes, lines, runs, experiments, exports } = await eraseDeveloper(log, data, pseudonym);
    const imported = log.namesOf('collaborator').filter((name) => name.startsWith(`${pseudonym} (`));
    return {
      summary: { pseudonym, imported, data, episodes, lines, runs, experiments, exports },
      print: () =>
        [
          `${episodes} dialogues of ${pseudonym} (${lines} lines) are gone from ${data}.`,
          ...runs.map((run) => `The run ${run}, which was trained with them, is gone with its model.`),
          ...experiments.map(
            (name) => `What ${name} made with them is gone; the same command makes it again.`,
          ),
          ...exports.map((name) => `The export ${name} is gone.`),
          ...imported.map(
            (name) =>
              `“${name}” came with an import and stays: if that is the same person, erase that name, too.`,
          ),
          'Not reached: exports, models and copies of the log in other folders or on other machines, what was published, and tasks that they wrote into a pack. Delete those yourself.',
        ].join('\n'),
    };
  });
}
