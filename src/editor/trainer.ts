import path from 'node:path';
import * as vscode from 'vscode';
import { cacheFolder } from '../core/training/environment/cache';
import type { TrainerOptions } from '../core/training/environment/environment';
import type { Trainer } from '../core/training/trainer';
import type { Configuration } from './configuration';
import { cancellable, type Report } from './progress';
import { chosenPython } from './pythonEnvironments';

const { t } = vscode.l10n;

/** The trainer that ships with Tandem, in its environment, which is made on first need. */
export class EditorTrainer {
  /** @param assets the folder of the built extension */
  constructor(
    readonly assets: string,
    private readonly configuration: Configuration,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** @throws {Fault} `training/no-python`, `training/not-installed`, `training/packages-missing` */
  async open(signal: AbortSignal, report?: Report): Promise<Trainer> {
    const { openTrainer } = await import('../core/training/environment/environment');
    return openTrainer({
      ...(await this.options()),
      signal,
      onLine: (line) => {
        this.output.info(line);
        report?.(line);
      },
    });
  }

  /**
   * Whether it can be opened without downloading anything.
   * @throws {Fault} `training/no-python`
   */
  async isInstalled(): Promise<boolean> {
    const { isInstalled } = await import('../core/training/environment/environment');
    return isInstalled(await this.options());
  }

  /** The same with a notification that can cancel it. @returns undefined when the person did */
  async openVisibly(title: string): Promise<Trainer | undefined> {
    return cancellable(title, (signal, report) => {
      report(t('Looking for the trainer'));
      return this.open(signal, report);
    });
  }

  /**
   * Asks before gigabytes are installed for something small; where they are there, it is true at once.
   * @param question what needs the trainer, and whether it may be installed for that
   * @throws {Fault} `training/no-python`
   */
  async mayInstall(question: string, detail: string): Promise<boolean> {
    if (await this.isInstalled()) return true;
    const install = t('Install');
    const chosen = await vscode.window.showInformationMessage(question, { modal: true, detail }, install);
    return chosen === install;
  }

  /** The folder of the prompts that ship with Tandem. */
  get prompts(): string {
    return path.join(this.assets, 'prompts');
  }

  private async options(): Promise<TrainerOptions> {
    const { TANDEM_PYTHON: python = '', TANDEM_TRAINER_PYTHON: ready = '' } = process.env;
    return {
      source: path.join(this.assets, 'trainer'),
      cache: cacheFolder(),
      ...(ready !== '' && { ready }),
      ...(await this.python(python)),
    };
  }

  /** What a person has named for Tandem is used or refused; what is chosen for the folder's own code is a suggestion. */
  private async python(variable: string): Promise<Pick<TrainerOptions, 'python' | 'preferred'>> {
    const { trainingPython, folder } = this.configuration;
    if (trainingPython !== '') return { python: { file: trainingPython, by: 'tandem.training.python' } };
    if (variable !== '') return { python: { file: variable, by: 'TANDEM_PYTHON' } };
    const preferred = await chosenPython(folder?.uri);
    return preferred === undefined ? {} : { preferred };
  }
}
