import { availableParallelism } from 'node:os';
import path from 'node:path';
import { createGrader, type Grader } from '../core/grading/grader';
import { systemPython } from '../core/grading/native/native';
import { cacheFolder } from '../core/training/environment/cache';

/** The command must close it at the end. */
export function openGrader(options: { readonly assets: string; readonly workers?: number }): Promise<Grader> {
  const { assets, workers = availableParallelism() } = options;
  return createGrader({
    assets,
    workers,
    cacheFolder: path.join(cacheFolder(), 'references'),
    native: systemPython(assets, process.env.TANDEM_PYTHON),
  });
}
