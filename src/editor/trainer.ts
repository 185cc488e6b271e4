import path from 'node:path';
import * as vscode from 'vscode';
import { cacheFolder, environmentSize } from '../core/training/environment/cache';
import type { TrainerOptions } from '../core/training/environment/environment';
import { serveCommand, type Trainer } from '../core/training/trainer';
import type { FolderSettings } from './configuration';
import { cancellable, type Report, type WorkCaller } from './progress';
import { chosenPython } from './pythonEnvironments';
import type { StepView } from '../../webview/ui/protocol';
import { bytesWords } from './words';
import type { Translate } from './translate';

const { t } = vscode.l10n;

/** The trainer that ships with Tandem, in its environment, which is made on first use. */
export class EditorTrainer {
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

/** Line of pip or uv at the start of a download: name and size of the package; for pip the name is that of a file. */
const LOADING = /^\s*(?:Downloading|Using cached) (\S+) \(([\d.]+) ?([kKMG])(i?)B\)$/;
/** uv downloads many packages at once, and writes this line when one has arrived. */
const LOADED = /^\s*Downloaded (\S+)$/;
const INSTALLING = /^Installing collected packages: (.+)$/;
/** Minimum size of a package that is reported, in bytes; a smaller one has arrived before anyone could read it. */
const WORTH_A_WORD = 1e6;
const POWER: Readonly<Record<string, number>> = { k: 1, K: 1, M: 2, G: 3 };

export function installWords(t: Translate): string {
  const { download, disk } = environmentSize();
  return t(
    'Tandem’s own Python environment with PyTorch, created once: it downloads about {0} and takes {1} of disk space.',
    bytesWords(download, t),
    bytesWords(disk, t),
  );
}

export interface Installing {
  readonly isDone: boolean;
  /** The present work; empty before it begins and at the end. */
  readonly said: string;
  readonly fraction?: number;
}

export function installStep({ isDone, said, fraction }: Installing, t: Translate): StepView {
  return {
    label: t('Install what training needs'),
    detail: installWords(t),
    state: isDone ? 'done' : said === '' ? 'waiting' : 'now',
    ...(fraction !== undefined && { fraction }),
    count: said,
  };
}

/** Turns an installer's output, line by line, and the bytes that have arrived, into short progress messages. */
export class InstallingWords {
  /** Bytes by what the installer said, and by what is on the disk. */
  private loaded = 0;
  private started = 0;
  private arrived = 0;
  private isLoading = false;
  private what = '';
  private readonly begun = new Map<string, number>();

  constructor(
    private readonly download: number,
    private readonly t: Translate,
  ) {}

  /** Downloaded fraction, 0 to 1; undefined before the first package and while packages are put in place. */
  get fraction(): number | undefined {
    const { soFarBytes: bytes } = this;
    return this.isLoading && bytes > 0 ? Math.min(1, bytes / this.download) : undefined;
  }

  bytes(bytes: number): string | undefined {
    if (!this.isLoading || bytes <= this.arrived) return undefined;
    this.arrived = bytes;
    return this.soFar(this.what);
  }

  of(line: string): string | undefined {
    const { t } = this;
    const [, file, size, unit, binary] = LOADING.exec(line) ?? [];
    if (file !== undefined && !file.endsWith('.metadata')) {
      const isOfUv = binary === 'i';
      const bytes = Number(size) * (isOfUv ? 1024 : 1000) ** POWER[unit!]!;
      if (isOfUv) this.begun.set(file, bytes);
      else {
        // pip downloads one after the other.
        this.loaded = this.started;
        this.started += bytes;
      }
      if (bytes < WORTH_A_WORD) return undefined;
      // The name in a wheel's file name has no hyphen.
      const name = file.endsWith('.whl') ? file.split('/').at(-1)!.split('-')[0]! : file;
      return this.soFar(t('downloading {0} ({1})', name, bytesWords(bytes, t)));
    }
    const [, name] = LOADED.exec(line) ?? [];
    const bytes = name === undefined ? undefined : this.begun.get(name);
    if (name !== undefined && bytes !== undefined) {
      this.begun.delete(name);
      this.loaded += bytes;
      return this.soFar(t('downloaded {0} ({1})', name, bytesWords(bytes, t)));
    }
    const [, packages] = INSTALLING.exec(line) ?? [];
    if (packages !== undefined) {
      const count = packages.split(', ').length;
      this.isLoading = false;
      return count === 1 ? t('installing {0}', packages) : t('installing {0} packages', count);
    }
    if (line.startsWith('Another Tandem is making'))
      return t('another window is installing it, waiting for it');
    return line.startsWith('Installing what the trainer needs')
      ? t('creating a Python environment')
      : undefined;
  }

  private get soFarBytes(): number {
    return Math.max(this.loaded, this.arrived);
  }

  private soFar(what: string): string {
    const { download, soFarBytes: loaded, t } = this;
    this.isLoading = true;
    this.what = what;
    if (loaded < WORTH_A_WORD) return what;
    return t('{0}, {1} of about {2} so far', what, bytesWords(loaded, t), bytesWords(download, t));
  }
}
