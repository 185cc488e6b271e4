import { lostLines, type LostLines } from '../segment/lostLines';
import { EpisodeReader } from './reader';
import { rowOf, type Row } from './rows';
import type { IndexStore } from './store';

/** Number of episodes that are read whole before they are written. */
const AT_ONCE = 200;

/**
 * Reads whole the episodes for which single lines were not enough.
 * @param since last revision before their lines were read
 * @param changed gets their ids
 */
export async function settle(
  logFolder: string,
  store: IndexStore,
  since: number,
  changed: Set<string>,
): Promise<void> {
  markDoubtful(store, lostLines(store), since, changed);
  const reader = new EpisodeReader(logFolder, store);
  try {
    for (;;) {
      const rows = store.all(`select * from episode where unsettled = 1 limit ${AT_ONCE}`);
      if (rows.length === 0) return;
      const episodes: [Row, Awaited<ReturnType<EpisodeReader['read']>>][] = [];
      for (const row of rows) episodes.push([row, await reader.read(Number(row.number), String(row.id))]);
      for (const [{ number, id, first_segment, first_start, last_at }, episode] of episodes) {
        const revision = store.revision + 1;
        const known = { number, id, first_segment, first_start, last_at, revision, unsettled: 0 };
        const isDamaged = episode?.damage !== undefined || episode?.task === undefined;
        store.putEpisode(rowOf(known, episode?.folding, isDamaged, store));
        changed.add(String(id));
      }
      store.commit();
    }
  } finally {
    await reader.close();
  }
}

/** Marks the episodes that had begun when lines were lost. For one that was deleted or restored, its events decide. */
function markDoubtful(
  store: IndexStore,
  lost: readonly LostLines[],
  since: number,
  changed: Set<string>,
): void {
  if (lost.length === 0) return;
  const text = JSON.stringify(lost);
  const isKnown = store.meta('lost') === text;
  // In a loss's own segment the position decides; in others only the time does, and equal times count as earlier.
  const had = `started_at is not null and revision > ? and exists (select 1 from json_each(?) where
    case when value ->> 'offset' is not null and value ->> 'segment' = first_segment
    then first_start < value ->> 'offset' else started_at <= value ->> 'at' end)`;
  const values = [isKnown ? since : -1, text] as const;
  const rows = store.all(
    `select id from episode where ${had} and (was_deleted = 1 or doubtful = 0)`,
    ...values,
  );
  if (rows.length === 0 && isKnown) return;
  for (const { id } of rows) changed.add(String(id));
  const revision = store.revision + 1;
  store.setMeta('lost', text);
  store.write(`update episode set unsettled = 1 where ${had} and was_deleted = 1`, ...values);
  const sql = `update episode set doubtful = 1, revision = ? where ${had} and was_deleted = 0 and doubtful = 0`;
  store.write(sql, revision, ...values);
  store.commit();
}
