import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../../core/fault';
import type { Downloaded } from '../../../core/task/download';
import { DOWNLOADS, type HubFiles } from '../../../core/task/downloads';
import { cacheFolder } from '../../../core/training/environment/cache';
import { chooseFolder, type PackAdder } from './addPack';
import { grouped } from '../../../core/text';
import { cancellable } from '../../progress';
import { bytesWords } from '../../words';
import { inform, pickOne, valueOf } from '../../inputSteps';

const { t } = vscode.l10n;

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
    const source = valueOf(given)?.source;
    if (source === undefined) return;
    const folder = source.isShared === true ? cacheFolder() : (await chooseFolder())?.uri.fsPath;
    if (folder === undefined) return;
    const { checkPack } = await import('../../../core/task/pack');
    for (const { file, commit } of await this.download(source, folder)) {
      if (commit !== undefined) this.output.info(`${file} is that of the dataset's commit ${commit}.`);
      if (source.isShared === true)
        inform(t('CLIP is here. It scores web pages while the setting tandem.grading.mode is paper.'));
      else await this.adder.tell(await checkPack(file));
    }
  }

  private async download(source: HubFiles, folder: string): Promise<Downloaded[]> {
    const title = source.files.map((file) => path.basename(file)).join(', ');
    const amount = source.rows === undefined ? (bytes: number) => bytesWords(bytes, t) : grouped;
    let shown = -1;
    try {
      const files = await cancellable(title, async (signal, report) => {
        // The hub's client is large, and nothing else uses it.
        const { download } = await import('../../../core/task/download');
        return download(source, {
          folder: path.join(folder, source.folder),
          signal,
          hubUrl: process.env.HF_ENDPOINT,
          accessToken: process.env.HF_TOKEN,
          acceptLicence: (notice) => accept(notice, source),
          onProgress: ({ received, total }) => {
            const percent = total === 0 ? 100 : Math.floor((100 * received) / total);
            if (percent !== shown) report(t('{0} of {1}', amount(received), amount(total)), percent / 100);
            shown = percent;
          },
          onNotice: (sentence) => this.output.info(sentence),
        });
      });
      if (files !== undefined) return files;
      inform(t('Download stopped. The next one continues from there.'));
      return [];
    } catch (error) {
      if (error instanceof Fault && error.code === 'task/licence-declined') return [];
      throw error;
    }
  }
}

function choices(): (vscode.QuickPickItem & { readonly source: HubFiles })[] {
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
