import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { messageOf } from '../../core/fault';
import type { SimulatorGap } from '../../core/evaluation/people/simulatorGap';
import { gapFindings, gapInMarkdown, gapNotes, gapTables } from '../../core/evaluation/report/simulatorGap';
import { isShipped } from '../../core/model/shippedModels';
import { grouped } from '../../core/text';
import {
  actions,
  type Action,
  type FromWebview,
  type GapView,
  type ToWebview,
} from '../../../webview/simulator/protocol';
import { idOf } from '../contributions';
import { simulatorCalled } from '../displayNames';
import { editorSpec } from '../editorModels';
import type { Engine } from '../engine';
import type { ShownLog } from '../engines';
import { type Asks, Panel } from '../panel';
import { onePanel, type Panels } from '../panels';
import { cancellable, type Report } from '../progress';
import { saveOfPage, saveReport } from '../savePage';
import { specOf } from '../servers';

const { t } = vscode.l10n;

const AT_ONCE = 4;
/** Minimum milliseconds between two progress messages. */
const PROGRESS_INTERVAL_MS = 200;

interface SimulatorContext {
  readonly extension: vscode.Uri;
  readonly log: ShownLog;
}

class SimulatorPanel extends Panel<FromWebview, ToWebview> {
  private simulator = 'rules';
  private person = '';
  private working: AbortController | undefined;
  private progress = '';
  private problem = '';
  private gap: SimulatorGap | undefined;
  /** Something was compared, or is being compared. */
  private hasBegun = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: SimulatorContext,
  ) {
    super(panel, {
      ...{ name: 'simulator', icon: 'organization', actions },
      ...{ extension: on.extension, errors: on.log.engine },
    });
    this.title = t('People and simulator');
    this.owns(
      on.log.onDidChange(() => this.tell(() => this.choose('rules'))),
      on.log.engine.onDidChangeModels(() => this.tell(() => this.show())),
    );
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => (this.hasBegun ? this.show() : this.compare()),
    choose: async ({ simulator, person }) => {
      const offered = await this.simulators();
      if (offered.some(({ value }) => value === simulator)) await this.choose(simulator, person);
    },
    act: ({ action }) => this.act(action),
    save: ({ file }) => saveOfPage(file, this.engine),
  };

  /** Of a simulator that a person wants compared, whatever it costs. */
  async compareWith(simulator: string): Promise<void> {
    this.simulator = simulator;
    this.person = '';
    await this.compare();
  }

  protected override onClosed(): void {
    this.reset();
  }

  private get engine(): Engine {
    return this.on.log.engine;
  }

  /** The rules are free, so they are compared at once. */
  private async choose(simulator: string, person = ''): Promise<void> {
    this.reset();
    this.simulator = simulator;
    this.person = person;
    await (simulator === 'rules' ? this.compare() : this.show());
  }

  private act(action: Action): unknown {
    switch (action) {
      case 'compare':
        return this.compare();
      case 'cancel':
        this.reset();
        return this.show();
      case 'report':
        return this.report();
      case 'play':
        return vscode.commands.executeCommand(idOf('playNext'));
    }
  }

  private reset(): void {
    this.working?.abort();
    this.working = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.progress = '';
    this.problem = '';
    this.gap = undefined;
  }

  private async compare(): Promise<void> {
    this.hasBegun = true;
    this.reset();
    const working = new AbortController();
    this.working = working;
    this.progress = t('Reading what people replied…');
    await this.show();
    const { simulator, person } = this;
    let gap: SimulatorGap | undefined;
    let problem = '';
    try {
      const title = t('Comparing {0} with people', simulatorCalled(simulator, this.engine, t));
      const work = (signal: AbortSignal, report: Report): Promise<SimulatorGap> =>
        this.compared(simulator, person, signal, report);
      gap = await cancellable(title, work, { signal: working.signal, page: idOf('showSimulator') });
    } catch (error) {
      this.engine.report(error);
      problem = messageOf(error);
    }
    // Another comparison may have begun.
    if (this.working !== working) return;
    this.reset();
    this.gap = gap;
    this.problem = problem;
    await this.show();
  }

  private async compared(
    simulator: string,
    person: string,
    signal: AbortSignal,
    report: Report,
  ): Promise<SimulatorGap> {
    const { engine } = this;
    // Only the name of none opens none.
    const opened = (await engine.openSimulator(simulator))!;
    const { simulatorGap } = await import('../../core/evaluation/people/simulatorGap');
    return simulatorGap({
      ...{ log: await engine.log(), simulator: opened, concurrency: AT_ONCE, signal },
      ...(person !== '' && { people: [person] }),
      onProgress: (done, total, failed) => {
        if (signal.aborted) return;
        const replies = t('{0} of {1} replies', grouped(done), grouped(total));
        this.progress = failed === 0 ? replies : t('{0}, {1} failed', replies, grouped(failed));
        report(this.progress, total === 0 ? undefined : done / total);
        this.timer ??= setTimeout(() => {
          this.timer = undefined;
          this.tell(() => this.show());
        }, PROGRESS_INTERVAL_MS);
      },
    });
  }

  private tell(what: () => Promise<void>): void {
    what().catch((error: unknown) => this.engine.show(error));
  }

  private async show(): Promise<void> {
    const { simulator, person, progress, problem, gap } = this;
    const log = await this.engine.logIfAny();
    await this.post({
      ...{ type: 'show', simulators: await this.simulators(), simulator, person, progress, problem },
      people: log?.valuesOf('player').map(({ value }) => value) ?? [],
      ...(gap && { gap: gapView(this.named(gap)) }),
    });
  }

  /** The agents that ship play no collaborator. */
  private async simulators(): Promise<ToWebview['simulators']> {
    const { engine, simulator } = this;
    const offered = [
      ...['rules', engine.simulatorName, simulator],
      ...engine.localPlaces.map(({ spec }) => spec),
      ...engine.servers.all.map(specOf),
      ...(await engine.editorModels.all()).map(editorSpec),
    ].filter((spec) => spec !== '' && !isShipped(spec));
    return [...new Set(offered)].map((value) => ({ value, label: simulatorCalled(value, engine, t) }));
  }

  private named(gap: SimulatorGap): SimulatorGap {
    return { ...gap, simulator: simulatorCalled(gap.simulator, this.engine, t) };
  }

  private async report(): Promise<void> {
    const { gap } = this;
    if (gap === undefined) return;
    const words = {
      ...{ title: t('Write Report'), name: 'people-and-simulator' },
      said: (file: string) => t('The report is in {0}.', file),
    };
    await saveReport(words, this.engine, (file) => writeFile(file, gapInMarkdown(this.named(gap))));
  }
}

export type SimulatorPanels = Panels<'one', SimulatorPanel>;

export const simulatorPanels = (on: SimulatorContext): SimulatorPanels =>
  onePanel('simulator', on.log.engine, (panel) => new SimulatorPanel(panel, on));

export const gapView = (gap: SimulatorGap): GapView => ({
  tables: gapTables(gap),
  findings: gapFindings(gap),
  notes: gapNotes(gap),
  failures: gap.failures.map(({ message, replies }) =>
    t('{0} ({1})', message, replies.length === 1 ? t('1 reply') : t('{0} replies', grouped(replies.length))),
  ),
  isEmpty: gap.replies === 0,
});
