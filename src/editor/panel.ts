import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { Fault } from '../core/fault';
import { helpCommand } from '../../webview/ui/protocol';
import { panelTypes, type PageName } from './contributions';
import { pageListener, type ErrorSink, type PageMessages, type PageReceiver } from './pageMessages';
import { sentencesId } from '../../webview/language/protocol';
import { language } from './language';

/**
 * Milliseconds after which a page in sight that has not said `ready` is loaded again. The editor gives up on a file of a
 * page after 30 seconds without a word, as happens on a busy machine, and would leave the page blank for ever.
 */
const LOADED_WITHIN_MS = 60_000;

interface PanelLook<Name extends PageName> {
  readonly name: Name;
  /** Name of an icon of the product's set, or files of our own. */
  readonly icon: string | { readonly light: vscode.Uri; readonly dark: vscode.Uri };
  readonly extension: vscode.Uri;
  readonly errors: ErrorSink;
}

/**
 * A webview panel. Its page reads only files that were built for the views, and its links may run one command, which
 * opens help. The page of a hidden panel is gone; seen again, it starts over and says `ready`.
 */
export abstract class Panel<Name extends PageName, To> implements PageReceiver<Name> {
  isListening = false;
  private isClosed = false;
  private loading: NodeJS.Timeout | undefined;
  private readonly ownedUntilClosed: { dispose(): unknown }[] = [];

  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly look: PanelLook<Name>,
  ) {
    const { name, icon, extension, errors } = look;
    panel.iconPath = typeof icon === 'string' ? new vscode.ThemeIcon(icon) : icon;
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.onShown();
      else this.isListening = false;
      this.awaitPage();
    });
    panel.onDidDispose(() => {
      this.isClosed = true;
      this.isListening = false;
      clearTimeout(this.loading);
      vscode.Disposable.from(...this.ownedUntilClosed).dispose();
      this.onClosed();
    });
    panel.webview.options = {
      enableScripts: true,
      enableCommandUris: [helpCommand],
      localResourceRoots: [builtPages(extension)],
    };
    panel.webview.onDidReceiveMessage(pageListener(name, this, errors));
    this.load();
    this.awaitPage();
  }

  /** A closed panel counts as hidden, because VS Code throws when it is asked for its visibility. */
  get isInSight(): boolean {
    return !this.isClosed && this.panel.visible;
  }

  /** True when the panel has the focus, or had it last of all editors. */
  get isActive(): boolean {
    return !this.isClosed && this.panel.active;
  }

  get wasClosed(): boolean {
    return this.isClosed;
  }

  abstract receive(message: PageMessages[Name]): unknown;

  onMalformed(_kind: string | undefined): void {
    // The output channel has the fault already.
  }

  reveal(preserveFocus = false): void {
    this.panel.reveal(undefined, preserveFocus);
  }

  dispose(): void {
    this.panel.dispose();
  }

  protected onShown(): void {
    // Most pages ask for everything when they start.
  }

  protected onClosed(): void {
    // Most panels hold nothing but what they own.
  }

  protected owns(...things: readonly { dispose(): unknown }[]): void {
    this.ownedUntilClosed.push(...things);
  }

  protected set title(title: string) {
    if (!this.isClosed) this.panel.title = title;
  }

  protected async post(message: To): Promise<void> {
    if (!this.isClosed) await this.panel.webview.postMessage(message);
  }

  /** Loads the page, also one that is loaded, because each text of a page has other nonces. */
  private load(): void {
    const { webview } = this.panel;
    webview.html = pageHtml(webview, builtPages(this.look.extension), this.look.name);
  }

  /** Loads a page in sight again, with doubled patience each time, until it says `ready`. */
  private awaitPage(patience = LOADED_WITHIN_MS): void {
    clearTimeout(this.loading);
    if (this.isListening || !this.isInSight) return;
    this.loading = setTimeout(() => {
      if (this.isListening) return;
      const sentence = `The page “${this.look.name}” has not loaded within ${patience / 1000} seconds. It is loaded again; if it stays empty, close other programs or reload the window.`;
      this.look.errors.report(new Fault('editor/page-not-loaded', sentence));
      this.load();
      this.awaitPage(2 * patience);
    }, patience);
  }

  protected async showBeside(uri: vscode.Uri, preserveFocus = false): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    const where = { viewColumn: this.besideColumn, preserveFocus, preview: true };
    await vscode.window.showTextDocument(document, where);
  }

  /** Column to the right of the panel, which is not always the active one. */
  protected get besideColumn(): vscode.ViewColumn {
    const { One, Two, Three, Beside } = vscode.ViewColumn;
    const own = columnOf(this.panel);
    if (own === One) return Two;
    return own === Two ? Three : Beside;
  }
}

