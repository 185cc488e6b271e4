import * as vscode from 'vscode';
import type { Size } from '../../core/loop/settings';
import { Runs, type Run } from '../../core/training/runs';
import type { Action, FromWebview, ToWebview } from '../../../webview/teaching/protocol';
import { commands, teachingViewType } from '../contributions';
import type { Engine } from '../engine';
import { PanelPage } from '../panelPage';
import type { RunPanels } from '../runs/panels';
import { manageTrust, restrictionOf } from '../trust/restricted';
import { faultWords, type Teacher } from './teacher';
import { teachingView } from './view';

const { t } = vscode.l10n;

/** The page of the lesson. There is one, and it shows the last lesson; closing it stops nothing. */
export class TeachingPanel implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private page: PanelPage<'teaching', ToWebview> | undefined;
  private readonly registrations: vscode.Disposable;
  private state = '';
  /** How slow this machine is with an agent, by the agent. */
  private readonly slowness = new Map<string, number>();

  constructor(
    private readonly extension: vscode.Uri,
    private readonly engine: Engine,
    private readonly teacher: Teacher,
    private readonly runs: RunPanels,
  ) {
    this.registrations = vscode.Disposable.from(
      vscode.window.registerWebviewPanelSerializer(teachingViewType, this),
      teacher.onDidChange(() => this.changed()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.show()),
      engine.configuration.onDidChange(() => this.show()),
    );
  }

  open(): undefined {
    if (this.page === undefined)
      this.adopt(vscode.window.createWebviewPanel(teachingViewType, '', vscode.ViewColumn.Active));
    else this.page.reveal();
    return undefined;
  }

  /** Called by VS Code for the panel that was open before the reload. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.adopt(panel);
    return Promise.resolve();
  }

  dispose(): void {
    this.page?.dispose();
    this.registrations.dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.page?.dispose();
    this.page = new PanelPage<'teaching', ToWebview>(panel, this.extension, {
      ...{ name: 'teaching', icon: 'mortar-board' },
      receive: (message) => this.receive(message),
      failed: (error) => this.engine.show(error),
      report: (error) => this.engine.report(error),
      onShown: () => this.show(),
      onClosed: () => (this.page = undefined),
    });
    this.page.title = t('Teach the agent');
  }

  private receive(message: FromWebview): Promise<void> | undefined {
    switch (message.type) {
      case 'start':
        return this.teacher.start(message.size);
      case 'act':
        return this.act(message.action);
      case 'ready':
        this.show();
        this.estimate().catch((error: unknown) => this.engine.report(error));
        return undefined;
    }
  }

  private async act(action: Action): Promise<void> {
    const { teacher, runs } = this;
    switch (action) {
      case 'again':
        teacher.prepare();
        return undefined;
      case 'goOn':
        return teacher.goOn();
      case 'stop':
        return teacher.stop();
      case 'trust':
        return manageTrust();
      case 'report': {
        const report = teacher.now.lesson?.outcome?.report;
        if (report !== undefined)
          await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(report));
        return undefined;
      }
      case 'run':
      case 'play':
      case 'chat':
      case 'compare': {
        const run = await this.run();
        if (run === undefined) return undefined;
        if (action === 'run') runs.open(run);
        else if (action === 'compare')
          await vscode.commands.executeCommand(commands.compareBlindly, { kind: 'run', run });
        else runs.act(action, run);
      }
    }
  }

  private async run(): Promise<Run | undefined> {
    const { run } = this.teacher.now;
    return run === undefined ? undefined : new Runs(this.engine.dataFolder).read(run);
  }

  /** The end of a lesson is told where nobody sees its page. */
  private changed(): void {
    const { state, lesson, fault } = this.teacher.now;
    const before = this.state;
    this.state = state;
    this.show();
    if (before !== 'working' || this.page?.isInSight === true) return;
    if (state === 'done' && lesson?.outcome !== undefined) void this.tell();
    if (state === 'stopped' && fault !== undefined) void this.tell(faultWords(fault));
  }

  private async tell(fault?: string): Promise<void> {
    const show = t('Show');
    const { outcome } = await this.view();
    const chosen =
      fault === undefined
        ? await vscode.window.showInformationMessage(outcome?.sentence ?? '', show)
        : await vscode.window.showErrorMessage(fault, show);
    if (chosen === show) this.open();
  }

  private show(): void {
    this.send().catch((error: unknown) => this.engine.report(error));
  }

  private async send(): Promise<void> {
    if (this.page?.isListening === true) await this.page.post(await this.view());
  }

  private async view(): Promise<ToWebview> {
    const { now } = this.teacher;
    const { agent, settings } = await this.teacher.offer(now.lesson);
    const { expectedOf, secondsOf } = await import('../../core/loop/pace');
    const slowness = this.slowness.get(agent.spec);
    const secondsFor = (size: Size): number | undefined =>
      slowness === undefined ? undefined : secondsOf(expectedOf(settings[size], slowness));
    return teachingView(
      now,
      {
        agent: this.engine.calledBy(agent.spec),
        settings,
        secondsFor,
        restriction: restrictionOf(t('Nothing is taught')) ?? '',
        fault: now.fault === undefined ? '' : faultWords(now.fault),
      },
      t,
    );
  }

  /** Has the agent write for a second, to see how quick this machine is. */
  private async estimate(): Promise<void> {
    const { teacher, engine } = this;
    if (teacher.now.state !== 'none' || !vscode.workspace.isTrusted) return;
    const { agent } = await teacher.offer();
    if (this.slowness.has(agent.spec)) return;
    const { slownessHere } = await import('../../core/loop/pace');
    this.slowness.set(agent.spec, await slownessHere(engine.locals.model(agent)));
    this.show();
  }
}
