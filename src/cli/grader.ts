import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';
import { createGrader, type Grader } from '../core/grading/grader';
import { systemPython } from '../core/grading/native/native';

/** Where Tandem keeps what it can make again. */
export function cacheFolder(): string {
  const { TANDEM_CACHE, XDG_CACHE_HOME } = process.env;
  return TANDEM_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tandem');
}

/** A grader for one command; close it at the end. */
export function openGrader(options: { readonly assets: string; readonly workers?: number }): Promise<Grader> {
  const { assets, workers = availableParallelism() } = options;
  return createGrader({
    assets,
    workers,
    cacheFolder: path.join(cacheFolder(), 'references'),
    native: systemPython(assets, process.env.TANDEM_PYTHON),
  });
}
