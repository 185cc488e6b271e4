import path from 'node:path';
import * as z from 'zod';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { keptOf, type KeptEvaluation } from '../../core/evaluation/loop/evaluationCache';
import { EventTail } from '../../core/training/eventFile';
import { RunHistory } from '../../core/training/history/history';
import { isRunId, runFiles } from '../../core/training/runFolder';
import { runsOf, Runs, type Run } from '../../core/training/runs';
import type { Choice } from '../../../webview/chart/protocol';
import { actions, type Action, type FromWebview, type ToWebview } from '../../../webview/run/protocol';
import { idOf, type CommandId } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { language } from '../pageHtml';
import { Panel, type Asks } from '../panel';
import { Panels } from '../panels';
import { OneAtATime } from '../background';
import { manageTrust, restrictionOf } from '../workspaceTrust';
import { saveOfPage } from '../savePage';
import { type PinnedCharts, curvesView, type ReadCharts } from '../run/charts';
import { useModel } from '../run/useModel';
import type { RunQueue } from './queue';
import { toldView } from './eventMessages';
import { resultOf, runView, samplesView } from './view';
import type { RunWatch } from './runWatch';
import { runName } from '../run/words';

const { t } = vscode.l10n;

/** Milliseconds between updates of a live run. */
const PROGRESS_INTERVAL_MS = 500;

interface RunPanelContext {
  readonly extension: vscode.Uri;
  readonly engines: Engines;
  readonly watch: Pick<RunWatch, 'onDidChange'>;
  readonly queue: Pick<RunQueue, 'onDidChange' | 'halted'>;
  readonly pinned: PinnedCharts;
}

type Shown = Pick<Run, 'folder' | 'id'>;

class RunPanel extends Panel<FromWebview, ToWebview> {
  readonly runs: Runs;
  readonly id: string;
  private readonly history = new RunHistory();
  private readonly tail: EventTail;
  private run: Run | undefined;
  private kept: readonly KeptEvaluation[] = [];
  private choice: Choice = {};
  private sent: { samples?: unknown; told?: number } = {};
  /** Sent positions in the curves of each chart. */
  private readonly read: ReadCharts = new Map();
  private readonly telling = new OneAtATime(() => this.tellOnce());
  private timer: NodeJS.Timeout | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    shown: Shown,
    private readonly on: RunPanelContext,
  ) {
    super(panel, { ...on, name: 'run', icon: 'beaker', errors: on.engines.first, actions });
    this.runs = runsOf(shown);
    this.id = shown.id;
    this.tail = new EventTail(path.join(shown.folder, runFiles.events));
    this.owns(
      on.watch.onDidChange(() => this.tell()),
      on.queue.onDidChange(() => this.tell()),
      on.pinned.onDidChange(() => this.tell()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.tell()),
    );
  }

  tell(): void {
    clearTimeout(this.timer);
    if (!this.wasClosed) void this.telling.do();
  }

  protected override onShown(): void {
    this.tell();
  }

  protected override onClosed(): void {
    clearTimeout(this.timer);
    void this.tail.close();
  }

  override readonly asks: Asks<FromWebview> = {
    act: ({ action }) => this.act(action),
    save: ({ file }) => saveOfPage(file, this.engine),
    pin: (message) => this.on.pinned.pin(message, message.isPinned),
    ready: ({ choice }) => {
      this.sent = {};
      this.read.clear();
      return this.choose(choice);
    },
    choose: ({ choice }) => this.choose(choice),
  };

  private choose(choice: Choice): Promise<void> {
    this.choice = choice;
    const sending = this.send();
    this.tell();
    return sending;
  }

  /** Other conditions are checked by the command itself. */
  private async act(action: Action): Promise<void> {
    const { run } = this;
    const { first } = this.on.engines;
    const result = run === undefined ? 'none' : resultOf(run);
    const canPlay = result === 'playable' || (result === 'collaborator' && action === 'play');
    const needsModel = action === 'play' || action === 'chat';
    const isMeant = needsModel ? canPlay : action !== 'people' || result === 'collaborator';
    if (run !== undefined && isMeant) await perform(action, run, first);
    else {
      const sentence = `The run’s view asked for “${action}” before there is something to do it with. Nothing was done.`;
      first.report(new Fault('editor/not-shown', sentence));
    }
  }

  private get engine(): Engine {
    const { engines } = this.on;
    return engines.withDataFolder(this.runs.dataFolder) ?? engines.first;
  }

  private async tellOnce(): Promise<void> {
    await this.readAndSend().catch((error: unknown) => this.on.engines.first.report(error));
    clearTimeout(this.timer);
    if (this.run?.isLive === true && this.isInSight)
      this.timer = setTimeout(() => this.tell(), PROGRESS_INTERVAL_MS);
  }

  private async readAndSend(): Promise<void> {
    // Read before the events, so that these include the last ones of the process.
    const run = await this.runs.read(this.id);
    if (run === undefined) {
      this.dispose();
      return;
    }
    await this.history.read(this.tail);
    this.run = run;
    if (run.state === 'done') this.kept = await keptOf(run.folder);
    await this.send();
  }

  private async send(): Promise<void> {
    const { run, history, choice, sent, kept } = this;
    if (run === undefined || !this.isListening) return;
    this.title = runName(run);
    const restriction = restrictionOf(t('Nothing is trained')) ?? '';
    const view = runView(run, history, choice, {
      ...{ restriction, kept, halted: this.on.queue.halted, pinned: this.on.pinned.all },
      dataFolder: this.runs.dataFolder,
    });
    await this.postView(view);
    const curves = curvesView([{ run, history }], view, this.read);
    if (curves !== undefined) await this.post(curves);
    if (sent.samples !== history.samples.at(-1)) {
      sent.samples = history.samples.at(-1);
      await this.post(samplesView(history));
    }
    if ((sent.told ?? 0) !== history.told.count) {
      sent.told = history.told.count;
      await this.post(toldView(history, language()));
    }
  }
}

