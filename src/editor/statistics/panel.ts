import * as vscode from 'vscode';
import { statisticsTable } from '../../core/evaluation/report/statistics';
import { AskedDialogues } from '../../core/evaluation/askedDialogues';
import { courseOf, groupsOf, type StatisticsRow, type Unit } from '../../core/evaluation/statistics';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import {
  groupings,
  type FromWebview as FromStatistics,
  type Grouping,
  type ToWebview as Statistics,
} from '../../../webview/statistics/protocol';
import { idOf, type PageName } from '../contributions';
import { language } from '../pageHtml';
import { type Asks, Panel } from '../panel';
import { onePanel, type Panels } from '../panels';
import { namesOf } from '../displayNames';
import { saveOfPage } from '../savePage';
import { headline } from '../dialogue/words';
import { dates } from '../words';
import {
  agreementIn,
  type PeoplesAgreement,
  type Disagreement,
} from '../../core/evaluation/people/agreement';
import { PeoplesOpinions } from '../../core/evaluation/people/opinions';
import { parseAgentMessage } from '../../core/dialogue/protocol';
import { PageChoices, unlessUndrawn } from '../../core/evaluation/people/measures';
import {
  alphaTable,
  measuresNote,
  measuresTable,
  peopleNotes,
  peopleTable,
} from '../../core/evaluation/report/people';
import type {
  DisagreementView,
  FromWebview as FromPeople,
  ToWebview as People,
} from '../../../webview/people/protocol';
import type { Engine } from '../engine';
import { unlessClosed } from '../logs';
import type { ShownLog } from '../engines';
import { calledFilter, filterWords, type ListFilter } from '../dialogue/filter';

const { t } = vscode.l10n;

/** Minimum milliseconds between counts of a log that grows all the time. */
const AGAIN_AFTER_MS = 1000;

/** The list of dialogues, whose log and filter the panels follow. */
interface ListContext {
  readonly extension: vscode.Uri;
  readonly log: ShownLog;
  readonly trajectories: {
    readonly onDidChangeFilter: vscode.Event<unknown>;
    namedFilter(log: TrajectoryLog): Promise<ListFilter>;
  };
}

interface Listed {
  readonly log: TrajectoryLog | undefined;
  readonly filter: TrajectoryFilter;
  readonly filterInWords: string;
  readonly engine: Engine;
  readonly name: string | undefined;
}

/** Base class of the panels with figures of the dialogues that the list shows. */
abstract class ListPanel<From extends { readonly type: string }, To> extends Panel<From, To> {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly of: ListContext,
    look: { readonly name: PageName; readonly icon: string },
  ) {
    super(panel, { ...look, extension: of.extension, errors: of.log.engine });
    this.owns(
      of.log.onDidChangeDialogues(() => (this.timer ??= setTimeout(() => this.show(), AGAIN_AFTER_MS))),
      of.log.onDidChange(() => this.show()),
      of.trajectories.onDidChangeFilter(() => this.show()),
    );
  }

  protected abstract send(listed: Listed): Promise<void>;

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

class StatisticsPanel extends ListPanel<FromStatistics, Statistics> {
  private readonly asked = new AskedDialogues();
  private sent = 0;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: ListContext,
  ) {
    super(panel, on, { name: 'statistics', icon: 'graph' });
    this.owns(on.log.onDidChangeDialogues((episodes) => this.asked.forget(episodes)));
  }

  override readonly asks: Asks<FromStatistics> = {
    ready: () => this.show(),
    filter: () => this.chooseFilter(),
    play: () => vscode.commands.executeCommand(idOf('playNext')),
    save: ({ file }) => saveOfPage(file, this.on.log.engine),
  };

  protected override async send({ log, filter, filterInWords, engine, name }: Listed): Promise<void> {
    this.title = name === undefined ? t('Dialogues: statistics') : t('Dialogues of {0}: statistics', name);
    const number = ++this.sent;
    const post = (rows: readonly StatisticsRow[]) =>
      this.post({
        type: 'show',
        headline: log === undefined ? '' : headline(log.count(filter), t),
        filter: filterInWords,
        ...statisticsView(rows, language(), (names, grouping) => namesOf(names, grouping, log, engine)),
      });
    const rows = log?.outlines(filter) ?? [];
    await post(rows);
    if (log === undefined) return;
    // Reading the dialogues takes longer, so all else is shown before.
    const counted = await this.asked.counted(log, rows);
    if (number === this.sent && counted.some(({ asked }) => asked !== undefined)) await post(counted);
  }
}

