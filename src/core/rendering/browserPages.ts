import { LastUsed } from '../lazily';
import { cleanPage } from '../page/cleanPage';
import type { Outline, PageReader } from '../page/outline';
import { findBrowser } from './browser';
import { PageRenderer, type DrawnPage } from './pageRenderer';

/** Outlines that are kept: the wanted page is read at each turn, a draft by the simulator and by the grade. */
const MAX_OUTLINES = 256;
/** A picture has 55 KB in the median, and some have megabytes. */
const MAX_PICTURES = 32;

export interface BrowserPagesOptions {
  /** The file of Tailwind's sheet (`media/pages`). */
  readonly sheet: string;
  /** Names the browser; found on this machine by default. */
  readonly browser?: string;
}

/** Reads pages as a browser of this machine draws them. The browser starts with the first page. */
export class BrowserPages implements PageReader {
  private renderer: Promise<PageRenderer> | undefined;
  private readonly outlines = new LastUsed<Outline>(MAX_OUTLINES);
  private readonly pictures = new LastUsed<Buffer>(MAX_PICTURES);

  constructor(private readonly options: BrowserPagesOptions) {}

  get sheet(): string {
    return this.options.sheet;
  }

  /** @throws {Fault} `page/no-browser`, `page/browser-failed` */
  async name(): Promise<string> {
    return (await this.open()).name();
  }

  async outlineOf(html: string): Promise<Outline> {
    return this.outlines.get(html, () => this.draw(html).then(({ outline }) => outline));
  }

  async pictureOf(html: string): Promise<Buffer> {
    return this.pictures.get(html, () => this.draw(html).then(({ picture }) => picture));
  }

  async close(): Promise<void> {
    const renderer = await this.renderer?.catch(() => undefined);
    await renderer?.[Symbol.asyncDispose]();
  }

  private async draw(html: string): Promise<DrawnPage> {
    const clean = cleanPage(html, this.sheet);
    return (await this.open()).draw(clean);
  }

  private open(): Promise<PageRenderer> {
    return (this.renderer ??= findBrowser(this.options.browser).then((program) => new PageRenderer(program)));
  }
}
