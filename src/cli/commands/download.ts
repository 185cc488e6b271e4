import path from 'node:path';
import { Option } from 'commander';
import { DOWNLOADS, type HubFiles } from '../../core/task/downloads';
import { cacheFolder } from '../../core/training/environment/cache';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { confirmed, Progress, say } from '../terminal';

interface Options {
  readonly to?: string;
  readonly revision?: string;
  readonly acceptLicence?: boolean;
  readonly hub?: string;
}

const names = Object.entries(DOWNLOADS).map(([name, { about }]) => `${name} (${about})`);

export const installDownload: Install = (program, perform) => {
  program
    .command('download')
    .description('fetch published files from the Hugging Face Hub')
    .argument('<name>', names.join(', '))
    .option(
      '--to <folder>',
      'where the files go (default: colbench or websight here; clip in the cache of this user)',
    )
    .option(
      '--revision <name>',
      'a commit, tag or branch of the dataset (default: that of the folder, or the newest)',
    )
    .option('--accept-licence', 'accept the license that is shown, without being asked')
    .addOption(new Option('--hub <url>', 'another server that speaks the hub’s protocol'))
    .action(perform(fetchFiles));
};

async function fetchFiles(name: string, options: Options, { signal }: CliContext): Promise<CommandResult> {
  const source: HubFiles | undefined = Object.entries(DOWNLOADS).find(([key]) => key === name)?.[1];
  if (!source)
    throw wrongUse(`There is no "${name}" to download; choose ${Object.keys(DOWNLOADS).join(', ')}.`);
  // Imported here because the hub's client is large and no other command needs it.
  const { download } = await import('../../core/task/download');
  using progress = new Progress(name, source.rows ? 'rows' : 'MB');
  const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
  const downloaded = await download(source, {
    folder: options.to ?? (source.isShared ? path.join(cacheFolder(), source.folder) : source.folder),
    revision: options.revision,
    signal,
    hubUrl: options.hub,
    accessToken: process.env.HF_TOKEN,
    acceptLicence: (notice) => accept(notice, options.acceptLicence === true),
    onProgress: ({ received, total, bytes }) => {
      if (bytes === undefined) progress.update(megabytes(received), megabytes(total));
      else progress.update(received, total, `${megabytes(bytes)} MB fetched`);
    },
    onNotice: say,
  });
  const [first, ...more] = downloaded;
  return {
    summary: first && more.length === 0 ? first : { files: downloaded },
    print: () =>
      downloaded
        .map(({ file, bytes, commit, alreadyThere, verified }) => {
          const of = commit === undefined ? '' : `, commit ${commit}`;
          const checked = verified === 'sha256' ? ', SHA-256 as published' : '';
          return `${alreadyThere ? 'Already there' : 'Downloaded'}: ${file} (${megabytes(bytes)} MB${of}${checked})`;
        })
        .join('\n'),
  };
}

async function accept(notice: string, accepted: boolean): Promise<boolean> {
  say(`${notice}\n`);
  if (accepted) return true;
  if (!process.stdin.isTTY) {
    throw wrongUse('The license has to be accepted first; add --accept-licence when you have read it.');
  }
  return confirmed('Do you accept these terms?');
}
