import path from 'node:path';
import { cacheFolder } from '../core/training/environment/cache';
import { openTrainer } from '../core/training/environment/environment';
import { serveCommand, type Trainer } from '../core/training/trainer';
import type { CliContext } from './command';
import { say } from './output';

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
