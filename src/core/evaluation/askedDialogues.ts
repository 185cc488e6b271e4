import type { Outline, TrajectoryLog } from '../trajectory/log';
import type { Trajectory } from '../trajectory/trajectory';
import type { AskCounts } from './askF1';
import { EpisodeCache } from './episodeCache';
import { askCounts, isFinished } from './figures';
import type { StatisticsRow } from './statistics';

/** More would hold up a page, because the index has no questions: each dialogue is read. */
const MAX_DIALOGUES = 2000;

export class AskedDialogues extends EpisodeCache<AskCounts | null> {
  protected override read(trajectory: Trajectory): AskCounts | null {
    return isFinished(trajectory) ? (askCounts(trajectory) ?? null) : null;
  }

  /** Beyond `max` the rows stay without counts. */
  async counted(
    log: TrajectoryLog,
    rows: readonly Outline[],
    max = MAX_DIALOGUES,
  ): Promise<readonly StatisticsRow[]> {
    if (rows.length > max) return rows;
    const answered = rows.filter(({ isAnswered }) => isAnswered).map(({ id }) => id);
    const counts = await this.readAll(log, answered);
    return rows.map((row) => ({ ...row, asked: counts.get(row.id) ?? undefined }));
  }
}
