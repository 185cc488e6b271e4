import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { sentencesId, helpCommand } from '../../webview/ui/protocol';
import { Fault } from '../core/fault';
import type { PageName } from './contributions';

const { t } = vscode.l10n;

/** VS Code gives up on a file of a page after 30 seconds, and leaves the page blank. */
export const LOADED_WITHIN_MS = 60_000;

export interface ErrorSink {
  show(error: unknown): void;
  report(error: unknown): void;
}

export interface PanelLook {
  readonly name: PageName;
  /** Name of an icon of the product's set, or files of our own. */
  readonly icon: string | { readonly light: vscode.Uri; readonly dark: vscode.Uri };
  readonly extension: vscode.Uri;
  readonly errors: ErrorSink;
  /** What `action` of the page's messages may be. */
  readonly actions?: readonly string[];
}

/**
 * Loads the page of a panel, also one that is loaded, because each text of a page has other nonces. It reads only files
 * that were built for the views, and its links may run one command, which opens help.
 */
export function loadPage(panel: vscode.WebviewPanel, { name, icon, extension }: PanelLook): void {
  const files = vscode.Uri.joinPath(extension, 'dist', 'webview');
  panel.iconPath = typeof icon === 'string' ? new vscode.ThemeIcon(icon) : icon;
  panel.webview.options = {
    enableScripts: true,
    enableCommandUris: [helpCommand],
    localResourceRoots: [files],
  };
  panel.webview.html = pageHtml(panel.webview, files, name);
}

export function notLoaded({ name }: PanelLook, milliseconds: number): Fault {
  const sentence = `The page “${name}” has not loaded within ${milliseconds / 1000} seconds. It is loaded again; if it stays empty, close other programs or reload the window.`;
  return new Fault('editor/page-not-loaded', sentence);
}

const titles: Readonly<Record<PageName, string>> = {
  session: t('Tandem dialogue'),
  replay: t('Tandem replay'),
  statistics: t('Tandem statistics'),
  judging: t('Tandem: judge'),
  people: t('Tandem: people'),
  simulator: t('Tandem: people and simulator'),
  run: t('Tandem run'),
  runs: t('Tandem: runs'),
  curves: t('Tandem: learning curves'),
  newRun: t('Tandem: new run'),
  teaching: t('Tandem: teach the agent'),
  comparison: t('Tandem comparison'),
};

const drawsPages: ReadonlySet<PageName> = new Set(['session', 'replay', 'judging']);

/**
 * Frames have the policy of the page around them. A cleaned web page brings its pictures along, and has style attributes,
 * which bear no nonce; its style elements get the view's.
 */
const pagePolicy = [`style-src-attr 'unsafe-inline'`, 'img-src data:'];

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
    ...(drawsPages.has(name) ? pagePolicy : []),
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

/** Returns the language of Tandem's texts: English without a translation, whatever the language of the editor. */
export const language = (): string => (vscode.l10n.bundle === undefined ? 'en' : vscode.env.language);
