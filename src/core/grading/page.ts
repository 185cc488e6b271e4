import { Fault } from '../fault';
import { CHECKS_VERSION, checkPage } from '../page/checks';
import { isOfPage, type Outline, type PageReader } from '../page/outline';
import { STRUCTURE_VERSION, structureScore } from '../page/structure';
import type { PageCheck } from '../pageCheck';
import type { PageTask } from '../task/task';
import { gradeByClip, type PageDraft, type PictureEmbedder } from './clip';
import type { Grade, GradingMode } from './grade';
import { notGradable } from './judgement';

/**
 * Scores the last page of a dialogue, and the ones before it: by the task's checks, or by how alike the page and the
 * wanted one look; 0 where there is none, or where it cannot be drawn.
 *
 * @param drafts the pages that the agent showed, in their order
 * @param clip for mode `paper`, whose grade is the published measure
 * @throws {Fault} `page/browser-failed`
 */
export async function gradePage(
  task: PageTask,
  drafts: readonly PageDraft[],
  mode: GradingMode,
  pages: PageReader,
  clip?: PictureEmbedder,
): Promise<Grade> {
  if (mode === 'paper') return gradeByClip(task, drafts, pages, clip);
  if (task.checks !== undefined) return gradeByChecks(task.checks, drafts, mode, pages.sheet);
  const wanted = await drawn(task.reference, pages).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'page/no-browser') return error;
    throw error;
  });
  if (wanted instanceof Fault) return notGradable(mode, [], wanted.english, 0);
  if (typeof wanted === 'string') return notGradable(mode, [], `The wanted page is at fault: ${wanted}`, 0);
  const scores = [];
  for (const { turn, html } of drafts) {
    const draft = await drawn(html, pages);
    const undrawn = { score: 0, parts: {} };
    scores.push({ turn, ...(typeof draft === 'string' ? undrawn : structureScore(draft, wanted)) });
  }
  const { score = 0, parts = {} } = scores.at(-1) ?? {};
  return {
    ...{ mode, reward: score, success: null, tests: [] },
    page: {
      ...{ measure: 'structure', version: STRUCTURE_VERSION, score, parts: { ...parts } },
      drafts: scores.map(({ turn, score }) => ({ turn, score })),
      renderer: await pages.name(),
    },
  };
}

/** With checks a page has a goal that is reached or not, as a function with tests. */
function gradeByChecks(
  checks: readonly PageCheck[],
  drafts: readonly PageDraft[],
  mode: GradingMode,
  sheet: string,
): Grade {
  const scores = drafts.map(({ turn, html }) => {
    const passed = passedChecks(html, checks, sheet);
    return { turn, passed, score: passed.size / checks.length };
  });
  const { score = 0, passed = new Set() } = scores.at(-1) ?? {};
  const parts = Map.groupBy(checks, ({ property }) => property);
  return {
    ...{ mode, reward: score, success: score === 1, tests: [] },
    page: {
      ...{ measure: 'checks', version: CHECKS_VERSION, score },
      parts: Object.fromEntries(
        [...parts].map(([property, of]) => [property, of.filter((one) => passed.has(one)).length / of.length]),
      ),
      drafts: scores.map(({ turn, score }) => ({ turn, score })),
      renderer: 'none',
    },
  };
}

function passedChecks(html: string, checks: readonly PageCheck[], sheet: string): ReadonlySet<PageCheck> {
  try {
    const results = checkPage(html, checks, sheet);
    return new Set(results.filter(({ passed }) => passed).map(({ check }) => check));
  } catch (error) {
    if (isOfPage(error)) return new Set();
    throw error;
  }
}

/** Or why the page cannot be drawn. */
async function drawn(html: string, pages: PageReader): Promise<Outline | string> {
  try {
    return await pages.outlineOf(html);
  } catch (error) {
    if (isOfPage(error)) return error.english;
    throw error;
  }
}
