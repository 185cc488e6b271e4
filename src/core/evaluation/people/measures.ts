import { draftOf } from '../../dialogue/drafts';
import { Fault } from '../../fault';
import { type PictureEmbedder, gradePage } from '../../grading/page';
import type { PageMeasure } from '../../grading/grade';
import type { PageReader } from '../../page/outline';
import { isProgram, type PageTask } from '../../task/task';
import type { Picked } from '../../trajectory/event';
import type { TrajectoryFilter, TrajectoryLog } from '../../trajectory/log';
import { opinionsOn } from '../../trajectory/opinions';
import { choicesOf, isOver, type Trajectory } from '../../trajectory/trajectory';
import { EpisodeCache } from '../episodeCache';
import { wilson, type Interval } from '../interval';

/** How often a measure of pages prefers the candidate that a person chose, who did not know who wrote it. */
export interface MeasureAgreement extends Pick<PageMeasure, 'measure' | 'version' | 'renderer'> {
  /** Choices of one candidate, each person's own; without those between two pages of one score. */
  readonly choices: number;
  readonly agreed: number;
  /** Null without a choice. */
  readonly rate: number | null;
  /** 95 % Wilson interval; choices count as independent. */
  readonly interval: Interval;
  /** Choices between two pages of one score, left out. */
  readonly ties: number;
}

export interface PeopleAndMeasures {
  readonly measures: readonly MeasureAgreement[];
  /** Choices of equal or neither between two pages. */
  readonly undecided: number;
  /** Choices in dialogues about pages where a candidate shows no page. */
  readonly withoutPage: number;
}

/** Two candidates and what people picked. */
interface Choice {
  readonly task: PageTask;
  readonly html: readonly [string | undefined, string | undefined];
  readonly picks: readonly Picked[];
}

/** Keeps what it has read and scored, for repeated calls. */
export class PageChoices extends EpisodeCache<readonly Choice[]> {
  private readonly scores = new Map<string, readonly PageMeasure[]>();

  protected override read({ task, state, abandoned, ...rest }: Trajectory): Choice[] {
    // As for all opinions: who may still choose must not see how others chose.
    if (isProgram(task) || !isOver(state, abandoned?.reason)) return [];
    return choicesOf(rest).map((choice) => {
      const [first, second] = choice.shown.candidates;
      const picks = opinionsOn(choice).map(({ picked }) => picked);
      return { task, html: [draftOf(first.text), draftOf(second.text)], picks };
    });
  }

  /**
   * Draws pages only if there are choices between some.
   * @param clip adds the published measure
   * @returns undefined without a choice in a dialogue about a page
   * @throws {Fault} `page/no-browser`, `page/browser-failed`; as `clip`
   */
  async agreement(
    log: TrajectoryLog,
    pages: PageReader,
    filter: TrajectoryFilter = {},
    clip?: PictureEmbedder,
  ): Promise<PeopleAndMeasures | undefined> {
    const everything = { sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY } as const;
    const { rows } = log.list({ filter: { ...filter, chosen: true }, ...everything });
    const read = await this.readAll(
      log,
      rows.map(({ id }) => id),
    );
    const choices = [...read.values()].flat();
    if (choices.length === 0) return undefined;
    const compared: Compared[] = [];
    let [undecided, withoutPage] = [0, 0];
    for (const { task, html, picks } of choices) {
      const [first, second] = html;
      if (first === undefined || second === undefined) {
        withoutPage += picks.length;
        continue;
      }
      const decided = picks.filter((picked) => picked === 0 || picked === 1);
      undecided += picks.length - decided.length;
      if (decided.length === 0) continue;
      const scores = await Promise.all([first, second].map((page) => this.scoresOf(task, page, pages, clip)));
      for (const measured of scores[0]!) {
        const other = scores[1]!.find((one) => keyOf(one) === keyOf(measured));
        if (other !== undefined) compared.push({ measured, lead: other.score - measured.score, decided });
      }
    }
    const byMeasure = Map.groupBy(compared, ({ measured }) => keyOf(measured));
    return { measures: [...byMeasure.values()].map(agreementOf), undecided, withoutPage };
  }

  /** Scores of a page: by the task's checks, if it has any, by structure, and by CLIP, if that is there. */
  private async scoresOf(
    task: PageTask,
    html: string,
    pages: PageReader,
    clip: PictureEmbedder | undefined,
  ): Promise<readonly PageMeasure[]> {
    const { checks, ...drawn } = task;
    const key = JSON.stringify([await pages.name(), clip?.precision, task, html]);
    const known = this.scores.get(key);
    if (known !== undefined) return known;
    const drafts = [{ turn: 1, html }];
    const grades = await Promise.all([
      ...(checks === undefined ? [task] : [task, drawn]).map((one) => gradePage(one, drafts, 'fixed', pages)),
      ...(clip === undefined ? [] : [gradePage(task, drafts, 'paper', pages, clip)]),
    ]);
    const measured = grades.flatMap(({ page }) => page ?? []);
    this.scores.set(key, measured);
    return measured;
  }
}

/** The reason in a sentence where pages cannot be drawn here. */
export async function unlessUndrawn<Found>(found: Promise<Found>): Promise<Found | string> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Fault && error.code === 'page/no-browser') return error.message;
    throw error;
  }
}

/** Two pages by one measure, and what people decided. */
interface Compared {
  readonly measured: PageMeasure;
  /** Of the second page's score over the first's. */
  readonly lead: number;
  readonly decided: readonly (0 | 1)[];
}

const EQUAL = 1e-9;

const keyOf = ({ measure, version, renderer }: PageMeasure): string =>
  JSON.stringify([measure, version, renderer]);

function agreementOf(all: readonly Compared[]): MeasureAgreement {
  const { measure, version, renderer } = all[0]!.measured;
  const picks = all.flatMap(({ lead, decided }) => decided.map((picked) => ({ lead, picked })));
  const told = picks.filter(({ lead }) => Math.abs(lead) >= EQUAL);
  const agreed = told.filter(({ lead, picked }) => picked === Number(lead > 0)).length;
  const choices = told.length;
  const rate = choices === 0 ? null : agreed / choices;
  const interval = wilson(rate ?? 0, choices);
  return { measure, version, renderer, choices, agreed, rate, interval, ties: picks.length - choices };
}