export const statisticsPanels = (on: ListContext): Panels<'one', StatisticsPanel> =>
  onePanel('statistics', on.log.engine, (panel) => new StatisticsPanel(panel, on));

export function statisticsView(
  rows: readonly StatisticsRow[],
  language: string,
  namesOf: (names: readonly string[], grouping: Grouping) => ReadonlyMap<string, string>,
): Pick<Statistics, 'unit' | 'periods' | 'groups'> {
  const { unit, periods } = courseOf(rows);
  const groups = groupings.map((grouping) => {
    const logged = groupsOf(rows, grouping);
    const names = namesOf(
      logged.map(({ name }) => name),
      grouping,
    );
    const named = logged.map((group) => ({ ...group, name: names.get(group.name)! }));
    return [grouping, statisticsTable({ name: heads[grouping], head: heads[grouping] }, named)];
  });
  const named = periods.map((period) => ({ ...period, name: dateIn(period.from, unit, language) }));
  return {
    unit,
    periods: statisticsTable({ name: t('From'), head: t('From') }, named),
    groups: Object.fromEntries(groups) as Statistics['groups'],
  };
}

const heads: Readonly<Record<Grouping, string>> = {
  agent: t('Agent'),
  pack: t('Pack'),
  collaborator: t('Collaborator'),
};

function dateIn(from: number, unit: Unit, language: string): string {
  const options: Intl.DateTimeFormatOptions =
    unit === 'hour'
      ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }
      : unit === 'month'
        ? { month: 'short', year: 'numeric' }
        : { day: 'numeric', month: 'short' };
  return dates(language, options).format(from);
}

interface PeopleContext extends ListContext {
  readonly open: (episode: string) => Promise<unknown>;
}

class PeoplePanel extends ListPanel<FromPeople, People> {
  private readonly opinions = new PeoplesOpinions();
  private readonly choices = new PageChoices();
  private sent = 0;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: PeopleContext,
  ) {
    super(panel, on, { name: 'people', icon: 'organization' });
    this.owns(
      on.log.onDidChangeDialogues((episodes) => {
        this.opinions.forget(episodes);
        this.choices.forget(episodes);
      }),
    );
  }

  override readonly asks: Asks<FromPeople> = {
    ready: () => this.show(),
    filter: () => this.chooseFilter(),
    open: ({ episode }) => this.on.open(episode),
    simulator: () => vscode.commands.executeCommand(idOf('showSimulator')),
    save: ({ file }) => saveOfPage(file, this.on.log.engine),
  };

  protected override async send({ log, filter, filterInWords, engine, name }: Listed): Promise<void> {
    this.title = name === undefined ? t('People and agreement') : t('{0}: people and agreement', name);
    const agreement = log === undefined ? nobody : await agreementIn(log, this.opinions, filter);
    const shown = { type: 'show', filter: filterInWords, ...agreementView(agreement) } as const;
    const number = ++this.sent;
    await this.post(shown);
    if (log === undefined) return;
    // Drawing takes seconds, so all else is shown before.
    const found = await unlessUndrawn(this.choices.agreement(log, engine.pages, filter));
    if (found === undefined || number !== this.sent) return;
    const measures =
      typeof found === 'string' ? found : { table: measuresTable(found), note: measuresNote(found) };
    await this.post({ ...shown, measures });
  }
}

const nothing = { alpha: undefined, units: 0, values: 0 };
const nobody = {
  people: [],
  shared: 0,
  alpha: { stars: nothing, thumbs: nothing, choices: nothing },
  disagreements: [],
};

export const peoplePanels = (on: PeopleContext): Panels<'one', PeoplePanel> =>
  onePanel('people', on.log.engine, (panel) => new PeoplePanel(panel, on));

export const SHOWN = 100;

export function agreementView(
  agreement: PeoplesAgreement,
): Pick<People, 'people' | 'notes' | 'alpha' | 'disagreements' | 'left'> {
  const { disagreements } = agreement;
  const shown = disagreements.slice(0, SHOWN);
  return {
    people: peopleTable(agreement),
    notes: peopleNotes(agreement),
    alpha: alphaTable(agreement),
    disagreements: shown.map(disagreementView),
    left: disagreements.length - shown.length,
  };
}

function disagreementView(disagreement: Disagreement): DisagreementView {
  const { kind, episode, title, turn, messages, said } = disagreement;
  return {
    ...{ kind, episode, title, said },
    ...(turn !== undefined && { turn }),
    ...(messages && { messages: messages.map(shownText) }),
  };
}

function shownText(text: string): string {
  const { visible, answer } = parseAgentMessage(text);
  return answer ?? visible;
}
