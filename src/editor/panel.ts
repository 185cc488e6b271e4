import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { Fault } from '../core/fault';
import { sentencesId } from '../../webview/language/protocol';
import { helpCommand } from '../../webview/ui/protocol';
import { type PageName, panelTypes } from './contributions';

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

/** Returns the language of Tandem's texts: English without a translation, whatever the language of the editor. */
export const language = (): string => (vscode.l10n.bundle === undefined ? 'en' : vscode.env.language);

/** What a page may ask: the answer to each kind of its messages. */
export type Asks<From extends { readonly type: string }> = {
  readonly [Kind in From['type']]: (message: Extract<From, { readonly type: Kind }>) => unknown;
};

/**
 * A page and its two calls: `asks`, what the page may ask, and `post`, what it is to show. It shows texts of others, so it
 * reaches nothing else. The page of a hidden panel is gone; seen again, it asks `ready`.
 */
export abstract class Panel<From extends { readonly type: string }, To> {
  /** The page has said `ready`; what is posted before is lost. */
  isListening = false;
  wasClosed = false;
  private loading: NodeJS.Timeout | undefined;
  private readonly owned: { dispose(): unknown }[] = [];

  constructor(
    protected readonly panel: vscode.WebviewPanel,
    private readonly look: PanelLook,
  ) {
    panel.webview.onDidReceiveMessage((said: From) => this.hear(said));
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.onShown?.();
      else this.isListening = false;
      this.awaitPage();
    });
    panel.onDidDispose(() => {
      this.wasClosed = true;
      this.isListening = false;
      vscode.Disposable.from(...this.owned).dispose();
      this.onClosed?.();
    });
    loadPage(panel, look);
    this.awaitPage();
  }

  abstract get asks(): Asks<From>;

  protected onShown?(): void;
  protected onClosed?(): void;
  protected onAsked?(): void;

  /** A closed panel counts as hidden, because VS Code throws when it is asked for its visibility. */
  get isInSight(): boolean {
    return !this.wasClosed && this.panel.visible;
  }

  reveal(preserveFocus = false): void {
    this.panel.reveal(undefined, preserveFocus);
  }

  dispose(): void {
    this.panel.dispose();
  }

  protected owns(...things: readonly { dispose(): unknown }[]): void {
    this.owned.push(...things);
  }

  protected set title(title: string) {
    if (!this.wasClosed) this.panel.title = title;
  }

  protected async post(message: To): Promise<void> {
    if (!this.wasClosed) await this.panel.webview.postMessage(message);
  }

  private async hear(said: From & { readonly action?: unknown }): Promise<void> {
    const { name, errors, actions = [] } = this.look;
    const isAction = said.action === undefined || actions.some((one) => one === said.action);
    try {
      if (!isAction || !Object.hasOwn(this.asks, said.type)) {
        errors.report(new Fault('editor/page-message', `The page “${name}” asked for what it may not.`));
        return;
      }
      if (said.type === 'ready') this.isListening = true;
      this.onAsked?.();
      await this.asks[said.type as From['type']](said as never);
    } catch (error) {
      errors.show(error);
    }
  }

  /** Loads a page in sight again, with doubled patience each time, until it says `ready`. */
  private awaitPage(patience = LOADED_WITHIN_MS): void {
    clearTimeout(this.loading);
    if (this.isListening || !this.isInSight) return;
    this.loading = setTimeout(() => {
      if (this.isListening || this.wasClosed) return;
      this.look.errors.report(notLoaded(this.look, patience));
      loadPage(this.panel, this.look);
      this.awaitPage(2 * patience);
    }, patience);
  }
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
  private readonly opened = new Map<Shown, vscode.WebviewPanel>();
  private readonly serializer: vscode.Disposable;

  constructor(private readonly kind: PanelKind<Thing, Shown>) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes[kind.name], this);
  }

  get all(): readonly Shown[] {
    return [...this.opened.keys()];
  }

  /** The panel that has the focus, or had it last of all editors. */
  get active(): Shown | undefined {
    return this.all.find((shown) => this.opened.get(shown)?.active);
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
    for (const panel of this.opened.values()) panel.dispose();
    this.serializer.dispose();
  }

  private adopt(panel: vscode.WebviewPanel, thing: Thing, make: MakePanel<Thing, Shown>): Shown {
    const shown = make(panel, thing);
    this.opened.set(shown, panel);
    panel.onDidDispose(() => {
      this.opened.delete(shown);
      this.kind.onClosed?.(shown);
    });
    this.kind.onOpened?.(shown);
    return shown;
  }
}

/** A kind with at most one panel. */
export const onePanel = <Shown extends Revealed>(
  name: PageName,
  errors: ErrorSink,
  make: (panel: vscode.WebviewPanel) => Shown,
): Panels<'one', Shown> =>
  new Panels({ name, errors, shows: () => true, restore: () => 'one' as const, load: () => make });
