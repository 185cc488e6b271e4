import * as vscode from 'vscode';
import { Fault } from '../core/fault';
import { LOADED_WITHIN_MS, loadPage, notLoaded, type PanelLook } from './pageHtml';

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
  /** As JSON, what `postView` has posted since the page said `ready`. */
  private posted = '';
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

  /** Posts what the page shows, unless it shows the same already. */
  protected async postView(view: To): Promise<void> {
    const text = JSON.stringify(view);
    if (text === this.posted || !this.isListening) return;
    this.posted = text;
    await this.post(view);
  }

  private async hear(said: From & { readonly action?: unknown }): Promise<void> {
    const { name, errors, actions = [] } = this.look;
    const isAction = said.action === undefined || actions.some((one) => one === said.action);
    try {
      if (!isAction || !Object.hasOwn(this.asks, said.type)) {
        errors.report(new Fault('editor/page-message', `The page “${name}” asked for what it may not.`));
        return;
      }
      if (said.type === 'ready') {
        this.isListening = true;
        this.posted = '';
      }
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
