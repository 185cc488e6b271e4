import type { DraftProgress } from '../figureSchemas';
import { draftsOf } from '../../dialogue/drafts';
import { readReply } from '../../page/claims';
import { checkPage } from '../../page/checks';
import { type DraftReading, OutlineReading, CheckReading, type ReadReply } from '../../page/draftReading';
import { unlessAtFault } from '../../grading/page';
import type { PageReader } from '../../page/outline';
import { isProgram, type PageTask } from '../../task/task';
import type { Trajectory, Turn } from '../../trajectory/trajectory';
import { meanRate, type Estimate } from '../interval';

type Counts = ReturnType<typeof zero>;

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
  for (const { task, turns } of finished) {
    if (isProgram(task)) continue;
    const read = await readerOf(task, pages);
    if (read === undefined) continue;
    const counts = byTask.get(task.id) ?? zero();
    byTask.set(task.id, counts);
    await count(turns, read, counts);
  }
  if (byTask.size === 0) return undefined;
  const all = [...byTask.values()];
  const sum = (of: keyof Counts): number => all.reduce((total, counts) => total + counts[of], 0);
  const share = (part: keyof Counts, whole: keyof Counts): Estimate | null =>
    meanRate(all.flatMap((counts) => (counts[whole] === 0 ? [] : [counts[part] / counts[whole]])));
  return {
    ...{ told: sum('told'), applied: share('applied', 'told') },
    ...{ redrafts: sum('redrafts'), regressed: share('regressed', 'redrafts') },
    ...{ claims: sum('claims'), falseClaims: share('falseClaims', 'claims'), unread: sum('unread') },
  };
}

const zero = () => ({
  ...{ told: 0, applied: 0, redrafts: 0, regressed: 0 },
  ...{ claims: 0, falseClaims: 0, unread: 0 },
});

interface ReadDraft {
  readonly reading: DraftReading;
  readonly readReply: (reply: string) => ReadReply;
}

/** Reads a draft; undefined where the draft itself is at fault. */
type DraftReader = (html: string) => Promise<ReadDraft | undefined>;

/** By the task's checks, else by outlines; undefined where the wanted page itself is at fault. */
async function readerOf(
  { reference, checks }: PageTask,
  pages: PageReader,
): Promise<DraftReader | undefined> {
  if (checks !== undefined) {
    return (html) =>
      unlessAtFault(() => {
        const reading = new CheckReading(checkPage(html, checks, pages.sheet));
        return { reading, readReply: (reply) => reading.readReply(reply) };
      });
  }
  const wanted = await unlessAtFault(() => pages.outlineOf(reference));
  if (wanted === undefined) return undefined;
  return async (html) => {
    const draft = await unlessAtFault(() => pages.outlineOf(html));
    if (draft === undefined) return undefined;
    const reading = new OutlineReading(draft, wanted);
    return { reading, readReply: (reply) => readReply(reply, reading) };
  };
}

async function count(turns: readonly Turn[], read: DraftReader, counts: Counts): Promise<void> {
  let before: { readonly reading: DraftReading; readonly reply: ReadReply | undefined } | undefined;
  const drafts = new Map(draftsOf(turns).map(({ turn, html }) => [turn, html]));
  for (const { agent, reply } of turns) {
    const html = drafts.get(agent.turn);
    const draft = html === undefined ? undefined : await read(html);
    if (draft === undefined) continue;
    const { reading } = draft;
    if (before !== undefined) {
      const told = new Set(before.reply?.claims.flatMap(({ mistake }) => mistake ?? []));
      counts.told += told.size;
      counts.applied += [...told].filter((mistake) => reading.hasRight(mistake)).length;
      counts.redrafts += 1;
      counts.regressed += Number(reading.isWorseThan(before.reading));
    }
    const said = reply && draft.readReply(reply.text);
    if (said !== undefined && reply?.author === 'simulator') {
      counts.claims += said.claims.length;
      counts.falseClaims += said.claims.filter(({ isTrue }) => !isTrue).length;
      counts.unread += said.unread;
    }
    before = { reading, reply: said };
  }
}
