import { checkLog, type LogCheck } from '../../core/trajectory/check/check';
import { repairedFolder, repairLog, type Repair } from '../../core/trajectory/check/repair';
import type { Install, Outcome } from '../command';

export const installCheck: Install = (program, perform) => {
  program
    .command('check')
    .description(
      'read the log of a data folder and say what is wrong with it; changes nothing in that folder',
    )
    .argument('[data-folder]', 'the data folder with the log', '.tandem')
    .option('--repair', 'write what can be saved into <data-folder>-repaired, beside the old one')
    .action((folder: string, { repair }: { repair?: boolean }) =>
      perform(() => check(folder, repair === true)),
    );
};

async function check(folder: string, repair: boolean): Promise<Outcome> {
  const found = await checkLog(folder);
  const { problems, damaged, remarks, ...counts } = found;
  const isDamaged = problems.length > 0 || damaged.length > 0;
  const repaired = repair && isDamaged ? await repairLog(folder, found) : undefined;
  return {
    rows: problems,
    summary: { data: folder, ...counts, damaged, remarks, repaired: repaired ?? null },
    print: () => [...inWords(folder, found), ...nextStep(folder, isDamaged, repaired)].join('\n'),
    failed: repaired === undefined && (isDamaged || remarks.length > 0),
  };
}

function inWords(
  folder: string,
  { segments, lines, episodes, problems, damaged, remarks }: LogCheck,
): string[] {
  return [
    `The log of ${folder} has ${count(episodes, 'dialogue')} in ${count(lines, 'line')} of ${count(segments, 'file')}.`,
    ...problems.map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
    ...damaged.map(
      ({ episode, reason }) => `Dialogue ${episode} is left out of exports and training: ${reason}`,
    ),
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