const builtPages = (extension: vscode.Uri): vscode.Uri => vscode.Uri.joinPath(extension, 'dist', 'webview');

/** Returns the column of a panel's tab, because a panel restored after a reload knows no column. */
function columnOf({ viewType, title, viewColumn }: vscode.WebviewPanel): vscode.ViewColumn {
  const group = vscode.window.tabGroups.all.find(({ tabs }) =>
    tabs.some(
      ({ input, label }) =>
        input instanceof vscode.TabInputWebview && input.viewType.endsWith(viewType) && label === title,
    ),
  );
  return group?.viewColumn ?? viewColumn ?? vscode.ViewColumn.One;
}

interface Revealed {
  reveal(preserveFocus?: boolean): void;
  dispose(): void;
}

interface PanelKind<Thing, Shown extends Revealed> {
  readonly name: PageName;
  /** True when the page is a form, in which the editor's own find does not work. */
  readonly isForm?: boolean;
  readonly errors: ErrorSink;
  readonly shows: (panel: Shown, thing: Thing) => boolean;
  /** @param kept by the page before a reload; it may be anything @returns undefined where the panel is to be closed */
  readonly restore: (kept: unknown) => Thing | undefined | Promise<Thing | undefined>;
  /** Loads the function that makes a panel. Its module is imported with the first panel. */
  readonly load: () => MakePanel<Thing, Shown> | Promise<MakePanel<Thing, Shown>>;
  readonly onOpened?: (panel: Shown) => void;
  readonly onRestored?: (panel: Shown) => void | Promise<void>;
  readonly onClosed?: (panel: Shown) => void;
}

type MakePanel<Thing, Shown> = (panel: vscode.WebviewPanel, thing: Thing) => Shown;

/** The open panels of a kind, one for each thing; they come back after a reload of the window. */
export class Panels<Thing, Shown extends Revealed>
  implements vscode.WebviewPanelSerializer, vscode.Disposable
{
  private readonly opened = new Set<Shown>();
  private readonly serializer: vscode.Disposable;

  constructor(private readonly kind: PanelKind<Thing, Shown>) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes[kind.name], this);
  }

  get all(): readonly Shown[] {
    return [...this.opened];
  }

  find(thing: Thing): Shown | undefined {
    return this.all.find((panel) => this.kind.shows(panel, thing));
  }

  async open(thing: Thing, viewColumn = vscode.ViewColumn.Active, preserveFocus = false): Promise<Shown> {
    const make = await this.kind.load();
    // From here on nothing is awaited, so that two requests get one panel.
    const there = this.find(thing);
    if (there !== undefined) {
      there.reveal(preserveFocus);
      return there;
    }
    const panel = vscode.window.createWebviewPanel(
      panelTypes[this.kind.name],
      '',
      { viewColumn, preserveFocus },
      { enableFindWidget: this.kind.isForm !== true },
    );
    return this.adopt(panel, thing, make);
  }

  /** Called by VS Code for each panel that was open before the reload. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, kept: unknown): Promise<void> {
    const closing = new AbortController();
    panel.onDidDispose(() => closing.abort());
    try {
      const thing = await this.kind.restore(kept);
      const make = await this.kind.load();
      // The person may have closed the panel meanwhile.
      if (closing.signal.aborted) return;
      if (thing === undefined) panel.dispose();
      else {
        const back = this.adopt(panel, thing, make);
        await this.kind.onRestored?.(back);
      }
    } catch (error) {
      panel.dispose();
      this.kind.errors.show(error);
    }
  }

  dispose(): void {
    for (const panel of this.opened) panel.dispose();
    this.serializer.dispose();
  }

  private adopt(panel: vscode.WebviewPanel, thing: Thing, make: MakePanel<Thing, Shown>): Shown {
    const shown = make(panel, thing);
    this.opened.add(shown);
    panel.onDidDispose(() => {
      this.opened.delete(shown);
      this.kind.onClosed?.(shown);
    });
    this.kind.onOpened?.(shown);
    return shown;
  }
}

/** Things that are being opened: a second request for the same thing, as by a double click, gets the same panel. */
export class Opening<T> {
  private readonly begun = new Map<string, Promise<T>>();

  once(key: string, open: () => Promise<T>): Promise<T> {
    const there = this.begun.get(key);
    if (there !== undefined) return there;
    const opening = open().finally(() => this.begun.delete(key));
    this.begun.set(key, opening);
    return opening;
  }
}

const { t } = vscode.l10n;

const titles: Readonly<Record<PageName, string>> = {
  session: t('Tandem dialogue'),
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
