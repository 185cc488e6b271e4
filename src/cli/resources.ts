import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { GradingMode } from '../core/grading/grade';
import { createGrader, type AnswerRunner, type Grader } from '../core/grading/grader';
import { systemPython } from '../core/grading/native/native';
import { ClipEmbedder, clipIfThere } from '../core/model/local/clip/embedder';
import { BrowserPages } from '../core/rendering/browserPages';
import { cacheFolder } from '../core/training/environment/cache';
import { openTrainer } from '../core/training/environment/environment';
import { serveCommand, type Trainer } from '../core/training/trainer';
import { TrajectoryLog } from '../core/trajectory/log';
import type { CliContext } from './command';
import { say } from './terminal';

/** The trainer that ships with this build; its environment is made on first need. */
export function openShippedTrainer({
  assets,
  signal,
}: Pick<CliContext, 'assets' | 'signal'>): Promise<Trainer> {
  const { TANDEM_PYTHON: python, TANDEM_TRAINER_PYTHON: ready } = process.env;
  return openTrainer({
    source: path.join(assets, 'trainer'),
    cache: cacheFolder(),
    serve: serveCommand(assets),
    ...(isGiven(ready) && { ready }),
    ...(isGiven(python) && { python: { file: python, by: 'TANDEM_PYTHON' } }),
    signal,
    onLine: say,
  });
}

function isGiven(variable: string | undefined): variable is string {
  return variable !== undefined && variable !== '';
}

/** What a command has opened: it is closed when the command ends or fails, the last first. */
export class Opened implements AsyncDisposable {
  private readonly parts: Closable[] = [];

  add<Part extends Closable | undefined>(part: Part): Part {
    if (part !== undefined) this.parts.unshift(part);
    return part;
  }

  async close(): Promise<void> {
    for (const part of this.parts) await part.close?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface Closable {
  readonly close?: () => Promise<unknown>;
}

export function openGrader(options: {
  readonly assets: string;
  readonly workers?: number;
}): Promise<Grader & AnswerRunner> {
  const { assets, workers = availableParallelism() } = options;
  return createGrader({
    assets,
    workers,
    cache: { folder: path.join(cacheFolder(), 'references'), onNotice: say },
    native: systemPython(assets, process.env.TANDEM_PYTHON),
  });
}

export const openPages = ({ assets }: Pick<CliContext, 'assets'>, browser?: string): BrowserPages =>
  new BrowserPages({ sheet: path.join(assets, 'pages', 'tailwind-2.2.19.css.br'), browser });

/**
 * CLIP for the published measure of pages. The command must close it at the end.
 * @param folder by default where `tandem download clip` puts it
 * @throws {Fault} `model/no-folder`
 */
export const openClip = (
  { assets }: Pick<CliContext, 'assets'>,
  folder = path.join(cacheFolder(), 'clip'),
): ClipEmbedder => new ClipEmbedder(path.join(assets, 'embedding.js'), folder);

export interface PageOptions {
  readonly browser?: string;
  readonly clip?: string;
}

/** What draws web pages, and CLIP for their published measure; neither without pages. */
export function openDrawing(
  hasPages: boolean,
  { browser, clip, mode }: PageOptions & { readonly mode: GradingMode },
  to: Pick<CliContext, 'assets'>,
  opened: Opened,
): { readonly pages?: BrowserPages; readonly clip?: ClipEmbedder } {
  if (!hasPages) return {};
  const pages = opened.add(openPages(to, browser));
  return mode === 'paper' ? { pages, clip: opened.add(openClip(to, clip)) } : { pages };
}

/** CLIP where `tandem download clip` puts it; undefined if it is not there, which grades then say. */
export const cachedClip = ({ assets }: Pick<CliContext, 'assets'>): ClipEmbedder | undefined =>
  clipIfThere(path.join(assets, 'embedding.js'), path.join(cacheFolder(), 'clip'));

/** Reports the log's notes and problems on stderr. */
export async function openLog(folder: string, signal: AbortSignal): Promise<TrajectoryLog> {
  const log = await TrajectoryLog.open(folder, { signal });
  for (const note of log.notes) say(note);
  for (const { file, line, reason } of log.problems) say(`${file}:${line}: ${reason}`);
  return log;
}

export async function withLog<T>(
  folder: string,
  signal: AbortSignal,
  use: (log: TrajectoryLog) => T | Promise<T>,
): Promise<T> {
  const log = await openLog(folder, signal);
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}
