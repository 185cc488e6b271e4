import { draftsOf } from '../../dialogue/drafts';
import { readReply, type ReadReply } from '../../page/claims';
import { OutlineReading } from '../../page/draftReading';
import { isOfPage, type Outline, type PageReader } from '../../page/outline';
import { isProgram } from '../../task/task';
import type { Trajectory } from '../../trajectory/trajectory';
import { wilson, type Estimate } from '../interval';

/** What happens from draft to draft. Rates are averaged per task first, with 95 % Wilson intervals over tasks. */
export interface DraftProgress {
  /** Differences that replies told and that a later draft could mend. */
  readonly told: number;
  /** Share of them that the next draft has right. */
  readonly applied: Estimate | null;
  /** Drafts that followed another. */
  readonly redrafts: number;
  /** Share of those that have something wrong that the draft before had right. */
  readonly regressed: Estimate | null;
  /** Sentences of a simulator about the pages that could be read with certainty. */
  readonly claims: number;
  /** Share of those that are false of the pages. */
  readonly falseClaims: Estimate | null;
  /** Sentences of a simulator that were left unread. */
  readonly unread: number;
}

interface Counts {
  told: number;
  applied: number;
  redrafts: number;
  regressed: number;
  claims: number;
  falseClaims: number;
  unread: number;
}

/**
 * Reads the drafts of finished dialogues about pages as they were drawn. Drafts that cannot be drawn are left out.
 * @returns undefined without such a dialogue
 * @throws {Fault} `page/no-browser`, `page/browser-failed`
 */
export async function draftProgress(
  finished: readonly Trajectory[],
  pages: PageReader,
): Promise<DraftProgress | undefined> {
  const byTask = new Map<string, Counts>();
  for (const trajectory of finished) {
    if (isProgram(trajectory.task)) continue;
    const { id, reference } = trajectory.task;
    const wanted = await drawn(reference, pages);
    if (wanted === undefined) continue;
    const counts = byTask.get(id) ?? zero();
    byTask.set(id, counts);
    await count(trajectory, wanted, pages, counts);
  }
  if (byTask.size === 0) return undefined;
  const all = [...byTask.values()];
  const sum = (of: keyof Counts): number => all.reduce((total, counts) => total + counts[of], 0);
  const share = (part: keyof Counts, whole: keyof Counts): Estimate | null => {
    const shares = all.flatMap((counts) => (counts[whole] === 0 ? [] : [counts[part] / counts[whole]]));
    if (shares.length === 0) return null;
    const mean = shares.reduce((total, one) => total + one, 0) / shares.length;
    return { mean, interval: wilson(mean, shares.length) };
  };
  return {
    ...{ told: sum('told'), applied: share('applied', 'told') },
    ...{ redrafts: sum('redrafts'), regressed: share('regressed', 'redrafts') },
    ...{ claims: sum('claims'), falseClaims: share('falseClaims', 'claims'), unread: sum('unread') },
  };
}

const zero = (): Counts => ({
  ...{ told: 0, applied: 0, redrafts: 0, regressed: 0 },
  ...{ claims: 0, falseClaims: 0, unread: 0 },
});

async function count(
  { turns }: Trajectory,
  wanted: Outline,
  pages: PageReader,
  counts: Counts,
): Promise<void> {
  let before: { readonly reading: OutlineReading; readonly reply: ReadReply | undefined } | undefined;
  const drafts = new Map(draftsOf(turns).map(({ turn, html }) => [turn, html]));
  for (const { agent, reply } of turns) {
    const html = drafts.get(agent.turn);
    const outline = html === undefined ? undefined : await drawn(html, pages);
    if (outline === undefined) continue;
    const reading = new OutlineReading(outline, wanted);
    if (before !== undefined) {
      const told = new Set(before.reply?.claims.flatMap(({ mistake }) => mistake ?? []));
      counts.told += told.size;
      counts.applied += [...told].filter((mistake) => reading.hasRight(mistake)).length;
      counts.redrafts += 1;
      counts.regressed += Number(reading.isWorseThan(before.reading));
    }
    const read = reply && readReply(reply.text, reading);
    if (read !== undefined && reply?.author === 'simulator') {
      counts.claims += read.claims.length;
      counts.falseClaims += read.claims.filter(({ isTrue }) => !isTrue).length;
      counts.unread += read.unread;
    }
    before = { reading, reply: read };
  }
}

/** Undefined where the page itself is at fault. */
async function drawn(html: string, pages: PageReader): Promise<Outline | undefined> {
  try {
    return await pages.outlineOf(html);
  } catch (error) {
    if (isOfPage(error)) return undefined;
    throw error;
  }
}
