import * as vscode from 'vscode';
import { RunReader, type RunRecord } from '../../core/experiment/experiment';
import type { Run, Runs } from '../../core/training/runs';
import type { Action, Choice, FromWebview, ToWebview } from '../../../webview/comparison/protocol';
import { language } from '../language';
import { pageHtml } from '../page';
import { restrictionOf } from '../trust/restricted';
import { comparisonView, curvesView } from './view';

const { t } = vscode.l10n;

export interface ComparisonOwner {
  act(action: Action, panel: ComparisonPanel): void;
  open(run: Run): void;
  report(error: unknown): void;
  onDidDispose(panel: ComparisonPanel): void;
}

/** The webview panel that compares some runs. It reads their folders, as every other window does. */
export class ComparisonPanel {
  private readonly readers: readonly RunReader[];
  private records: readonly RunRecord[] = [];
  private choice: Choice = {};
  /** What the view has, as far as it can be told whether there is more. */
  private sent: { view?: string; curves?: string } = {};
  private progress = '';
  private isReady = false;
  private isDisposed = false;
  private telling: Promise<void> | undefined;
  private isAskedAgain = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    readonly runs: Runs,
    readonly ids: readonly string[],
    private readonly owner: ComparisonOwner,
    extension: vscode.Uri,
  ) {
    this.readers = ids.map((id) => new RunReader(runs, id));
    const folder = vscode.Uri.joinPath(extension, 'dist', 'webview');
    panel.iconPath = new vscode.ThemeIcon('graph-line');
    panel.webview.options = { enableScripts: true, localResourceRoots: [folder] };
    panel.webview.onDidReceiveMessage((message: FromWebview) => this.receive(message));
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.tell();
      // A hidden view is gone; it says that it is ready when it is back.
      else this.isReady = false;
    });
    panel.onDidDispose(() => this.closed());
    panel.webview.html = pageHtml(panel.webview, folder, 'comparison');
  }

  /** The runs as they were when they were last looked at; those that are gone are not among them. */
  get shown(): readonly Run[] {
    return this.records.map(({ run }) => run);
  }

  /** How far an evaluation is; empty when none is played. */
  get playing(): string {
    return this.progress;
  }

  set playing(progress: string) {
    this.progress = progress;
    void this.send();
  }

  reveal(): void {
    this.panel.reveal();
  }

  dispose(): void {
    this.panel.dispose();
  }

  /** Looks at the folders now, and tells the view what is new. */
  tell(): void {
    if (this.isDisposed) return;
    this.isAskedAgain = this.telling !== undefined;
    this.telling ??= this.tellOnce()
      .catch((error: unknown) => this.owner.report(error))
      .finally(() => {
        this.telling = undefined;
        if (this.isAskedAgain) this.tell();
      });
  }

  private closed(): void {
    this.isDisposed = true;
    for (const reader of this.readers) void reader.close();
    this.owner.onDidDispose(this);
  }

  private receive(message: FromWebview): void {
    switch (message.type) {
      case 'act':
        this.owner.act(message.action, this);
        break;
      case 'open': {
        const run = this.shown[message.run];
        if (run !== undefined) this.owner.open(run);
        break;
      }
      case 'ready':
        this.isReady = true;
        this.sent = {};
        this.choice = message.choice;
        this.tell();
        break;
      case 'choose':
        this.choice = message.choice;
        void this.send();
    }
  }

  private async tellOnce(): Promise<void> {
    const records = await Promise.all(this.readers.map((reader) => reader.read()));
    this.records = records.filter((record) => record !== undefined);
    if (this.records.length === 0) this.panel.dispose();
    else await this.send();
  }

  private async send(): Promise<void> {
    const { records, choice, sent } = this;
    if (records.length === 0 || this.isDisposed || !this.isReady) return;
    this.panel.title = t('Comparison of {0} runs', records.length);
    const view = comparisonView(records, choice, {
      ...{ t, language: language(), dataFolder: this.runs.dataFolder, playing: this.progress },
      restriction: restrictionOf(t('Nothing is played')) ?? '',
    });
    await this.post('view', view, sent);
    await this.post('curves', curvesView(records, choice), sent);
  }

  private async post(
    which: 'view' | 'curves',
    message: ToWebview,
    sent: ComparisonPanel['sent'],
  ): Promise<void> {
    const text = JSON.stringify(message);
    if (text === sent[which]) return;
    sent[which] = text;
    await this.panel.webview.postMessage(message);
  }
}
