import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../core/fault';
import { lazily } from '../core/lazily';
import type { PageFile } from '../../webview/ui/protocol';
import type { Engine } from './engine';

const { t } = vscode.l10n;

const MAX_CHARS = 100;

const kinds: Readonly<
  Record<
    PageFile['kind'],
    { readonly title: string; readonly filter: string; readonly encoding: BufferEncoding }
  >
> = {
  csv: { title: t('Save as CSV'), filter: t('CSV table'), encoding: 'utf8' },
  png: { title: t('Save as PNG'), filter: t('PNG picture'), encoding: 'base64' },
};

/** Every PNG begins with this in base64: its signature and its first chunk. */
const PNG = 'iVBORw0KGgoAAAANSUhEUg';

/** A page shows texts of others, so what it wants written is checked. */
const fileSchema = lazily((): z.ZodType<PageFile> =>
  z
    .object({ name: z.string(), kind: z.enum(['csv', 'png']), content: z.string() })
    .refine(({ kind, content }) => kind === 'csv' || content.startsWith(PNG)),
);

export async function saveOfPage(
  file: PageFile,
  { configuration }: Pick<Engine, 'configuration'>,
): Promise<void> {
  if (!fileSchema().safeParse(file).success)
    throw new Fault('editor/page-message', t('The page has made no table or picture that can be saved.'));
  const { name, kind, content } = file;
  const { title, filter, encoding } = kinds[kind];
  const folder = configuration.folder?.uri;
  const target = await vscode.window.showSaveDialog({
    title,
    filters: { [filter]: [kind] },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${fileName(name)}.${kind}`) }),
  });
  if (target === undefined) return;
  try {
    await vscode.workspace.fs.writeFile(target, Buffer.from(content, encoding));
  } catch (cause) {
    const sentence = t(
      '{0} was not saved. Check whether the folder is there and may be written to, or choose another one.',
      target.fsPath,
    );
    throw new Fault('editor/not-saved', sentence, { cause });
  }
  const open = t('Open the File');
  const chosen = await vscode.window.showInformationMessage(
    t('{0} is saved.', path.basename(target.fsPath)),
    open,
  );
  if (chosen === open) await vscode.commands.executeCommand('vscode.open', target);
}

/** Asks for the place of a report, then offers to show it. @param write gets the chosen file */
export async function saveReport(
  {
    title,
    name,
    said,
  }: { readonly title: string; readonly name: string; readonly said: (file: string) => string },
  { configuration }: Pick<Engine, 'configuration'>,
  write: (file: string) => Promise<void>,
): Promise<void> {
  const folder = configuration.folder?.uri;
  const target = await vscode.window.showSaveDialog({
    title,
    saveLabel: t('Write'),
    filters: { Markdown: ['md'] },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${name}.md`) }),
  });
  if (target === undefined) return;
  await write(target.fsPath);
  const open = t('Open the Report');
  const chosen = await vscode.window.showInformationMessage(said(path.basename(target.fsPath)), open);
  if (chosen === open) await vscode.commands.executeCommand('markdown.showPreview', target);
}

/** Returns a proposed name as one of a file on every system: `first-try-Loss-of-critic`. */
const fileName = (name: string): string =>
  name
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join('-')
    .slice(0, MAX_CHARS) || 'tandem';
