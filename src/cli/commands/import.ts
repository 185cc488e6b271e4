import { stat } from 'node:fs/promises';
import { Option } from 'commander';
import { leakOf } from '../../core/dialogue/leak';
import { ifThere } from '../../core/trajectory/files';
import { importTrajectories, repliers, type ImportResult, type Replier } from '../../core/trajectory/import';
import type { Merged } from '../../core/trajectory/log';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { withLog } from '../resources';
import { dataOption } from '../play';
import { startCount } from '../terminal';

interface Options {
  readonly data: string;
  readonly samePerson?: readonly string[];
  readonly repliesBy?: Replier;
}

export const installImport: Install = (program, perform) => {
  program
    .command('import')
    .description(
      'add the dialogues of another data folder, or published trajectory rows, to the log; importing twice adds nothing',
    )
    .argument('<from>', 'a data folder, or a file of JSON lines {task, dialogue_history, answer, reward}')
    .addOption(dataOption())
    .option(
      '--same-person <pseudonym...>',
      'pseudonyms that mean the same person in both data folders; any other that both have becomes, for example, "anna (2)"',
    )
    .addOption(
      new Option(
        '--replies-by <who>',
        'who wrote the replies in rows that do not say it: a simulator, as in the published file, or people, whose words stay on this machine (default: a simulator in rows with neither tandem nor messages, else people)',
      ).choices(repliers),
    )
    .action((from: string, options: Options) =>
      perform(async (to) => {
        const isFolder = (await ifThere(() => stat(from)))?.isDirectory() === true;
        if (isFolder && options.repliesBy !== undefined)
          throw wrongUse('--replies-by is for a file of rows: a data folder says who wrote what.');
        if (!isFolder && options.samePerson !== undefined)
          throw wrongUse(
            '--same-person is for a data folder: people in rows are always others than those here.',
          );
        return isFolder ? importFolder(from, options, to) : importFile(from, options, to);
      }),
    );
};

async function importFolder(
  from: string,
  { data, samePerson = [] }: Options,
  { signal }: CliContext,
): Promise<CommandResult> {
  return withLog(data, signal, async (log) => {
    const merged = await log.merge(from, { signal, samePeople: samePerson });
    return {
      summary: { data, ...merged },
      print: () =>
        [
          `${merged.imported} trajectories imported from ${from} into ${data}.`,
          ...deletedWords(merged.deleted, data),
          ...changeWords(merged, data),
        ].join('\n'),
    };
  });
}

/** Only the editor has a command that shows deleted dialogues again. */
function deletedWords(deleted: number, data: string): string[] {
  if (deleted === 0) return [];
  return [
    deleted === 1
      ? `1 was deleted in that folder and is hidden in ${data} too; “Restore Deleted Dialogues…” in the editor shows it again.`
      : `${deleted} were deleted in that folder and are hidden in ${data} too; “Restore Deleted Dialogues…” in the editor shows them again.`,
  ];
}

function changeWords({ renamed, lowered, leftOut, limitedTimes, different }: Merged, data: string): string[] {
  const kinds = Object.entries(leftOut).map(([kind, count]) => `${count} ${kind}`);
  return [
    ...renamed.map(
      ({ from, to }) =>
        `${from} of that folder is “${to}” in ${data}, where ${from} is, or may become, another person; if they are one who agreed in both, import again with --same-person.`,
    ),
    ...lowered.map(
      ({ pseudonym, from, to }) =>
        `The consent of ${pseudonym} counts as “${to}” in ${data}, not “${from}”: the lower of those here and there does, and one that may have been withdrawn is local.`,
    ),
    ...(kinds.length === 0
      ? []
      : [
          `Lines left out, because they are about dialogues of ${data} itself, about none that is here, or not readable: ${kinds.join(', ')}.`,
        ]),
    ...(limitedTimes === 0
      ? []
      : [`Lines with a time in the future, which got that of the import: ${limitedTimes}.`]),
    ...different.map(
      (name) =>
        `${name} stays as it is in ${data}, because it is another one in that folder: what was erased from it does not come back.`,
    ),
  ];
}

async function importFile(
  file: string,
  { data, repliesBy }: Options,
  { signal }: CliContext,
): Promise<CommandResult> {
  const count = startCount('import', 'rows');
  return withLog(data, signal, async (log) => {
    const { imported, alreadyThere, people, unnamed, bad } = await importTrajectories(log, file, {
      signal,
      leakOf,
      ...(repliesBy && { repliesBy }),
      onProgress: ({ rows }) => count(rows),
    });
    return {
      summary: { data, imported, alreadyThere, people, unnamed, badLines: bad },
      print: () =>
        [
          `${imported} trajectories imported into ${data}; ${alreadyThere} were there already.`,
          ...people.map(
            ({ from, to }) =>
              `${from} of these rows is “${to}” in ${data}; what ${from} wrote stays on this machine.`,
          ),
          ...(repliesBy === undefined ? unnamedWords(unnamed) : []),
          ...bad.map((problem) => `${problem.file}:${problem.line}: ${problem.reason}`),
        ].join('\n'),
      failed: bad.length > 0,
    };
  });
}

const unnamedWords = ({ simulator, people }: ImportResult['unnamed']): string[] => [
  ...(simulator > 0
    ? [
        `${simulator} do not say who wrote the replies and count as a simulator's, as in the published file: if people wrote them, delete these dialogues and import the file with --replies-by people.`,
      ]
    : []),
  ...(people > 0
    ? [
        `${people} do not say who wrote the replies, so they count as people's and stay on this machine: if a simulator wrote them, delete these dialogues and import the file with --replies-by simulator.`,
      ]
    : []),
];
