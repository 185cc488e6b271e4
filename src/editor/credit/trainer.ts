import { homedir } from 'node:os';
import path from 'node:path';
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Trainer } from '../../core/training/trainer';

const { t } = vscode.l10n;

/**
 * The trainer that ships with this build, in its environment, which is made on first need: gigabytes, so a person is
 * asked before.
 * @returns undefined when the person would rather not
 * @throws {Fault} `training/no-python`, `training/not-installed`, `training/packages-missing`
 * @throws the signal's reason when it is aborted
 */
export async function openShippedTrainer(
  dist: string,
  options: { readonly signal: AbortSignal; readonly onLine: (line: string) => void },
): Promise<Trainer | undefined> {
  const { TANDEM_PYTHON: python = '', TANDEM_TRAINER_PYTHON: ready = '' } = process.env;
  const cache = cacheFolder();
  if (ready === '' && !existsSync(path.join(cache, 'trainer')) && !(await mayInstall())) return undefined;
  const { openTrainer } = await import('../../core/training/environment/environment');
  return openTrainer({
    source: path.join(dist, 'trainer'),
    cache,
    ...(ready !== '' && { ready }),
    ...(python !== '' && { python: { file: python, by: 'TANDEM_PYTHON' } }),
    ...options,
  });
}

async function mayInstall(): Promise<boolean> {
  const install = t('Install');
  const chosen = await vscode.window.showInformationMessage(
    t('This critic has no graphs for this machine, so the trainer scores with it. Install what it needs?'),
    {
      modal: true,
      detail: t('Several gigabytes of Python packages, once. The command tandem onnx makes graphs instead.'),
    },
    install,
  );
  return chosen === install;
}

/** Shared with the command line. */
function cacheFolder(): string {
  const { TANDEM_CACHE, XDG_CACHE_HOME } = process.env;
  return TANDEM_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tandem');
}
