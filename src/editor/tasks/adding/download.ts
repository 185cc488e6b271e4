import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../../core/fault';
import type { Downloaded, DownloadOptions } from '../../../core/task/download';
import { DOWNLOADS, type HubFiles } from '../../../core/task/downloads';
import { cacheFolder } from '../../../core/training/environment/cache';
import { chooseFolder, type PackAdder } from './addPack';
import { grouped } from '../../../core/text';
import { bytesWords } from '../../words';
import { pickOne, valueOf } from '../../inputSteps';

const { t } = vscode.l10n;

interface Choice extends vscode.QuickPickItem {
  readonly source: HubFiles;
}

/** Downloads a published file of tasks, or CLIP, once its licence was read and accepted. Packs are listed. */
export class PackDownload {
  constructor(
    private readonly adder: PackAdder,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  async ask(): Promise<void> {
    const given = await pickOne({
      title: t('Download Published Tasks'),
      placeholder: t('Nothing is downloaded until you accept its license.'),
      items: choices(),
    });
    const choice = valueOf(given);
    if (choice === undefined) return;
    const { source } = choice;
    const folder = source.isShared === true ? cacheFolder() : (await chooseFolder())?.uri.fsPath;
    if (folder === undefined) return;
    const { checkPack } = await import('../../../core/task/pack');
    for (const { file, commit } of await this.download(source, folder)) {
      if (commit !== undefined) this.output.info(`${file} is that of the dataset's commit ${commit}.`);
      if (source.isShared === true)
        void vscode.window.showInformationMessage(
          t('CLIP is here. It scores web pages while the setting tandem.grading.mode is paper.'),
        );
      else await this.adder.tell(await checkPack(file));
    }
  }

  private async download(source: HubFiles, folder: string): Promise<Downloaded[]> {
    const stop = new AbortController();
    try {
      return await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          title: source.files.map((file) => path.basename(file)).join(', '),
          cancellable: true,
        },
        async (progress, token) => {
          token.onCancellationRequested(() => stop.abort());
          // The hub's client is large, and nothing else uses it.
          const { download } = await import('../../../core/task/download');
          return download(source, {
            folder: path.join(folder, source.folder),
            signal: stop.signal,
            hubUrl: process.env.HF_ENDPOINT,
            accessToken: process.env.HF_TOKEN,
            acceptLicence: (notice) => accept(notice, source),
            onProgress: reportTo(
              progress,
              source.rows === undefined ? (bytes) => bytesWords(bytes, t) : grouped,
            ),
            onNotice: (sentence) => this.output.info(sentence),
          });
        },
      );
    } catch (error) {
      if (error instanceof Fault && error.code === 'task/licence-declined') return [];
      if (!stop.signal.aborted) throw error;
      void vscode.window.showInformationMessage(t('Download stopped. The next one continues from there.'));
      return [];
    }
  }
}

function choices(): Choice[] {
  return [
    {
      label: t('ColBench, tasks for training'),
      detail: t('10,000 backend tasks, for collecting dialogues and training'),
      source: DOWNLOADS.train,
    },
    {
      label: t('ColBench, tasks for evaluation'),
      detail: t('1,000 held-out backend tasks; never train on them'),
      source: DOWNLOADS.test,
    },
    {
      label: t('ColBench, web pages for training'),
      detail: t('10,000 pages of WebSight; a browser of this machine draws them'),
      source: DOWNLOADS['frontend-train'],
    },
    {
      label: t('ColBench, web pages for evaluation'),
      detail: t('10,000 held-out pages of WebSight; never train on them'),
      source: DOWNLOADS['frontend-test'],
    },
    {
      label: t('CLIP, for the published measure of web pages'),
      detail: t('352 MB, once for all folders; only the grading mode paper needs it'),
      source: DOWNLOADS.clip,
    },
  ];
}

/** The question holds the whole notice, and the licences can be opened before the answer. */
async function accept(notice: string, { licences }: HubFiles): Promise<boolean> {
  const agree = t('Accept and Download');
  const read = t('Open the Licenses');
  for (;;) {
    const chosen = await vscode.window.showInformationMessage(
      t('Do you accept the license of this data?'),
      { modal: true, detail: notice },
      agree,
      read,
    );
    if (chosen !== read) return chosen === agree;
    for (const { url } of licences) await vscode.env.openExternal(vscode.Uri.parse(url, true));
  }
}

function reportTo(
  progress: vscode.Progress<{ message?: string; increment?: number }>,
  amount: (received: number) => string,
): NonNullable<DownloadOptions['onProgress']> {
  let before = 0;
  return ({ received, total }) => {
    const percent = total === 0 ? 100 : Math.floor((100 * received) / total);
    if (percent === before && received < total) return;
    progress.report({
      message: t('{0} of {1}', amount(received), amount(total)),
      increment: percent - before,
    });
    before = percent;
  };
}
