import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Run } from '../../core/training/runs';
import { RunResults, type RunResult } from '../../core/evaluation/comparison/measuredRuns';
import {
  actions,
  type Action,
  type FromWebview,
  type RunRow,
  type ToWebview,
} from '../../../webview/runs/protocol';
import { idOf, type CommandId } from '../contributions';
import { language } from '../pageHtml';
import { Panel, type Asks } from '../panel';
import { onePanel, type Panels } from '../panels';
import { saveOfPage } from '../savePage';
import type { ShownLog } from '../engines';
import { baseName, dates, duration, methodWord } from '../words';
import type { RunPanels } from './panel';
import type { RunWatch } from './runWatch';
import { tasksWords, namesOf, isAtWork, placeWords, stateWord } from '../run/words';

const { t } = vscode.l10n;

interface RunTableContext {
  readonly extension: vscode.Uri;
  readonly log: ShownLog;
  readonly watch: RunWatch;
  readonly runPanels: RunPanels;
}

const commandOf: Readonly<Record<Action, CommandId>> = {
  compare: idOf('compareRuns'),
  evaluate: idOf('evaluateRuns'),
  tag: idOf('tagRuns'),
};

class RunTablePanel extends Panel<FromWebview, ToWebview> {
  private readonly results = new RunResults();

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: RunTableContext,
  ) {
    super(panel, { ...on, name: 'runs', icon: 'table', errors: on.log.engine, actions });
    this.owns(
      on.watch.onDidLook(() => this.tell()),
      on.log.onDidChange(() => this.tell()),
    );
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => this.on.watch.look(),
    new: () => vscode.commands.executeCommand(idOf('newRun')),
    open: ({ id }) => {
      const [run] = this.runsOf([id]);
      return run && this.on.runPanels.open(run);
    },
    act: ({ action, ids }) => {
      const rows = this.runsOf(ids).map((run) => ({ kind: 'run', run }));
      return rows[0] && vscode.commands.executeCommand(commandOf[action], rows[0], rows);
    },
    save: ({ file }) => saveOfPage(file, this.on.log.engine),
  };

  /** The page may have shown runs that are gone. */
  private runsOf(ids: readonly string[]): Run[] {
    const runs = this.on.watch.all.filter(({ id }) => ids.includes(id));
    if (runs.length < ids.length) {
      const sentence = 'The table of runs asked for a run that is not in the shown log. It was left out.';
      this.on.log.engine.report(new Fault('editor/not-shown', sentence));
    }
    return runs;
  }

  private tell(): void {
    if (this.isInSight) this.send().catch((error: unknown) => this.on.log.engine.report(error));
  }

  private async send(): Promise<void> {
    const { name } = this.on.log;
    this.title = name === undefined ? t('Runs') : t('Runs of {0}', name);
    await this.results.read(this.on.watch.all);
    const runs = runRows(this.on.watch.all, (run) => this.results.of(run));
    await this.postView({ type: 'show', runs });
  }
}

export const runTablePanels = (on: RunTableContext): Panels<'one', RunTablePanel> =>
  onePanel('runs', on.log.engine, (panel) => new RunTablePanel(panel, on));

export function runRows(runs: readonly Run[], resultOf: (run: Run) => RunResult | undefined): RunRow[] {
  const names = namesOf(runs);
  const moments = dates(language(), {
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  });
  return runs.map((run, index) => {
    const { id, state, tags = [], note = '', startedAt, selection, progress } = run;
    const seconds = secondsOf(run);
    const accuracy = progress?.heldOut?.accuracy;
    return {
      ...{ id, tags, note, state, name: names[index]! },
      stateLabel: [
        stateWord(run),
        ...(isAtWork(run) && progress !== undefined ? [placeWords(progress)] : []),
      ].join(', '),
      ...{ method: methodWord(run.method, t), base: baseName(run) },
      ...(selection && { trajectories: selection.trajectories, tasks: selection.tasks }),
      ...figuresOf(resultOf(run)),
      ...(accuracy != null && { pairAccuracy: accuracy }),
      ...{ started: startedAt, startedLabel: moments.format(new Date(startedAt)) },
      ...(seconds !== undefined && { seconds }),
      duration: seconds === undefined ? '' : duration(seconds, t),
    };
  });
}

function figuresOf(result: RunResult | undefined): Pick<RunRow, 'evaluatedOn' | 'success' | 'gain'> {
  if (result === undefined) return { evaluatedOn: '' };
  const { setting, model, start, interval } = result;
  const [after, before] = [model.figures.success, start?.figures.success];
  return {
    evaluatedOn: tasksWords(setting),
    ...(after && { success: { value: after.mean, interval: after.interval } }),
    ...(after !== null &&
      before != null && {
        gain: { value: after.mean - before.mean, ...(interval != null && { interval }) },
      }),
  };
}

/** Undefined before any training. */
function secondsOf({ startedAt, changedAt, process, progress }: Run): number | undefined {
  if (process === undefined && progress === undefined) return undefined;
  return Math.max(0, Math.round((Date.parse(changedAt) - Date.parse(startedAt)) / 1000));
}
