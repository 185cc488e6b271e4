import * as vscode from 'vscode';
import { pageHtml, type PageName } from './page';
import { readMessage, type PageMessages } from './pageMessages';

/** Of a panel whose page is read: the editor's own find works in it. */
export const searchable: vscode.WebviewPanelOptions = { enableFindWidget: true };

export interface PageOptions<Name extends PageName> {
  readonly name: Name;
  /** Takes what the page says. */
  readonly receive: (message: PageMessages[Name]) => unknown;
  /** Takes what is thrown meanwhile. */
  readonly failed: (error: unknown) => void;
  /** Keeps in the output channel what nothing is done with. */
  readonly report: (error: unknown) => void;
  /** The page has said something that nothing is done with. @param kind of the message, where it has one */
  readonly onRefused?: (kind: string | undefined) => void;
}

/** Puts a page into a panel: its scripts run, its files are those that were built for the views, nothing else is read. */
export function showPage<Name extends PageName>(
  panel: vscode.WebviewPanel,
  extension: vscode.Uri,
  page: PageOptions<Name>,
): void {
  const folder = vscode.Uri.joinPath(extension, 'dist', 'webview');
  panel.webview.options = { enableScripts: true, localResourceRoots: [folder] };
  panel.webview.onDidReceiveMessage(listener(page));
  panel.webview.html = pageHtml(panel.webview, folder, page.name);
}

/** The one place where the host hears a page: a panel gets no message that is not right. */
function listener<Name extends PageName>({
  name,
  receive,
  failed,
  report,
  onRefused,
}: PageOptions<Name>): (said: unknown) => Promise<void> {
  // A page that says something wrong all the time does not fill the output channel.
  const noted = new Set<string>();
  return async (said) => {
    const read = readMessage(name, said);
    try {
      if ('message' in read) {
        await receive(read.message);
        return;
      }
      const { kind, fault } = read;
      if (!noted.has(fault.message)) report(fault);
      noted.add(fault.message);
      onRefused?.(kind);
    } catch (error) {
      failed(error);
    }
  };
}

export interface PanelPageOptions<Name extends PageName> extends PageOptions<Name> {
  /** Of the product's icon set. */
  readonly icon: string;
  /** The page is in sight again. */
  readonly onShown?: () => void;
  readonly onClosed: () => void;
}

/** A panel whose page is told something only while it is there: a hidden one is gone, and says `ready` when it is back. */
export class PanelPage<Name extends PageName, To> {
  private isReady = false;
  private isClosed = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    extension: vscode.Uri,
    { icon, onShown, onClosed, ...page }: PanelPageOptions<Name>,
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
    showPage(panel, extension, {
      ...page,
      receive: (message) => {
        if (message.type === 'ready') this.isReady = true;
        return page.receive(message);
      },
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
