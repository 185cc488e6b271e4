import { bytesWords } from './runs/words';
import type { Translate } from './translate';

/** What pip and uv write when they load a package: its name and size, for pip as the name of a file. */
const LOADING = /^\s*(?:Downloading|Using cached) (\S+) \(([\d.]+) ?([kMG])i?B\)$/;
const INSTALLING = /^Installing collected packages: (.+)$/;
/** What is smaller is there before it could be read, in bytes. */
const WORTH_A_WORD = 1e6;
const BYTES: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, G: 1e9 };

/** Turns what an installer writes, a line at a time, into what a person wants to know of it. */
export class InstallingWords {
  private loaded = 0;

  /** @param download of all packages, in bytes */
  constructor(
    private readonly download: number,
    private readonly t: Translate,
  ) {}

  /** @returns undefined for a line that says nothing new */
  of(line: string): string | undefined {
    const { t } = this;
    const [, file, size, unit] = LOADING.exec(line) ?? [];
    if (file !== undefined && !file.endsWith('.metadata')) {
      const bytes = Number(size) * (BYTES[unit!] ?? 1);
      const before = this.loaded;
      this.loaded += bytes;
      if (bytes < WORTH_A_WORD) return undefined;
      // A name in the file of a wheel has no hyphen.
      const name = file.endsWith('.whl') ? file.split('/').at(-1)!.split('-')[0]! : file;
      const what = t('downloading {0} ({1})', name, bytesWords(bytes, t));
      if (before < WORTH_A_WORD) return what;
      return t('{0}, {1} of about {2} so far', what, bytesWords(before, t), bytesWords(this.download, t));
    }
    const [, packages] = INSTALLING.exec(line) ?? [];
    if (packages !== undefined) {
      const count = packages.split(', ').length;
      return count === 1 ? t('installing {0}', packages) : t('installing {0} packages', count);
    }
    if (line.startsWith('Another Tandem is making'))
      return t('another window is installing it, waiting for it');
    return line.startsWith('Installing what the trainer needs')
      ? t('making a Python environment')
      : undefined;
  }
}
