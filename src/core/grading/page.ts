import { Fault } from '../fault';
import { CHECKS_VERSION, checkPage } from '../page/checks';
import { cosine } from '../page/clipInput';
import { isOfPage, type PageReader } from '../page/outline';
import { STRUCTURE_VERSION, structureScore } from '../page/structure';
import type { PageCheck } from '../pageCheck';
import type { PageTask } from '../task/task';
import type { Grade, GradingMode } from './grade';
import { notGradable } from './judgement';

/** Raise it when the same two pictures could get another score than before. */
const CLIP_VERSION = 1;

/** A page that the agent showed. */
interface PageDraft {
  readonly turn: number;
  readonly html: string;
}

/** CLIP's half that reads pictures. */
export interface PictureEmbedder {
  /** Of the weights: scores by quantized ones are another measure. */
  readonly precision: 'fp32' | 'int8';
  /** @param png undefined for the black square that stands for no page */
  embed(png: Buffer | undefined): Promise<Float32Array>;
}

/**
 * Scores the last page of a dialogue, and the ones before it: by the task's checks, or by how alike the page and the
 * wanted one look; 0 where there is none, or where it cannot be drawn.
 *
 * @param drafts the pages that the agent showed, in their order
 * @param clip for mode `paper`, whose grade is the published measure
 * @throws {Fault} `page/browser-failed`; of `clip`, `model/damaged-folder`, `model/inference-ended`
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
  const outlineOf = pages.outlineOf.bind(pages);
  const wanted = await wantedPage(task, outlineOf);
  if (typeof wanted === 'string') return notGradable(mode, [], wanted, 0);
  const scores = [];
  for (const { turn, html } of drafts) {
    const draft = await unlessAtFault(() => outlineOf(html));
    const undrawn = { score: 0, parts: {} };
    scores.push({ turn, ...(draft === undefined ? undrawn : structureScore(draft, wanted)) });
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
async function gradeByChecks(
  checks: readonly PageCheck[],
  drafts: readonly PageDraft[],
  mode: GradingMode,
  sheet: string,
): Promise<Grade> {
  const scores = [];
  for (const { turn, html } of drafts) {
    const results = (await unlessAtFault(() => checkPage(html, checks, sheet))) ?? [];
    const passed = new Set(results.filter((result) => result.passed).map(({ check }) => check));
    scores.push({ turn, passed, score: passed.size / checks.length });
  }
  const { score = 0, passed = new Set() } = scores.at(-1) ?? {};
  const parts = [...Map.groupBy(checks, ({ property }) => property)].map(([property, of]) => [
    property,
    of.filter((one) => passed.has(one)).length / of.length,
  ]);
  return {
    ...{ mode, reward: score, success: score === 1, tests: [] },
    page: {
      ...{ measure: 'checks', version: CHECKS_VERSION, score },
      parts: Object.fromEntries(parts) as Record<string, number>,
      drafts: scores.map(({ turn, score }) => ({ turn, score })),
      renderer: 'none',
    },
  };
}

/**
 * The published measure (arXiv 2503.15478): cosine of the CLIP features of the last page's picture and the wanted one's,
 * each as tall as its content and cropped to its middle. No page, and one that cannot be drawn, counts as a black square.
 */
async function gradeByClip(
  task: PageTask,
  drafts: readonly PageDraft[],
  pages: PageReader,
  clip: PictureEmbedder | undefined,
): Promise<Grade> {
  const unable = (reason: string): Grade => notGradable('paper', [], reason, 0);
  if (clip === undefined)
    return unable('The published measure of web pages needs CLIP. Fetch it with: tandem download clip');
  const pictureOf = pages.pictureOf?.bind(pages);
  if (pictureOf === undefined)
    return unable('The published measure compares pictures, which only a browser of this machine draws.');
  const wanted = await wantedPage(task, pictureOf);
  if (typeof wanted === 'string') return unable(wanted);
  const goal = await clip.embed(wanted);
  const scoreOf = async (picture: Buffer | undefined): Promise<number> =>
    // Features of real weights are never opposite; a reward is at least 0.
    Math.max(0, cosine(await clip.embed(picture), goal));
  const scores = [];
  for (const { turn, html } of drafts)
    scores.push({ turn, score: await scoreOf(await unlessAtFault(() => pictureOf(html))) });
  const score = scores.at(-1)?.score ?? (await scoreOf(undefined));
  const measure = clip.precision === 'fp32' ? 'clip' : `clip-${clip.precision}`;
  return {
    ...{ mode: 'paper', reward: score, success: null, tests: [] },
    page: {
      ...{ measure, version: CLIP_VERSION, score, parts: {}, drafts: scores },
      renderer: await pages.name(),
    },
  };
}

/** Or why no draft can be compared with it. */
async function wantedPage<Page>(
  { reference }: PageTask,
  draw: (html: string) => Promise<Page>,
): Promise<Page | string> {
  try {
    return await draw(reference);
  } catch (error) {
    if (isOfPage(error)) return `The wanted page is at fault: ${error.english}`;
    if (error instanceof Fault && error.code === 'page/no-browser') return error.english;
    throw error;
  }
}

/** Undefined where the page itself is at fault. */
export async function unlessAtFault<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isOfPage(error)) return undefined;
    throw error;
  }
}
