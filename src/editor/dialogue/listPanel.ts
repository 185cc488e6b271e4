import * as vscode from 'vscode';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { idOf, type PageName } from '../contributions';
import type { Engine } from '../engine';
import { unlessClosed } from '../logs';
import { Panel } from '../panel';
import type { ShownLog } from '../shownLog';
import { calledFilter, filterWords, type ListFilter } from './filter';

const { t } = vscode.l10n;

/** Minimum milliseconds between counts of a log that grows all the time. */
const AGAIN_AFTER_MS = 1000;

/** The list of trajectories, as far as its panels follow it. */
interface FilteredList {
  readonly onDidChangeFilter: vscode.Event<unknown>;
  /** The filter of the list, for a query of the log. */
  namedFilter(log: TrajectoryLog): Promise<ListFilter>;
}

export interface ListContext {
  readonly extension: vscode.Uri;
  readonly log: ShownLog;
  readonly trajectories: FilteredList;
}

/** The dialogues that the list of trajectories shows. */
export interface Listed {
  /** Absent while there is none. */
  readonly log: TrajectoryLog | undefined;
  readonly filter: TrajectoryFilter;
  /** The filter in words; empty when there is none. */
  readonly filterInWords: string;
  readonly engine: Engine;
  /** Name of the log; undefined where it is the only one. */
  readonly name: string | undefined;
}

/** Base class of the panels with figures of what the list of trajectories shows; they follow the log and the filter. */
export abstract class ListPanel<From extends { readonly type: string }, To> extends Panel<From, To> {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly of: ListContext,
    look: { readonly name: PageName; readonly icon: string },
  ) {
    super(panel, { ...look, extension: of.extension, errors: of.log.engine });
    this.owns(
      of.log.onDidChangeDialogues((episodes) => {
        this.onDidChangeDialogues?.(episodes);
        this.timer ??= setTimeout(() => this.show(), AGAIN_AFTER_MS);
      }),
      of.log.onDidChange(() => this.show()),
      of.trajectories.onDidChangeFilter(() => this.show()),
    );
  }

  protected abstract send(listed: Listed): Promise<void>;

  /** Called before changed dialogues are counted; an empty list means that any may have changed. */
  protected onDidChangeDialogues?(episodes: readonly string[]): void;

  protected show(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    unlessClosed(() => this.list()).catch((error: unknown) => this.of.log.engine.show(error));
  }

  protected chooseFilter(): Thenable<void> {
    return vscode.commands.executeCommand(idOf('filterTrajectories'));
  }

  protected override onClosed(): void {
    clearTimeout(this.timer);
  }

  private async list(): Promise<void> {
    const { name, engine } = this.of.log;
    const log = await engine.logIfAny();
    const filter = log === undefined ? {} : await this.of.trajectories.namedFilter(log);
    const filterInWords = filterWords(calledFilter(filter, log, engine), t);
    await this.send({ log, filter, filterInWords, engine, name });
  }
}
