import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { RunReader, type RunRecord } from '../../core/experiment/experiment';
import type { Run, Runs } from '../../core/training/runs';
import type { Action, Choice, FromWebview, ToWebview } from '../../../webview/comparison/protocol';
import type { Engine } from '../engine';
import { language } from '../language';
import { PanelPage } from '../panelPage';
import { runName } from '../runs/words';
import { restrictionOf } from '../trust/restricted';
import { comparisonView, curvesView, type ReadCurves } from './view';

const { t } = vscode.l10n;

export interface ComparisonOwner {
  /** The settings and names of the folder whose runs these are. */
  engineOf(panel: ComparisonPanel): Engine;
  act(action: Action, panel: ComparisonPanel): void;
  open(run: Run): void;
  report(error: unknown): void;
  onDidDispose(panel: ComparisonPanel): void;
}

/** The webview panel that compares some runs. It reads their folders, as every other window does. */
export class ComparisonPanel {
  private readonly readers: readonly RunReader[];
  private readonly page: PanelPage<'comparison', ToWebview>;
  private records: readonly RunRecord[] = [];
  private choice: Choice = {};
  /** What the view has, as far as it can be told whether there is more. */
  private sent: { view?: string; curves?: ReadCurves } = {};
  private progress = '';
  private telling: Promise<void> | undefined;
  private isAskedAgain = false;

  constructor(
    panel: vscode.WebviewPanel,
    readonly runs: Runs,
    readonly ids: readonly string[],
    private readonly owner: ComparisonOwner,
    extension: vscode.Uri,
  ) {
    this.readers = ids.map((id) => new RunReader(runs, id));
    this.page = new PanelPage<'comparison', ToWebview>(panel, extension, {
      ...{ name: 'comparison', icon: 'graph-line' },
      receive: (message) => this.receive(message),
      failed: (error) => owner.report(error),
      report: (error) => owner.report(error),
      onShown: () => this.tell(),
      onClosed: () => this.closed(),
    });
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
    this.page.reveal();
  }

  dispose(): void {
    this.page.dispose();
  }

  /** Looks at the folders now, and tells the view what is new. */
  tell(): void {
    if (this.page.wasClosed) return;
    this.isAskedAgain = this.telling !== undefined;
    this.telling ??= this.tellOnce()
      .catch((error: unknown) => this.owner.report(error))
      .finally(() => {
        this.telling = undefined;
        if (this.isAskedAgain) this.tell();
      });
  }

  private closed(): void {
    for (const reader of this.readers) void reader.close();
    this.owner.onDidDispose(this);
  }

  private receive(message: FromWebview): Promise<void> | undefined {
    switch (message.type) {
      case 'act':
        this.owner.act(message.action, this);
        break;
      case 'open': {
        const run = this.shown[message.run];
        if (run !== undefined) this.owner.open(run);
        else
          this.owner.report(
            new Fault(
              'editor/not-shown',
              'The comparison asked for a run that it does not show. Nothing was done.',
            ),
          );
        break;
      }
      case 'ready':
        this.sent = {};
        this.choice = message.choice;
        this.tell();
        break;
      case 'choose':
        this.choice = message.choice;
        return this.send();
    }
    return undefined;
  }

  private async tellOnce(): Promise<void> {
    const records = await Promise.all(this.readers.map((reader) => reader.read()));
    this.records = records.filter((record) => record !== undefined);
    if (this.records.length === 0) this.page.dispose();
    else await this.send();
  }

  private async send(): Promise<void> {
    const { records, choice, sent, page } = this;
    if (records.length === 0 || !page.isListening) return;
    page.title =
      records.length === 1
        ? t('{0} vs. base model', runName(records[0]!.run, t))
        : t('Comparison of {0} runs', records.length);
    const engine = this.owner.engineOf(this);
    const view = comparisonView(records, choice, {
      calledBy: (name) => engine.calledBy(name),
      ...{ t, language: language(), dataFolder: this.runs.dataFolder, playing: this.progress },
      restriction: restrictionOf(t('Nothing is played')) ?? '',
    });
    const text = JSON.stringify(view);
    if (text !== sent.view) {
      sent.view = text;
      await page.post(view);
    }
    const curves = curvesView(records, choice, sent.curves);
    if (JSON.stringify(curves.read) !== JSON.stringify(sent.curves)) {
      sent.curves = curves.read;
      await page.post(curves.view);
    }
  }
}