const commandOf: Readonly<Record<Exclude<Action, 'play' | 'chat' | 'trust' | 'events'>, CommandId>> = {
  pause: idOf('pauseRun'),
  finish: idOf('finishRun'),
  kill: idOf('killRun'),
  resume: idOf('resumeRun'),
  startNow: idOf('startQueuedRun'),
  unqueue: idOf('unqueueRun'),
  tryAgain: idOf('advanceQueue'),
  continue: idOf('continueRun'),
  log: idOf('openRunLog'),
  configuration: idOf('openRunConfiguration'),
  reveal: idOf('revealRun'),
  duplicate: idOf('duplicateRun'),
  compare: idOf('compareRuns'),
  evaluate: idOf('evaluateRuns'),
  people: idOf('showSimulator'),
};

export async function perform(action: Action, run: Run, engine: Engine): Promise<void> {
  switch (action) {
    case 'trust':
      return manageTrust();
    case 'events':
      // The editor shows extensions no text over 50 MB, so it opens the file itself.
      await vscode.commands.executeCommand(
        'vscode.open',
        vscode.Uri.file(path.join(run.folder, runFiles.events)),
      );
      return;
    case 'play':
    case 'chat':
      return useModel(run, action, engine);
    default:
      await vscode.commands.executeCommand(commandOf[action], { kind: 'run', run });
  }
}

const keptSchema = lazily(() => z.object({ dataFolder: z.string(), id: z.string().refine(isRunId) }));

export type RunPanels = Panels<Shown, RunPanel>;

export const runPanels = (on: RunPanelContext): RunPanels =>
  new Panels({
    name: 'run',
    errors: on.engines.first,
    shows: ({ runs, id }, run) => id === run.id && runs.dataFolder === runsOf(run).dataFolder,
    restore: (kept) => {
      const { dataFolder, id } = keptSchema().safeParse(kept).data ?? {};
      // A page wrote this, so only runs of this window's logs are read.
      if (!vscode.workspace.isTrusted || id === undefined) return undefined;
      if (on.engines.withDataFolder(dataFolder) === undefined) return undefined;
      return { id, folder: path.join(new Runs(dataFolder!).folder, id) };
    },
    load: () => (panel, run) => new RunPanel(panel, run, on),
  });
