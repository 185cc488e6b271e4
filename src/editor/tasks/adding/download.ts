import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../../core/fault';
import type { Downloaded, DownloadOptions, PublishedFile } from '../../../core/task/download';
import type { LicenceNotice } from '../../../core/task/licence';
import { chooseFolder, type PackAdder } from './add';
import { pickOne, valueOf } from '../../steps';

const { t } = vscode.l10n;

/** Folder of the published files, as the command line names it. */
const FOLDER = 'colbench';

interface Choice extends vscode.QuickPickItem {
  readonly file: PublishedFile;
}

/** Downloads a published file of tasks, once its licence was read and accepted, and lists it. */
export class PackDownload {
  constructor(
    private readonly adder: PackAdder,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  async ask(): Promise<void> {
    const folder = await chooseFolder();
    if (folder === undefined) return;
    const given = await pickOne({
      title: t('Download a Published Pack'),
      placeholder: t('Nothing is fetched before you have read and accepted its licence.'),
      items: choices(),
    });
    const choice = valueOf(given);
    if (choice === undefined) return;
    const downloaded = await this.download(choice.file, path.join(folder.uri.fsPath, FOLDER));
    if (downloaded === undefined) return;
    const { file, commit } = downloaded;
    if (commit !== undefined) this.output.info(`${file} is that of the dataset's commit ${commit}.`);
    const { checkPack } = await import('../../../core/task/pack');
    await this.adder.tell(await checkPack(file));
  }

  /** @returns undefined when the person did not accept the licence, or cancelled the download */
  private async download(file: PublishedFile, folder: string): Promise<Downloaded | undefined> {
    const stop = new AbortController();
    try {
      return await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: path.basename(file), cancellable: true },
        async (progress, token) => {
          token.onCancellationRequested(() => stop.abort());
          // The hub's client is large, and nothing else uses it.
          const { downloadPublished } = await import('../../../core/task/download');
          return downloadPublished(file, {
            folder,
            signal: stop.signal,
            hubUrl: process.env.HF_ENDPOINT,
            accessToken: process.env.HF_TOKEN,
            acceptLicence: accept,
            onProgress: reportTo(progress),
            onNotice: (sentence) => this.output.info(sentence),
          });
        },
      );
    } catch (error) {
      if (error instanceof Fault && error.code === 'task/licence-declined') return undefined;
      if (!stop.signal.aborted) throw error;
      void vscode.window.showInformationMessage(
        t('The download was stopped. What has arrived is kept; the next download goes on from there.'),
      );
      return undefined;
    }
  }
}

function choices(): Choice[] {
  return [
    {
      label: t('ColBench, tasks for training'),
      detail: t('10,000 backend tasks, for collecting dialogues and training'),
      file: 'backend_tasks/train.jsonl',
    },
    {
      label: t('ColBench, tasks for evaluation'),
      detail: t('1,000 held-out backend tasks; never train on them'),
      file: 'backend_tasks/test.jsonl',
    },
  ];
}

/**
 * Asks for acceptance of the licence. The question holds the whole notice, and the licences can be opened before the
 * answer.
 */
async function accept(notice: LicenceNotice): Promise<boolean> {
  const agree = t('Accept and Download');
  const read = t('Open the Licences');
  for (;;) {
    const chosen = await vscode.window.showInformationMessage(
      t('Do you accept the licence of this data?'),
      { modal: true, detail: notice.text },
      agree,
      read,
    );
    if (chosen !== read) return chosen === agree;
    for (const { url } of notice.terms) await vscode.env.openExternal(vscode.Uri.parse(url, true));
  }
}

function reportTo(
  progress: vscode.Progress<{ message?: string; increment?: number }>,
): NonNullable<DownloadOptions['onProgress']> {
  let before = 0;
  return ({ received, total }) => {
    const percent = total === 0 ? 100 : Math.floor((100 * received) / total);
    if (percent === before && received < total) return;
    progress.report({
      message: t('{0} of {1} MB', megabytes(received), megabytes(total)),
      increment: percent - before,
    });
    before = percent;
  };
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
