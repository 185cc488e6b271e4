import { Option } from 'commander';
import type { PublishedFile } from '../../core/task/download';
import type { LicenceNotice } from '../../core/task/licence';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { confirmed, startProgress } from '../terminal';
import { say } from '../output';

const FILES = {
  train: 'backend_tasks/train.jsonl',
  test: 'backend_tasks/test.jsonl',
  offline: 'colbench_code_offline_15k_llama8b.jsonl',
} as const satisfies Record<string, PublishedFile>;

interface Options {
  readonly to: string;
  readonly revision?: string;
  readonly acceptLicence?: boolean;
  readonly hub?: string;
}

export const installDownload: Install = (program, perform) => {
  program
    .command('download')
    .description('fetch the published ColBench files: train and test tasks, offline trajectories')
    .argument('<file>', Object.keys(FILES).join(', '))
    .option('--to <folder>', 'where the file goes', 'colbench')
    .option(
      '--revision <name>',
      'a commit, tag or branch of the dataset (that of the folder, else the newest)',
    )
    .option('--accept-licence', 'accept the licence that is shown without being asked')
    .addOption(new Option('--hub <url>', 'another server that speaks the hub’s protocol'))
    .action((name: string, options: Options) => perform((to) => download(name, options, to)));
};

async function download(name: string, options: Options, { signal }: CliContext): Promise<CommandResult> {
  if (!isFile(name))
    throw wrongUse(`There is no "${name}" to download; choose ${Object.keys(FILES).join(', ')}.`);
  // Imported here because the hub's client is large and no other command needs it.
  const { downloadPublished } = await import('../../core/task/download');
  const progress = startProgress(name, 'MB');
  const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
  try {
    const { file, bytes, verified, commit, alreadyThere } = await downloadPublished(FILES[name], {
      folder: options.to,
      ...(options.revision !== undefined && { revision: options.revision }),
      signal,
      hubUrl: options.hub,
      accessToken: process.env.HF_TOKEN,
      acceptLicence: (notice) => accept(notice, options.acceptLicence === true),
      onProgress: ({ received, total }) => progress.update(megabytes(received), megabytes(total)),
      onNotice: say,
    });
    return {
      summary: { file, bytes, verified, commit, alreadyThere },
      print: () => {
        const of = commit === undefined ? '' : `, commit ${commit}`;
        return `${alreadyThere ? 'Already there' : 'Downloaded'}: ${file} (${megabytes(bytes)} MB${of})`;
      },
    };
  } finally {
    progress.end();
  }
}

async function accept(notice: LicenceNotice, accepted: boolean): Promise<boolean> {
  say(`${notice.text}\n`);
  if (accepted) return true;
  if (!process.stdin.isTTY) {
    throw wrongUse('The licence has to be accepted first; add --accept-licence when you have read it.');
  }
  return confirmed('Do you accept these terms?');
}

function isFile(name: string): name is keyof typeof FILES {
  return Object.hasOwn(FILES, name);
}
