import path from 'node:path';
import * as vscode from 'vscode';
import { type Runs, type Run, runsOf } from '../../core/training/runs';
import { Fault } from '../../core/fault';
import { RunReader, type RunRecord } from '../../core/evaluation/comparison/experiment';
import { runFiles } from '../../core/training/runFolder';
import type { Choice } from '../../../webview/chart/protocol';
import { actions, type Action, type FromWebview, type ToWebview } from '../../../webview/comparison/protocol';
import type { Engines } from '../engines';
import { type PinnedCharts, curvesView, type ReadCharts } from '../run/charts';
import type { Packs } from '../packs';
import type { Engine } from '../engine';
import { OneAtATime } from '../background';
import { Panel, type Asks } from '../panel';
import { runName, namesOf } from '../run/words';
import { manageTrust, restrictionOf } from '../workspaceTrust';
import { saveOfPage, saveReport } from '../savePage';
import { chooseRun } from '../run/runPicker';
import { evaluateRuns } from './evaluating';
import { comparisonView } from './view';

const { t } = vscode.l10n;

export interface ComparisonContext {
  readonly extension: vscode.Uri;
  readonly engines: Engines;
  readonly packs: Packs;
  readonly runPanels: { open(run: Run): Promise<unknown> };
  readonly runWatch: { readonly onDidChange: vscode.Event<unknown> };
  readonly pinned: PinnedCharts;
}

/** Runs of one data folder; a single run is compared with its base model. */
export interface Compared {
  readonly runs: Runs;
  readonly ids: readonly string[];
}

export class ComparisonPanel extends Panel<FromWebview, ToWebview> {
  private readonly readers: readonly RunReader[];
  private records: readonly RunRecord[] = [];
  private choice: Choice = {};
  private readonly read: ReadCharts = new Map();
  /** Of the running evaluation; empty when none is. */
  private progress = '';
  private readonly telling = new OneAtATime(() =>
    this.tellOnce().catch((error: unknown) => this.on.engines.first.report(error)),
  );

  constructor(
    panel: vscode.WebviewPanel,
    readonly compared: Compared,
    private readonly on: ComparisonContext,
    private readonly tellAll: () => void,
  ) {
    super(panel, { ...on, name: 'comparison', icon: 'graph-line', errors: on.engines.first, actions });
    this.readers = compared.ids.map((id) => new RunReader(compared.runs, id));
    this.owns(
      on.runWatch.onDidChange(() => this.tell()),
      on.pinned.onDidChange(() => this.tell()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.tell()),
    );
  }

  /** One evaluation runs at a time. */
  async evaluate(runs: readonly Run[]): Promise<void> {
    if (this.progress !== '') return;
    try {
      await evaluateRuns(runs, this.engine, this.on.packs, (progress) => this.showProgress(progress));
    } finally {
      this.showProgress('');
      // Other comparisons may show its results, too.
      this.tellAll();
    }
  }

  tell(): void {
    if (!this.wasClosed) void this.telling.do();
  }

  protected override onShown(): void {
    this.tell();
  }

  protected override onClosed(): void {
    for (const reader of this.readers) void reader.close();
  }

  override readonly asks: Asks<FromWebview> = {
    act: ({ action }) => this.act(action),
    open: ({ run: index }) => {
      const run = this.shown[index];
      if (run !== undefined) return this.on.runPanels.open(run);
      const sentence = 'The comparison asked for a run that it does not show. Nothing was done.';
      this.on.engines.first.report(new Fault('editor/not-shown', sentence));
      return undefined;
    },
    save: ({ file }) => saveOfPage(file, this.engine),
    pin: (message) => this.on.pinned.pin(message, message.isPinned),
    ready: ({ choice }) => {
      this.read.clear();
      this.choice = choice;
      this.tell();
    },
    choose: ({ choice }) => {
      this.choice = choice;
      return this.send();
    },
  };

  private act(action: Action): Promise<void> {
    const { shown } = this;
    switch (action) {
      case 'diff':
        return openDiff(shown);
      case 'trust':
        return manageTrust();
      case 'report':
        return reportRuns(shown, this.engine);
      case 'evaluate':
        return this.evaluate(shown);
    }
  }

  /** As last read, without deleted runs. */
  private get shown(): readonly Run[] {
    return this.records.map(({ run }) => run);
  }

  private get engine(): Engine {
    const { engines } = this.on;
    return engines.withDataFolder(this.compared.runs.dataFolder) ?? engines.first;
  }

  private showProgress(progress: string): void {
    this.progress = progress;
    void this.send();
  }

  private async tellOnce(): Promise<void> {
    const records = await Promise.all(this.readers.map((reader) => reader.read()));
    this.records = records.filter((record) => record !== undefined);
    if (this.records.length === 0) this.dispose();
    else await this.send();
  }

  private async send(): Promise<void> {
    const { records, choice } = this;
    if (records.length === 0 || !this.isListening) return;
    this.title =
      records.length === 1
        ? t('{0} vs. base model', runName(records[0]!.run))
        : t('Comparison of {0} runs', records.length);
    const engine = this.engine;
    const view = comparisonView(records, choice, {
      calledBy: (name) => engine.calledBy(name),
      ...{ dataFolder: this.compared.runs.dataFolder, playing: this.progress },
      restriction: restrictionOf(t('Nothing is played')) ?? '',
      pinned: this.on.pinned.all,
    });
    await this.postView(view);
    const curves = curvesView(records, view, this.read);
    if (curves !== undefined) await this.post(curves);
  }
}

async function openDiff(runs: readonly Run[]): Promise<void> {
  const left = runs.length === 2 ? runs[0] : await chooseRun(runs, t('The configuration on the left'));
  if (left === undefined) return;
  const others = runs.filter((run) => run !== left);
  const right =
    others.length === 1 ? others[0] : await chooseRun(others, t('The configuration on the right'));
  if (right === undefined) return;
  const uri = ({ folder }: Run): vscode.Uri => vscode.Uri.file(path.join(folder, runFiles.configuration));
  const title = namesOf([left, right]).join(' ↔ ');
  await vscode.commands.executeCommand('vscode.diff', uri(left), uri(right), title);
  await vscode.commands.executeCommand('workbench.action.files.setActiveEditorReadonlyInSession');
}

/** The pictures are written beside the report. */
export async function reportRuns(runs: readonly Run[], engine: Engine): Promise<void> {
  const words = {
    ...{ title: t('Write Report'), name: 'report' },
    said: (file: string) => t('The report is in {0}, its pictures are beside it.', file),
  };
  await saveReport(words, engine, async (file) => {
    const { writeReport } = await import('../../core/evaluation/comparison/report');
    await writeReport(file, {
      runs: runsOf(runs[0]!),
      of: runs,
      names: namesOf(runs),
      workspace: engine.configuration.folder?.uri.fsPath ?? '',
    });
  });
}
