import * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { isRunId } from '../../core/training/runFolder';
import { Runs, type Run } from '../../core/training/runs';
import type { Action } from '../../../webview/comparison/protocol';
import { comparisonViewType } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { runsOf } from '../runs/resting';
import type { RunPanels } from '../runs/panels';
import type { RunWatch } from '../runs/watch';
import type { Packs } from '../tasks/packs';
import { openDiff } from './diff';
import { manageTrust } from '../trust/restricted';
import { evaluateRuns } from './evaluating';
import type { ComparisonOwner, ComparisonPanel } from './panel';
import { reportRuns } from './report';
import { searchable } from '../panelPage';

/** What the editor keeps of a panel over a reload; the runs' folders know the rest. */
const panelStateSchema = lazily(() => z.object({ dataFolder: z.string(), ids: z.array(z.string()).min(1) }));

/** The open comparisons, a panel for each set of runs, brought back after a reload of the window. */
export class Comparisons implements vscode.WebviewPanelSerializer, ComparisonOwner, vscode.Disposable {
  private readonly panels = new Set<ComparisonPanel>();
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly engines: Engines,
    private readonly packs: Packs,
    private readonly runPanels: RunPanels,
    watch: RunWatch,
  ) {
    this.disposables = [
      vscode.window.registerWebviewPanelSerializer(comparisonViewType, this),
      watch.onDidChange(() => this.tell()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.tell()),
    ];
  }

  /** Shows the comparison, and asks in it what is to be played. @param runs as of `compare` */
  async evaluate(runs: readonly Run[]): Promise<void> {
    await this.play(runs, await this.compare(runs));
  }

  /** @param runs of one data folder; one alone is compared with what it began with */
  async compare(runs: readonly Run[]): Promise<ComparisonPanel> {
    const folder = runsOf(runs[0]!);
    const ids = runs.map(({ id }) => id);
    const there = [...this.panels].find(
      (panel) =>
        panel.runs.dataFolder === folder.dataFolder &&
        [...panel.ids].sort().join() === [...ids].sort().join(),
    );
    if (there === undefined) {
      return this.adopt(
        vscode.window.createWebviewPanel(comparisonViewType, '', vscode.ViewColumn.Active, searchable),
        folder,
        ids,
      );
    }
    there.reveal();
    return there;
  }

  /** Called by VS Code for each panel that was open before the reload. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { dataFolder, ids = [] } = panelStateSchema().safeParse(state).data ?? {};
    // The state is what a page has written: only runs of this window's logs are read.
    const isOurs = this.engines.logs.some(({ engine }) => engine.dataFolder === dataFolder);
    const areNames = ids.length > 0 && ids.every(isRunId);
    if (dataFolder === undefined || !isOurs || !areNames) panel.dispose();
    else await this.adopt(panel, new Runs(dataFolder), ids);
  }

  act(action: Action, panel: ComparisonPanel): void {
    this.perform(action, panel).catch((error: unknown) => this.engines.first.show(error));
  }

  open(run: Run): void {
    this.runPanels.open(run);
  }

  engineOf({ runs }: ComparisonPanel): Engine {
    const found = this.engines.logs.find(({ engine }) => engine.dataFolder === runs.dataFolder);
    return found?.engine ?? this.engines.first;
  }

  report(error: unknown): void {
    this.engines.first.report(error);
  }

  onDidDispose(panel: ComparisonPanel): void {
    this.panels.delete(panel);
  }

  dispose(): void {
    for (const panel of this.panels) panel.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async perform(action: Action, panel: ComparisonPanel): Promise<void> {
    const { shown } = panel;
    switch (action) {
      case 'diff':
        return openDiff(shown);
      case 'trust':
        return manageTrust();
      case 'report':
        return reportRuns(shown, this.engineOf(panel));
      case 'evaluate':
        return this.play(shown, panel);
    }
  }

  /** One evaluation at a time in a panel, which says how far it is. */
  private async play(runs: readonly Run[], panel: ComparisonPanel): Promise<void> {
    if (panel.playing !== '') return;
    try {
      await evaluateRuns(runs, this.engineOf(panel), this.packs, (progress) => (panel.playing = progress));
    } finally {
      panel.playing = '';
      this.tell();
    }
  }

  /** What reads and shows runs is loaded with the first panel. */
  private async adopt(
    panel: vscode.WebviewPanel,
    runs: Runs,
    ids: readonly string[],
  ): Promise<ComparisonPanel> {
    const { ComparisonPanel } = await import('./panel');
    const adopted = new ComparisonPanel(panel, runs, ids, this, this.extension);
    this.panels.add(adopted);
    return adopted;
  }

  private tell(): void {
    for (const panel of this.panels) panel.tell();
  }
}
