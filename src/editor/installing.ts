import { environmentSize } from '../core/training/environment/cache';
import type { StepView } from '../../webview/ui/protocol';
import { bytesWords } from './words';
import type { Translate } from './translate';

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

/** Installation of the trainer, the first step where it is missing. */
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
  /** Of the packages that pip has begun to download. */
  private started = 0;
  private arrived = 0;
  private isLoading = false;
  private what = '';
  /** Packages that uv has begun to download, with their sizes in bytes. */
  private readonly begun = new Map<string, number>();

  /** @param download total size of all packages, in bytes */
  constructor(
    private readonly download: number,
    private readonly t: Translate,
  ) {}

  /** Downloaded fraction, 0 to 1; undefined before the first package and while packages are put in place. */
  get fraction(): number | undefined {
    const { soFarBytes: bytes } = this;
    return this.isLoading && bytes > 0 ? Math.min(1, bytes / this.download) : undefined;
  }

  /** @param bytes of all packages @returns undefined where there is no news */
  bytes(bytes: number): string | undefined {
    if (!this.isLoading || bytes <= this.arrived) return undefined;
    this.arrived = bytes;
    return this.soFar(this.what);
  }

  /** @returns undefined for a line without news */
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
