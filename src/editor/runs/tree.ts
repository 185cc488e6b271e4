import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { RunResults, type RunResult } from '../../core/evaluation/comparison/measuredRuns';
import { curveFindings } from '../../core/evaluation/report/curve';
import { inWords } from '../../core/evaluation/report/table';
import type { SavedCurves } from '../../core/evaluation/savedCurves';
import { mayFinish } from '../../core/training/lifecycle';
import { canPlay } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { contextKeys, views, idOf, contextValues } from '../contributions';
import type { ShownLog } from '../engines';
import { Tree, tooltip } from '../tree';
import { curvesOf } from './curvePanel';
import type { RunQueue } from './queue';
import type { RunWatch } from './runWatch';
import {
  isAtWork,
  runName,
  runStatus,
  isUnstarted,
  runDetails,
  spokenRun,
  tagWords,
  resultInShort,
} from '../run/words';

const { t } = vscode.l10n;

/** Newest first; learning curves are a row above the runs. */
export class RunTree extends Tree<RunNode | CurvesNode> {
  private readonly results = new RunResults();
  private curves: SavedCurves = { curves: [], unreadable: [] };

  constructor(
    private readonly watch: RunWatch,
    private readonly queue: RunQueue,
    private readonly log: ShownLog,
    report: (error: unknown) => void,
  ) {
    super(views.runs, { canSelectMany: true });
    this.owns(
      watch.onDidChange(() => this.show()),
      queue.onDidChange(() => this.show()),
      log.onDidChange(() => this.show()),
      watch.onDidLook(() => void this.readResults()),
      watch.onDidLook(() => this.readCurves().catch(report)),
    );
    this.eachMinute(() => void watch.look().then(() => this.show()));
  }

  protected async children(node?: RunNode | CurvesNode): Promise<(RunNode | CurvesNode)[]> {
    if (node !== undefined) return [];
    // No look has finished yet.
    if (this.watch.all.length === 0) await this.watch.look();
    void vscode.commands.executeCommand('setContext', contextKeys.runsAreRead, true);
    await this.results.read(this.watch.all);
    const runs = this.watch.all.map((run): RunNode => ({ kind: 'run', run }));
    const { curves, unreadable } = this.curves;
    return curves.length + unreadable.length === 0
      ? runs
      : [{ kind: 'curves', curves: this.curves }, ...runs];
  }

  getTreeItem(node: RunNode | CurvesNode): vscode.TreeItem {
    if (node.kind === 'curves') return curvesItem(node.curves);
    return itemOf(node, this.queue.halted, this.results.of(node.run));
  }

  private async readResults(): Promise<void> {
    if (this.view.visible && (await this.results.read(this.watch.all))) this.show();
  }

  private async readCurves(): Promise<void> {
    const read = await curvesOf(this.watch);
    if (isDeepStrictEqual(read, this.curves)) return;
    this.curves = read;
    this.show();
  }

  /** The run at work stays visible while the view is folded. */
  private show(): void {
    const { halted } = this.queue;
    this.view.message = halted === undefined ? undefined : t('The queue is halted: {0}', halted);
    void vscode.commands.executeCommand('setContext', contextKeys.queueIsHalted, halted !== undefined);
    const [first, ...others] = this.watch.live.filter(isAtWork);
    const live =
      first === undefined
        ? []
        : [
            `${runName(first)} ${runStatus(first, Date.now())}`,
            ...(others.length === 0 ? [] : [t('{0} more', others.length)]),
          ];
    this.view.description = [...(this.log.name === undefined ? [] : [this.log.name]), ...live].join(' · ');
    this.redraw();
  }
}

export interface RunNode {
  readonly kind: 'run';
  readonly run: Run;
}

export interface CurvesNode {
  readonly kind: 'curves';
  readonly curves: SavedCurves;
}

/** Says the verdict of the newest curve. */
function curvesItem({ curves, unreadable }: SavedCurves): vscode.TreeItem {
  const label = curves.length === 1 ? t('Learning curve') : t('Learning curves');
  const item = new vscode.TreeItem(label);
  const [newest] = curves;
  item.id = 'curves';
  item.description = [
    ...(newest === undefined ? [] : [inWords(curveFindings(newest.curve)[0]!, t)]),
    ...(unreadable.length === 0 ? [] : [t('{0} not readable', unreadable.length)]),
  ].join(' · ');
  item.iconPath = new vscode.ThemeIcon('graph-line');
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  item.tooltip = t('Success after training on parts of the dialogues, with intervals');
  item.command = { command: idOf('showCurves'), title: t('Show the learning curves') };
  return item;
}

/** Last lines of the trainer's log in a hover. */
const MAX_LINES = 6;

/** @param halted why the queue is halted */
function itemOf(node: RunNode, halted?: string, evaluation?: RunResult): vscode.TreeItem {
  const { run } = node;
  const now = Date.now();
  const result = evaluation && resultInShort(evaluation);
  const item = new vscode.TreeItem(runName(run));
  item.id = run.folder;
  item.description = [runStatus(run, now, halted, result), ...tagWords(run)].join(' · ');
  item.iconPath = iconOf(run, halted);
  item.contextValue = contextOf(run, evaluation !== undefined);
  item.tooltip = tooltipOf(run, halted);
  item.accessibilityInformation = { label: spokenRun(run, now, halted, result) };
  item.command = { command: idOf('openRun'), title: t('Open the run'), arguments: [node] };
  return item;
}

function contextOf(run: Run, isEvaluated: boolean): string {
  if (isAtWork(run)) return mayFinish(run) ? contextValues.liveRunWithPolicy : contextValues.liveRun;
  if (run.state === 'queued') return contextValues.queuedRun;
  if (run.canResume) return contextValues.restingRun;
  return isEvaluated || !canPlay(run) || run.role !== undefined
    ? contextValues.doneRun
    : contextValues.unevaluatedRun;
}

/** Shape distinguishes the states; colour only repeats it. */
const icons: Readonly<Record<Run['state'], readonly [icon: string, color?: string]>> = {
  running: ['loading~spin'],
  stopped: ['debug-pause'],
  queued: ['clock'],
  done: ['pass-filled', 'testing.iconPassed'],
  lost: ['question', 'list.warningForeground'],
  failed: ['error', 'list.errorForeground'],
};

function iconOf({ state }: Run, halted: string | undefined): vscode.ThemeIcon {
  const [icon, color] = state === 'queued' && halted !== undefined ? (['warning'] as const) : icons[state];
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

function tooltipOf(run: Run, halted: string | undefined): vscode.MarkdownString {
  const text = tooltip(runName(run), [
    ...runDetails(run, halted),
    ...(run.lastLines.length > 0 ? [t('The trainer said last:')] : []),
  ]);
  if (run.lastLines.length > 0) text.appendCodeblock(run.lastLines.slice(-MAX_LINES).join('\n'), 'text');
  if (run.canResume && run.state !== 'queued' && !isUnstarted(run))
    text.appendMarkdown(`\n\n${t('“Resume Run” continues from its last checkpoint.')}`);
  return text;
}
