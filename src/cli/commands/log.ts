import { stat } from 'node:fs/promises';
import { Option } from 'commander';
import { leakOf } from '../../core/dialogue/leak';
import { ifThere } from '../../core/trajectory/files';
import { importFiles, repliers, type Replier } from '../../core/trajectory/import';
import type { Merged } from '../../core/trajectory/log';
import { SESSION_FORMATS } from '../../core/trajectory/sessions/formats';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { withLog } from '../resources';
import { dataOption } from '../play';
import { startCount } from '../terminal';
import { checkLog, type LogCheck, repairedFolder, repairLog, type Repair } from '../../core/trajectory/check';
import { doubtInWords } from '../../core/trajectory/export/selection';
import { eraseDeveloper } from '../../core/erasure/erase';

interface ImportOptions {
  readonly data: string;
  readonly samePerson?: readonly string[];
  readonly repliesBy?: Replier;
}

export const installImport: Install = (program, perform) => {
  program
    .command('import')
    .description(
      'add the dialogues of another data folder, published trajectory rows, or sessions that another program recorded, to the log; importing twice adds nothing',
    )
    .argument(
      '<from...>',
      `a data folder, or files: JSON lines {task, dialogue_history, answer, reward}, ${SESSION_FORMATS.map(({ is }) => is).join(', ')}; recognized by what is in them`,
    )
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
    .action(perform(importFrom));
};

async function importFrom(
  from: readonly string[],
  options: ImportOptions,
  to: CliContext,
): Promise<CommandResult> {
  const folders: string[] = [];
  for (const one of from) if ((await ifThere(() => stat(one)))?.isDirectory() === true) folders.push(one);
  const [folder] = folders;
  if (folder !== undefined && from.length > 1)
    throw wrongUse('A data folder is imported by itself; name one folder, or files.');
  const isFolder = folder !== undefined;
  if (isFolder && options.repliesBy !== undefined)
    throw wrongUse('--replies-by is for a file of rows: a data folder says who wrote what.');
  if (!isFolder && options.samePerson !== undefined)
    throw wrongUse('--same-person is for a data folder: people in rows are always others than those here.');
  return isFolder ? importFolder(folder, options, to) : importRowFiles(from, options, to);
}

async function importFolder(
  from: string,
  { data, samePerson = [] }: ImportOptions,
  { signal }: CliContext,
): Promise<CommandResult> {
  return withLog(data, signal, async (log) => {
    const merged = await log.merge(from, { signal, samePeople: samePerson });
    return {
      summary: { data, ...merged },
      print: () =>
        [
          `${merged.imported} trajectories imported from ${from} into ${data}.`,
          ...changeWords(merged, data),
        ].join('\n'),
    };
  });
}

function changeWords(
  { deleted, renamed, lowered, leftOut, limitedTimes, different }: Merged,
  data: string,
): string[] {
  const kinds = Object.entries(leftOut).map(([kind, count]) => `${count} ${kind}`);
  const words: string[] = [];
  if (deleted > 0)
    words.push(
      `Deleted in that folder, and hidden in ${data} too: ${deleted}. “Restore Deleted Dialogues…” in the editor shows them again.`,
    );
  for (const { from, to } of renamed)
    words.push(
      `${from} of that folder is “${to}” in ${data}, where ${from} is, or may become, another person; if they are one who agreed in both, import again with --same-person.`,
    );
  for (const { pseudonym, from, to } of lowered)
    words.push(
      `The consent of ${pseudonym} counts as “${to}” in ${data}, not “${from}”: the lower of those here and there does, and one that may have been withdrawn is local.`,
    );
  if (kinds.length > 0)
    words.push(
      `Lines left out, because they are about dialogues of ${data} itself, about none that is here, or not readable: ${kinds.join(', ')}.`,
    );
  if (limitedTimes > 0)
    words.push(`Lines with a time in the future, which got that of the import: ${limitedTimes}.`);
  for (const name of different)
    words.push(
      `${name} stays as it is in ${data}, because it is another one in that folder: what was erased from it does not come back.`,
    );
  return words;
}

