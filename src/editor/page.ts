import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { sentencesId } from '../../webview/language/protocol';
import type { PageName } from './contributions';
import { language } from './language';

const { t } = vscode.l10n;

const titles: Readonly<Record<PageName, string>> = {
  session: t('Tandem session'),
  replay: t('Tandem replay'),
  statistics: t('Tandem statistics'),
  judging: t('Tandem: judge'),
  people: t('Tandem: people'),
  run: t('Tandem run'),
  runs: t('Tandem: runs'),
  newRun: t('Tandem: new run'),
  teaching: t('Tandem: teach the agent'),
  comparison: t('Tandem comparison'),
};

/** The files of a view are `<name>.js` and `<name>.css` in `folder`, its element is `tandem-<name>`. */
export function pageHtml(webview: vscode.Webview, folder: vscode.Uri, name: PageName): string {
  const scriptNonce = nonce();
  // The component toolkit reads this nonce from the page for the style elements that it makes.
  const styleNonce = nonce();
  const script = webview.asWebviewUri(vscode.Uri.joinPath(folder, `${name}.js`)).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(folder, `${name}.css`)).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${scriptNonce}'`,
    `style-src ${webview.cspSource} 'nonce-${styleNonce}'`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  const { bundle } = vscode.l10n;
  return `<!DOCTYPE html>
<html lang="${language()}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta property="csp-nonce" content="${styleNonce}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="stylesheet" href="${style}" />
    <title>${titles[name]}</title>
  </head>
  <body>
    <tandem-${name}></tandem-${name}>
    ${bundle === undefined ? '' : pageData(sentencesId, bundle)}
    <script type="module" nonce="${scriptNonce}" src="${script}"></script>
  </body>
</html>`;
}

const nonce = (): string => randomBytes(16).toString('base64url');

/** Without a `<`, nothing in the data can end the element. The browser does not run it, whatever the page's policy. */
function pageData(id: string, data: unknown): string {
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
  return `<script type="application/json" id="${id}">${json}</script>`;
}
