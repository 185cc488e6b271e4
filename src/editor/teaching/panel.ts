import * as vscode from 'vscode';
import type { Size } from '../../core/evaluation/loop/settings';
import { Runs, type Run } from '../../core/training/runs';
import { actions, type Action, type FromWebview, type ToWebview } from '../../../webview/teaching/protocol';
import { idOf } from '../contributions';
import type { Engine } from '../engine';
import { OneAtATime } from '../background';
import { Panel, type Asks } from '../panel';
import { onePanel, type Panels } from '../panels';
import { longWorks } from '../progress';
import { useModel } from '../run/useModel';
import { lowerFirst } from '../words';
import { manageTrust, restrictionOf } from '../workspaceTrust';
import { faultWords, type Teacher } from './teacher';
import { teachingView } from './view';

const { t } = vscode.l10n;

interface TeachingContext {
  readonly extension: vscode.Uri;
  readonly engine: Engine;
  readonly teacher: Teacher;
  readonly runPanels: { open(run: Run): Promise<unknown> };
}

/** By agent. */
type Slowness = Map<string, number>;

/** Closing it stops nothing. */
class TeachingPanel extends Panel<FromWebview, ToWebview> {
  private readonly sending = new OneAtATime(() =>
    this.send().catch((error: unknown) => this.on.engine.report(error)),
  );

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: TeachingContext,
    private readonly slowness: Slowness,
  ) {
    super(panel, { ...on, name: 'teaching', icon: 'mortar-board', errors: on.engine, actions });
    this.owns(
      on.teacher.onDidChange(() => this.show()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.show()),
      on.engine.configuration.onDidChange(() => this.show()),
    );
  }

  protected override onShown(): void {
    this.show();
  }

  override readonly asks: Asks<FromWebview> = {
    choose: ({ world }) => {
      this.on.teacher.choose(world);
      return this.estimate();
    },
    start: ({ size }) => this.on.teacher.start(size),
    act: ({ action }) => this.act(action),
    ready: () => {
      this.show();
      this.estimate().catch((error: unknown) => this.on.engine.report(error));
      this.on.teacher.lookForTrainer().catch((error: unknown) => this.on.engine.report(error));
    },
  };

  private async act(action: Action): Promise<void> {
    const { engine, teacher, runPanels } = this.on;
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
        if (action === 'run') await runPanels.open(run);
        else if (action === 'compare')
          await vscode.commands.executeCommand(idOf('compareBlindly'), { kind: 'run', run });
        else await useModel(run, action, engine);
      }
    }
  }

  private async run(): Promise<Run | undefined> {
    const { run } = this.on.teacher.now;
    return run === undefined ? undefined : new Runs(this.on.engine.dataFolder).read(run);
  }

  private show(): void {
    void this.sending.do();
  }

  private async send(): Promise<void> {
    const view = await viewOf(this.on, this.slowness);
    this.title = view.title;
    if (this.isListening) await this.post(view);
  }

  /** Has the agent write for a second, to measure this machine's speed. */
  private async estimate(): Promise<void> {
    const { teacher, engine } = this.on;
    if (teacher.now.state !== 'none' || !vscode.workspace.isTrusted) return;
    const { agent } = await teacher.offer();
    if (this.slowness.has(agent.spec)) return;
    const { slownessHere } = await import('../../core/evaluation/loop/loopProgress');
    this.slowness.set(agent.spec, await slownessHere(engine.locals.model(agent)));
    this.show();
  }
}

type TeachingPanels = Panels<'one', TeachingPanel>;

export function teachingPanels(on: TeachingContext): TeachingPanels {
  const slowness: Slowness = new Map();
  return onePanel('teaching', on.engine, (panel) => new TeachingPanel(panel, on, slowness));
}

/** Only when its panel is out of sight. */
export function tellLessonEnds(on: TeachingContext, panels: TeachingPanels): vscode.Disposable {
  let before = '';
  const tell = async (fault?: string): Promise<void> => {
    const show = t('Show');
    const { title, outcome } = await viewOf(on);
    const chosen =
      fault === undefined
        ? await vscode.window.showInformationMessage(t('{0}: {1}', title, outcome?.sentence ?? ''), show)
        : await vscode.window.showErrorMessage(fault, show);
    if (chosen === show) await panels.open('one');
  };
  return on.teacher.onDidChange(() => {
    const { state, lesson, fault } = on.teacher.now;
    const hasEnded = before === 'working' && !panels.all.some(({ isInSight }) => isInSight);
    before = state;
    if (!hasEnded) return;
    if (state === 'done' && lesson?.outcome !== undefined) void tell();
    if (state === 'stopped' && fault !== undefined) void tell(faultWords(fault));
  });
}

/** The step at work in the status bar, also while the page is closed. */
export function showLessonInStatusBar(on: TeachingContext): vscode.Disposable {
  const isAtWork = (): boolean => ['working', 'stopping'].includes(on.teacher.now.state);
  const show = async (): Promise<void> => {
    const { stages } = await viewOf(on);
    const step = stages.find(({ state }) => state === 'now');
    if (!isAtWork() || step === undefined) longWorks.tell('lesson', undefined);
    else
      longWorks.tell('lesson', {
        title: t('lesson, {0}', lowerFirst(step.label)),
        message: step.count,
        ...(step.fraction !== undefined && { fraction: step.fraction }),
        command: idOf('teachAgent'),
      });
  };
  return on.teacher.onDidChange(() => {
    show().catch((error: unknown) => on.engine.report(error));
  });
}

async function viewOf({ engine, teacher }: TeachingContext, slowness?: Slowness): Promise<ToWebview> {
  const { now } = teacher;
  const { agent, world, worlds, settings } = await teacher.offer(now.lesson);
  const { expectedOf, secondsOf } = await import('../../core/evaluation/loop/loopProgress');
  const slow = slowness?.get(agent.spec);
  const secondsFor = (size: Size): number | undefined =>
    slow === undefined ? undefined : secondsOf(expectedOf(settings[size], slow));
  return teachingView(now, {
    agent: engine.calledBy(agent.spec),
    world,
    worlds,
    settings,
    secondsFor,
    restriction: restrictionOf(t('Nothing is taught')) ?? '',
    fault: now.fault === undefined ? '' : faultWords(now.fault),
  });
}
