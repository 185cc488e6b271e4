import path from 'node:path';
import * as vscode from 'vscode';
import { cacheFolder, environmentSize } from '../core/training/environment/cache';
import type { TrainerOptions } from '../core/training/environment/environment';
import { serveCommand, type Trainer } from '../core/training/trainer';
import type { FolderSettings } from './configuration';
import { InstallingWords, installWords } from './installing';
import { cancellable, type Report, type WorkCaller } from './progress';
import { chosenPython } from './pythonEnvironments';

const { t } = vscode.l10n;

/** The trainer that ships with Tandem, in its environment, which is made on first use. */
export class EditorTrainer {
  /** @param assets the folder of the built extension */
  constructor(
    readonly assets: string,
    private readonly configuration: FolderSettings,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** @throws {Fault} `training/no-python`, `training/not-installed`, `training/packages-missing` */
  async open(signal: AbortSignal, report?: Report): Promise<Trainer> {
    const { openTrainer } = await import('../core/training/environment/environment');
    const words = new InstallingWords(environmentSize().download, t);
    const tell = (said: string | undefined): void => {
      if (said !== undefined) report?.(said, words.fraction);
    };
    return openTrainer({
      ...(await this.options()),
      signal,
      onLine: (line) => {
        this.output.info(line);
        tell(words.of(line));
      },
      onBytes: (bytes) => tell(words.bytes(bytes)),
    });
  }

  onDidChangePython(listener: () => void): vscode.Disposable {
    return vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('tandem.training.python')) listener();
    });
  }

  /** True if nothing needs to be downloaded. @throws {Fault} `training/no-python` */
  async isInstalled(): Promise<boolean> {
    const { isInstalled } = await import('../core/training/environment/environment');
    return isInstalled(await this.options());
  }

  /** Asks before it installs. @param told gets each report @returns undefined when the person declined or cancelled */
  async openVisibly(title: string, told?: Report, caller?: WorkCaller): Promise<Trainer | undefined> {
    if (!(await this.mayInstall())) return undefined;
    return cancellable(
      title,
      (signal, report) => {
        const both: Report = (message, fraction) => {
          report(message, fraction);
          told?.(message, fraction);
        };
        both(t('looking for the trainer'));
        return this.open(signal, both);
      },
      caller,
    );
  }

  /** @param otherwise says what a person can do instead @throws {Fault} `training/no-python` */
  async mayInstall(
    question = t('Install what training needs on this machine?'),
    otherwise = '',
  ): Promise<boolean> {
    if (await this.isInstalled()) return true;
    const install = t('Install');
    const detail = [installWords(t), otherwise].join(' ').trim();
    const chosen = await vscode.window.showInformationMessage(question, { modal: true, detail }, install);
    return chosen === install;
  }

  get prompts(): string {
    return path.join(this.assets, 'prompts');
  }

  private async options(): Promise<TrainerOptions> {
    const { TANDEM_PYTHON: python = '', TANDEM_TRAINER_PYTHON: ready = '' } = process.env;
    return {
      source: path.join(this.assets, 'trainer'),
      cache: cacheFolder(),
      serve: serveCommand(this.assets),
      ...(ready !== '' && { ready }),
      ...(await this.python(python)),
    };
  }

  /** One named for Tandem is used or refused; one chosen for the folder's own code is a suggestion. */
  private async python(variable: string): Promise<Pick<TrainerOptions, 'python' | 'preferred'>> {
    const { trainingPython, folder } = this.configuration;
    if (trainingPython !== '') return { python: { file: trainingPython, by: 'tandem.training.python' } };
    if (variable !== '') return { python: { file: variable, by: 'TANDEM_PYTHON' } };
    const preferred = await chosenPython(folder?.uri);
    return preferred === undefined ? {} : { preferred };
  }
}
