import path from 'node:path';
import { setImmediate as yielding } from 'node:timers/promises';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { keptOf, type Kept } from '../../core/loop/kept';
import { EventTail } from '../../core/training/eventFile';
import { RunHistory } from '../../core/training/history/history';
import { runFiles } from '../../core/training/runFolder';
import type { Run, Runs } from '../../core/training/runs';
import type { Action, Choice, FromWebview, ToWebview } from '../../../webview/run/protocol';
import { language } from '../language';
import { PanelPage } from '../panelPage';
import { restrictionOf } from '../trust/restricted';
import { toldView } from './told';
import { curveView, resultOf, runView, samplesView, shownCurve, type ReadCurves } from './view';
import { runName } from './words';

const { t } = vscode.l10n;

/** How often a live run is told anew, in milliseconds. */
const TELL_EVERY_MS = 500;
/** Events after which the rest of the extension host gets its turn. */
const PIECE = 1000;

export interface RunPanelOwner {
  /** Why no run that waits begins. */
  readonly halted: string | undefined;
  act(action: Action, run: Run): void;
  report(error: unknown): void;
  onDidDispose(panel: RunPanel): void;
}

/** The webview panel of one run. It reads the run's folder, as every other window does. */
export class RunPanel {
  private readonly history = new RunHistory();
  private readonly tail: EventTail;
  private readonly page: PanelPage<'run', ToWebview>;
  private run: Run | undefined;
  private kept: readonly Kept[] = [];
  private choice: Choice = {};
  /** What the view has, as far as it can be told whether there is more. */
  private sent: { view?: string; curves?: ReadCurves; samples?: unknown; told?: number } = {};
  private telling: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    readonly runs: Runs,
    readonly id: string,
    private readonly owner: RunPanelOwner,
    extension: vscode.Uri,
  ) {
    this.tail = new EventTail(path.join(runs.folder, id, runFiles.events));
    this.page = new PanelPage<'run', ToWebview>(panel, extension, {
      ...{ name: 'run', icon: 'beaker' },
      receive: (message) => this.receive(message),
      failed: (error) => owner.report(error),
      report: (error) => owner.report(error),
      onShown: () => this.tell(),
      onClosed: () => this.closed(),
    });
  }

  get isInSight(): boolean {
    return this.page.isInSight;
  }

  reveal(): void {
    this.page.reveal();
  }

  dispose(): void {
    this.page.dispose();
  }

  /** Looks at the folder now, and tells the view what is new. */
  tell(): void {
    clearTimeout(this.timer);
    if (this.page.wasClosed) return;
    this.telling ??= this.tellOnce()
      .catch((error: unknown) => this.owner.report(error))
      .finally(() => {
        this.telling = undefined;
        if (this.run?.isLive === true && this.page.isInSight)
          this.timer = setTimeout(() => this.tell(), TELL_EVERY_MS);
      });
  }

  private closed(): void {
    clearTimeout(this.timer);
    void this.tail.close();
    this.owner.onDidDispose(this);
  }

  private receive(message: FromWebview): Promise<void> | undefined {
    if (message.type === 'act') {
      this.act(message.action);
      return undefined;
    }
    this.choice = message.choice;
    if (message.type === 'ready') this.sent = {};
    const sending = this.send();
    this.tell();
    return sending;
  }

  /** What else a run is too far or not far enough for, its command says. */
  private act(action: Action): void {
    const { run, owner } = this;
    const needsModel = action === 'play' || action === 'chat';
    if (run !== undefined && (!needsModel || resultOf(run) === 'playable')) owner.act(action, run);
    else {
      const sentence = `The run’s view asked for “${action}” before there is something to do it with. Nothing was done.`;
      owner.report(new Fault('editor/not-shown', sentence));
    }
  }

  private async tellOnce(): Promise<void> {
    // Before the events: whatever the process wrote until it ended is then among them.
    const run = await this.runs.read(this.id);
    if (run === undefined) {
      this.page.dispose();
      return;
    }
    let count = 0;
    for await (const event of this.tail.read()) {
      this.history.add(event);
      count += 1;
      if (count % PIECE === 0) await yielding();
    }
    this.run = run;
    if (run.state === 'done') this.kept = await keptOf(run.folder);
    await this.send();
  }

  private async send(): Promise<void> {
    const { run, history, choice, sent, page, kept, owner } = this;
    if (run === undefined || !page.isListening) return;
    page.title = runName(run, t);
    const restriction = restrictionOf(t('Nothing is trained')) ?? '';
    const view = runView(run, history, choice, {
      ...{ t, restriction, kept, halted: owner.halted },
      dataFolder: this.runs.dataFolder,
    });
    const text = JSON.stringify(view);
    if (text !== sent.view) await page.post(view);
    sent.view = text;
    const curves = curveView(history, shownCurve(history, choice), sent.curves);
    const hasNews = curves !== undefined && JSON.stringify(curves.read) !== JSON.stringify(sent.curves);
    if (hasNews) {
      sent.curves = curves.read;
      await page.post(curves.view);
    }
    if (sent.samples !== history.samples.at(-1)) {
      sent.samples = history.samples.at(-1);
      await page.post(samplesView(history));
    }
    if ((sent.told ?? 0) !== history.told.count) {
      sent.told = history.told.count;
      await page.post(toldView(history, language(), t));
    }
  }
}
