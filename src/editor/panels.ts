import * as vscode from 'vscode';
import { type PageName, panelTypes } from './contributions';
import type { ErrorSink } from './pageHtml';

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
