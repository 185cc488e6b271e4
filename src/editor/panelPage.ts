import * as vscode from 'vscode';
import { pageHtml, type PageName } from './page';

/** Of a panel whose page is read: the editor's own find works in it. */
export const searchable: vscode.WebviewPanelOptions = { enableFindWidget: true };

/**
 * Puts a page into a panel: its scripts run, its files are those that were built for the views, nothing else is read.
 * @param receive what the page says
 */
export function showPage(
  panel: vscode.WebviewPanel,
  extension: vscode.Uri,
  name: PageName,
  receive: Parameters<vscode.Webview['onDidReceiveMessage']>[0],
): void {
  const folder = vscode.Uri.joinPath(extension, 'dist', 'webview');
  panel.webview.options = { enableScripts: true, localResourceRoots: [folder] };
  panel.webview.onDidReceiveMessage(receive);
  panel.webview.html = pageHtml(panel.webview, folder, name);
}

export interface PageOptions<From> {
  readonly name: PageName;
  /** Of the product's icon set. */
  readonly icon: string;
  readonly receive: (message: From) => void;
  /** The page is in sight again. */
  readonly onShown?: () => void;
  readonly onClosed: () => void;
}

/** A panel whose page is told something only while it is there: a hidden one is gone, and says `ready` when it is back. */
export class PanelPage<From extends { readonly type: string }, To> {
  private isReady = false;
  private isClosed = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    extension: vscode.Uri,
    { name, icon, receive, onShown, onClosed }: PageOptions<From>,
  ) {
    panel.iconPath = new vscode.ThemeIcon(icon);
    panel.onDidChangeViewState(() => {
      if (panel.visible) onShown?.();
      else this.isReady = false;
    });
    panel.onDidDispose(() => {
      this.isClosed = true;
      this.isReady = false;
      onClosed();
    });
    showPage(panel, extension, name, (message: From) => {
      if (message.type === 'ready') this.isReady = true;
      receive(message);
    });
  }

  /** What is posted before is lost: it must not count as told. */
  get isListening(): boolean {
    return this.isReady;
  }

  /** Asking a closed panel whether it is visible throws. */
  get isInSight(): boolean {
    return !this.isClosed && this.panel.visible;
  }

  get wasClosed(): boolean {
    return this.isClosed;
  }

  set title(title: string) {
    this.panel.title = title;
  }

  async post(message: To): Promise<void> {
    if (this.isReady) await this.panel.webview.postMessage(message);
  }

  reveal(): void {
    this.panel.reveal();
  }

  dispose(): void {
    this.panel.dispose();
  }
}
