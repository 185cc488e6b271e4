import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { isRunId, runFiles } from '../../core/training/runFolder';
import { Runs, type Run } from '../../core/training/runs';
import type { Action } from '../../../webview/run/protocol';
import { VENDOR } from '../chat/offered';
import { commands, runViewType, type CommandId } from '../contributions';
import type { Engines } from '../engines';
import { searchable } from '../panelPage';
import { manageTrust } from '../trust/restricted';
import { RunPanel, type RunPanelOwner } from './panel';
import type { RunQueue } from './queue';
import { runsOf } from './resting';
import type { RunWatch } from './watch';

/** What the editor keeps of a panel over a reload; the run's folder knows the rest. */
const panelStateSchema = lazily(() => z.object({ dataFolder: z.string(), id: z.string() }));

const commandOf: Readonly<Record<Exclude<Action, 'play' | 'chat' | 'trust' | 'events'>, CommandId>> = {
  pause: commands.pauseRun,
  finish: commands.finishRun,
  kill: commands.killRun,
  resume: commands.resumeRun,
  startNow: commands.startQueuedRun,
  unqueue: commands.unqueueRun,
  tryAgain: commands.advanceQueue,
  continue: commands.continueRun,
  log: commands.openRunLog,
  configuration: commands.openRunConfiguration,
  reveal: commands.revealRun,
  duplicate: commands.duplicateRun,
  compare: commands.compareRuns,
  evaluate: commands.evaluateRuns,
};

/**
 * What the chat begins with; the person writes on. In Ask mode, because Agent mode, the default, offers only models that
 * call tools, and with the model that answers in its picker.
 */
const askTandem = (spec: string): object => ({
  ...{ mode: 'ask', query: '@tandem ', isPartialQuery: true },
  modelSelector: { vendor: VENDOR, id: spec },
});

/** The open runs, a panel each, brought back after a reload of the window. */
export class RunPanels implements vscode.WebviewPanelSerializer, RunPanelOwner, vscode.Disposable {
  private readonly panels = new Set<RunPanel>();
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly engines: Engines,
    watch: RunWatch,
    private readonly queue: RunQueue,
  ) {
    this.disposables = [
      vscode.window.registerWebviewPanelSerializer(runViewType, this),
      watch.onDidChange(() => this.tell()),
      queue.onDidChange(() => this.tell()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.tell()),
    ];
  }

  get halted(): string | undefined {
    return this.queue.halted;
  }

  open(run: Run): RunPanel {
    const runs = runsOf(run);
    const there = this.find(runs, run.id);
    if (there !== undefined) {
      there.reveal();
      return there;
    }
    return this.adopt(
      vscode.window.createWebviewPanel(runViewType, '', vscode.ViewColumn.Active, searchable),
      runs,
      run.id,
    );
  }

  isInSight(run: Run): boolean {
    return this.find(runsOf(run), run.id)?.isInSight === true;
  }

  close(run: Run): void {
    this.find(runsOf(run), run.id)?.dispose();
  }

  /** Called by VS Code for each panel that was open before the reload. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { dataFolder, id } = panelStateSchema().safeParse(state).data ?? {};
    // The state is what a page has written: only runs of this window's logs are read.
    const isOurs = this.engines.logs.some(({ engine }) => engine.dataFolder === dataFolder);
    const isName = id !== undefined && isRunId(id);
    if (dataFolder === undefined || !isOurs || !isName) panel.dispose();
    else this.adopt(panel, new Runs(dataFolder), id);
    return Promise.resolve();
  }

  act(action: Action, run: Run): void {
    if (action === 'trust') {
      void manageTrust();
      return;
    }
    if (action === 'events') {
      // The editor's own way: extensions are shown no text of more than 50 MB.
      const file = vscode.Uri.file(path.join(run.folder, runFiles.events));
      void vscode.commands.executeCommand('vscode.open', file);
      return;
    }
    if (action === 'play' || action === 'chat') {
      this.use(run, action).catch((error: unknown) => this.engines.first.show(error));
      return;
    }
    void vscode.commands.executeCommand(commandOf[action], { kind: 'run', run });
  }

  report(error: unknown): void {
    this.engines.first.report(error);
  }

  onDidDispose(panel: RunPanel): void {
    this.panels.delete(panel);
  }

  dispose(): void {
    for (const panel of this.panels) panel.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private adopt(panel: vscode.WebviewPanel, runs: Runs, id: string): RunPanel {
    const opened = new RunPanel(panel, runs, id, this, this.extension);
    this.panels.add(opened);
    return opened;
  }

  private find(runs: Runs, id: string): RunPanel | undefined {
    return [...this.panels].find((panel) => panel.id === id && panel.runs.dataFolder === runs.dataFolder);
  }

  private tell(): void {
    for (const panel of this.panels) panel.tell();
  }

  /** The trained model becomes the agent; then the next task is opened with it, or the chat, where it is `@tandem`. */
  private async use({ folder }: Run, where: 'play' | 'chat'): Promise<void> {
    const { first } = this.engines;
    const model = path.join(folder, runFiles.model);
    const place = first.localPlaces.find((one) => one.folder === model);
    // Of the log of another folder of the workspace, it is not among those that this one lists.
    const spec = place?.spec ?? `local:${model}`;
    await first.configuration.set('agent', spec);
    if (where === 'play') await vscode.commands.executeCommand(commands.playFirst);
    else await vscode.commands.executeCommand('workbench.action.chat.open', askTandem(spec));
  }
}
