import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import type { Run, Runs } from '../../core/training/runs';
import type { Preparing } from '../../core/training/start';
import type { Engine } from '../engine';
import { cancellable, type WorkCaller } from '../progress';
import type { RunQueue } from './queue';
import type { EditorTrainer } from '../trainer';
import type { RunWatch } from './runWatch';

const { t } = vscode.l10n;

interface StartedFrom extends WorkCaller {
  readonly from: string;
  readonly folder: string;
  readonly runs?: Runs;
}

export class RunStarter {
  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly queue: RunQueue,
  ) {}

  /** @throws {Fault} `training/bad-configuration` */
  async startFrom(document: vscode.TextDocument, engine: Engine): Promise<Run | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(document.getText());
    } catch (error) {
      throw new Fault(
        'training/bad-configuration',
        t('{0} is not valid JSON: {1}. Fix it, then start it again.', nameOf(document), messageOf(error)),
      );
    }
    const folder = document.isUntitled
      ? (engine.configuration.folder?.uri.fsPath ?? engine.dataFolder)
      : path.dirname(document.uri.fsPath);
    return this.start(value, { from: nameOf(document), folder });
  }

  /**
   * @param folder against which relative paths of the configuration resolve
   * @param runs by default those of the shown log
   * @returns undefined when the person declined or cancelled: then there is no run
   * @throws {Fault} as `startRun`, and `editor/no-folder`
   */
  async start(
    value: unknown,
    { from, folder, runs = this.watch.runs, ...caller }: StartedFrom,
  ): Promise<Run | undefined> {
    if (runs === undefined)
      throw new Fault('editor/no-folder', t('Open a folder first: runs are kept in it.'));
    const { parseConfiguration } = await import('../../core/training/configuration');
    const { startRun } = await import('../../core/training/start');
    const configuration = await parseConfiguration(value, { from, folder });
    if (!(await this.trainer.mayInstall())) return undefined;
    const prepared = await cancellable(
      t('Starting a run'),
      async (signal, report) => {
        report(t('looking for the trainer'));
        const trainer = await this.trainer.open(signal, report);
        const run = await startRun(runs, {
          ...{ configuration, trainer, signal, queued: true },
          prompts: this.trainer.prompts,
          onProgress: (what) => report(preparingWords(what)),
        });
        return { run, trainer };
      },
      caller,
    );
    if (prepared === undefined) return undefined;
    // The run exists now: stop it instead of cancelling.
    await this.queue.begin(prepared.trainer);
    return runs.read(prepared.run.id);
  }
}

function preparingWords(what: Preparing): string {
  switch (what) {
    case 'data':
      return t('taking the data from the log');
    case 'checks':
      return t('checking configuration and machine');
    case 'plan':
      return t('planning');
    case 'launch':
      return t('launching the trainer');
  }
}

const nameOf = ({ fileName }: vscode.TextDocument): string => path.basename(fileName);
