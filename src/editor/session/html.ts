import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The page of the session's view: its script and style sheet, and nothing from anywhere else. */
export function sessionHtml(webview: vscode.Webview, folder: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(folder, 'session.js')).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(folder, 'session.css')).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="stylesheet" href="${style}" />
    <title>Tandem session</title>
  </head>
  <body>
    <tandem-session></tandem-session>
    <script type="module" nonce="${nonce}" src="${script}"></script>
  </body>
</html>`;
}
