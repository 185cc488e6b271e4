import { Fault } from '../fault';
import { isOfPage, type Outline, type PageReader } from '../page/outline';
import { STRUCTURE_VERSION, structureScore } from '../page/structure';
import type { PageTask } from '../task/task';
import { gradeByClip, type PageDraft, type PictureEmbedder } from './clip';
import type { Grade, GradingMode } from './grade';
import { notGradable } from './judgement';

/**
 * Scores the last page of a dialogue by how alike it and the wanted page look, and the ones before it; 0 where there is
 * none, or where it cannot be drawn.
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

/** Or why the page cannot be drawn. */
async function drawn(html: string, pages: PageReader): Promise<Outline | string> {
  try {
    return await pages.outlineOf(html);
  } catch (error) {
    if (isOfPage(error)) return error.english;
    throw error;
  }
}
