/**
 * Measures how many web pages are drawn and scored in a second, by the structural score and by CLIP, and the time until
 * the first one is. Each page of the pack is drawn once per measure, and scored against the page before it; four grades
 * are given at once, as `tandem collect` does.
 *
 *   npm run build && node test/bench/run.mjs pages PACK [--clip FOLDER] [--browser PROGRAM] [--json]
 *
 * FOLDER is the one that `tandem download clip` fills, or of `test/bench/random_clip.py`, which is as large.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gradePage } from '../../src/core/grading/page';
import { ClipEmbedder } from '../../src/core/model/local/clip/embedder';
import { BrowserPages } from '../../src/core/rendering/browserPages';
import { readTasks } from '../../src/core/task/pack';
import type { PageTask } from '../../src/core/task/task';

const AT_ONCE = 4;

interface Speed {
  readonly measure: string;
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** From nothing running to the first grade. */
  readonly firstMs: number;
}

async function pagesIn(pack: string): Promise<PageTask[]> {
  const tasks: PageTask[] = [];
  for await (const read of readTasks(pack))
    if ('task' in read && read.task.kind === 'page') tasks.push(read.task);
  return tasks;
}

async function speedOf(tasks: readonly PageTask[], browser?: string, folder?: string): Promise<Speed> {
  const pages = new BrowserPages({ sheet: path.resolve('dist/pages/tailwind-2.2.19.css.br'), browser });
  const clip = folder === undefined ? undefined : new ClipEmbedder(path.resolve('dist/embedding.js'), folder);
  const grade = async (index: number): Promise<void> => {
    const html = tasks[(index + 1) % tasks.length]!.reference;
    const mode = clip === undefined ? 'fixed' : 'paper';
    const { page, notGradable } = await gradePage(tasks[index]!, [{ turn: 1, html }], mode, pages, clip);
    if (page === undefined) throw new Error(notGradable);
  };
  try {
    const start = performance.now();
    await grade(0);
    const began = performance.now();
    let next = 1;
    const work = async (): Promise<void> => {
      while (next < tasks.length) await grade(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // The first grade has drawn two pages.
    const drawn = tasks.length - 2;
    return {
      measure: clip === undefined ? 'structure' : 'clip',
      pages: drawn,
      pagesPerSecond: (1000 * drawn) / (performance.now() - began),
      firstMs: began - start,
    };
  } finally {
    await pages.close();
    await clip?.close();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { clip: { type: 'string' }, browser: { type: 'string' }, json: { type: 'boolean' } },
});
const [pack] = positionals;
if (pack === undefined) throw new Error('Name a pack with web pages.');
const tasks = await pagesIn(pack);
const speeds = [await speedOf(tasks, values.browser)];
if (values.clip !== undefined) speeds.push(await speedOf(tasks, values.browser, values.clip));
if (values.json === true) console.log(JSON.stringify(speeds));
else
  for (const { measure, pages, pagesPerSecond, firstMs } of speeds)
    console.log(
      `${measure}: ${pagesPerSecond.toFixed(1)} pages a second (${pages} pages), the first after ${(firstMs / 1000).toFixed(2)} s`,
    );