async function importRowFiles(
  files: readonly string[],
  { data, repliesBy }: ImportOptions,
  { signal }: CliContext,
): Promise<CommandResult> {
  const count = startCount('import', 'rows');
  return withLog(data, signal, async (log) => {
    const { imported, alreadyThere, people, unnamed, cut, bad } = await importFiles(log, files, {
      signal,
      leakOf,
      repliesBy,
      onProgress: ({ rows }) => count(rows),
    });
    return {
      summary: { data, imported, alreadyThere, people, unnamed, cut, badLines: bad },
      print: () =>
        [
          `${imported} trajectories imported into ${data}; ${alreadyThere} were there already.`,
          ...people.map(
            ({ from, to }) =>
              `${from} of these rows is “${to}” in ${data}; what ${from} wrote stays on this machine.`,
          ),
          ...repliers.flatMap((who) =>
            repliesBy === undefined && unnamed[who] > 0 ? [`${unnamed[who]} ${UNNAMED[who]}`] : [],
          ),
          ...(cut > 0 ? [`${cut} ${CUT}`] : []),
          ...bad.map((problem) => `${problem.file}:${problem.line}: ${problem.reason}`),
        ].join('\n'),
      failed: bad.length > 0,
    };
  });
}

const CUT =
  'texts were cut or left out of sessions: too long, of subagents, of ways that the user went back on, or no messages.';

const UNNAMED: Readonly<Record<Replier, string>> = {
  simulator:
    "do not say who wrote the replies and count as a simulator's, as in the published file: if people wrote them, delete these dialogues and import the file with --replies-by people.",
  people:
    "do not say who wrote the replies, so they count as people's and stay on this machine: if a simulator wrote them, delete these dialogues and import the file with --replies-by simulator.",
};

export const installCheck: Install = (program, perform) => {
  program
    .command('check')
    .description(
      'read the log of a data folder and say what is wrong with it; changes nothing in that folder',
    )
    .argument('[data-folder]', 'the data folder with the log', '.tandem')
    .option('--repair', 'write what can be saved into <data-folder>-repaired, beside the old one')
    .option(
      '--accept-loss',
      'with --repair: keep dialogues that lost lines may have deleted or marked as leaked',
    )
    .action(perform(check));
};

interface CheckOptions {
  readonly repair?: boolean;
  readonly acceptLoss?: boolean;
}

async function check(
  folder: string,
  { repair = false, acceptLoss = false }: CheckOptions,
  { signal }: CliContext,
): Promise<CommandResult> {
  if (acceptLoss && !repair)
    throw wrongUse('--accept-loss says what a repaired log is to hold: add --repair, or leave it out.');
  const found = await checkLog(folder, signal);
  const { problems, ...summary } = found;
  const { damaged, losses } = summary;
  const isDamaged = problems.length > 0 || damaged.length > 0 || Object.keys(losses).length > 0;
  const repaired = repair && isDamaged ? await repairLog(folder, found, acceptLoss) : undefined;
  return {
    rows: problems,
    summary: { data: folder, ...summary, repaired: repaired ?? null },
    print: () => [...checkInWords(folder, found), ...nextStep(folder, isDamaged, repaired)].join('\n'),
    failed: repaired === undefined && (isDamaged || summary.remarks.length > 0),
  };
}

function checkInWords(
  folder: string,
  { segments, lines, episodes, problems, damaged, doubtful, losses, remarks }: LogCheck,
): string[] {
  return [
    `The log of ${folder} has ${count(episodes, 'dialogue')} in ${count(lines, 'line')} of ${count(segments, 'file')}.`,
    ...problems.map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
    ...damaged.map(
      ({ episode, reason }) => `Dialogue ${episode} is left out of exports and training: ${reason}`,
    ),
    ...Object.entries(losses).map(
      ([file, at]) =>
        `${file}: lines written until ${at} were lost; what they said is unknown. A consent from before then may have been withdrawn, and counts as local.`,
    ),
    ...(doubtful.length === 0 ? [] : [doubtInWords(doubtful.length, '--with-doubtful')]),
    ...remarks,
  ];
}

function nextStep(folder: string, isDamaged: boolean, repaired: Repair | undefined): string[] {
  if (!isDamaged) return ['Every line of the log is as it was written.'];
  if (repaired === undefined)
    return [
      `Add --repair to write what can be saved into ${repairedFolder(folder)}; ${folder} stays as it is.`,
    ];
  return [
    `${count(repaired.saved, 'event')} saved into ${repaired.folder}, ${count(repaired.lost, 'line')} lost. ${folder} is as it was.`,
    `To go on with what was saved, close Tandem, move ${folder}/log to another place, and put ${repaired.folder}/log there.`,
  ];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

interface EraseOptions {
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
    .action(perform(erase));
};

async function erase(
  pseudonym: string,
  { data, yes }: EraseOptions,
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
