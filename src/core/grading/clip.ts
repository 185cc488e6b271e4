import { cosine } from '../page/clipInput';
import { isOfPage, type PageReader } from '../page/outline';
import type { PageTask } from '../task/task';
import type { Grade } from './grade';
import { notGradable } from './judgement';

/** Raise it when the same two pictures could get another score than before. */
const CLIP_VERSION = 1;

/** A page that the agent showed. */
export interface PageDraft {
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
 * The published measure (arXiv 2503.15478): cosine of the CLIP features of the last page's picture and the wanted one's,
 * each as tall as its content and cropped to its middle. No page, and one that cannot be drawn, counts as a black square.
 *
 * @throws {Fault} `page/no-browser`, `page/browser-failed`, `model/damaged-folder`, `model/inference-ended`
 */
export async function gradeByClip(
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
  const wanted = await drawn(task.reference, pictureOf);
  if (typeof wanted === 'string') return unable(`The wanted page is at fault: ${wanted}`);
  const goal = await clip.embed(wanted);
  const scoreOf = async (picture: Buffer | undefined): Promise<number> =>
    // Features of real weights are never opposite; a reward is at least 0.
    Math.max(0, cosine(await clip.embed(picture), goal));
  const scores = [];
  for (const { turn, html } of drafts) {
    const picture = await drawn(html, pictureOf);
    scores.push({ turn, score: await scoreOf(typeof picture === 'string' ? undefined : picture) });
  }
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

/** Or why the page cannot be drawn. */
async function drawn(html: string, pictureOf: (html: string) => Promise<Buffer>): Promise<Buffer | string> {
  try {
    return await pictureOf(html);
  } catch (error) {
    if (isOfPage(error)) return error.english;
    throw error;
  }
}
