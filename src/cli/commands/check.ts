import { checkLog, type LogCheck } from '../../core/trajectory/check/check';
import { repairedFolder, repairLog, type Repair } from '../../core/trajectory/check/repair';
import { doubtInWords } from '../../core/trajectory/export/selection';
import { wrongUse, type CliContext, type Install, type CommandResult } from '../command';

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
    .action((folder: string, options: Options) => perform((to) => check(folder, options, to)));
};

interface Options {
  readonly repair?: boolean;
  readonly acceptLoss?: boolean;
}

async function check(
  folder: string,
  { repair = false, acceptLoss = false }: Options,
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
    print: () => [...inWords(folder, found), ...nextStep(folder, isDamaged, repaired)].join('\n'),
    failed: repaired === undefined && (isDamaged || summary.remarks.length > 0),
  };
}

function inWords(
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
