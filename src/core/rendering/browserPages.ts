import { cleanPage } from '../page/cleanPage';
import type { Outline, PageReader } from '../page/outline';
import { findBrowser } from './browser';
import { PageRenderer } from './pageRenderer';

/** Outlines that are kept: the wanted page is read at each turn, a draft by the simulator and by the grade. */
const MAX_KEPT = 256;

export interface BrowserPagesOptions {
  /** The file of Tailwind's sheet (`media/pages`). */
  readonly sheet: string;
  /** Names the browser; found on this machine by default. */
  readonly browser?: string;
}

/** Reads pages as a browser of this machine draws them. The browser starts with the first page. */
export class BrowserPages implements PageReader {
  private renderer: Promise<PageRenderer> | undefined;
  private readonly kept = new Map<string, Promise<Outline>>();

  constructor(private readonly options: BrowserPagesOptions) {}

  get sheet(): string {
    return this.options.sheet;
  }

  /** @throws {Fault} `page/no-browser`, `page/browser-failed` */
  async name(): Promise<string> {
    return (await this.open()).name();
  }

  async outlineOf(html: string): Promise<Outline> {
    const outline = this.kept.get(html) ?? this.read(html);
    // A Map lists its keys in the order of insertion, so the first is the least recently used.
    this.kept.delete(html);
    this.kept.set(html, outline);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
    try {
      return await outline;
    } catch (error) {
      this.kept.delete(html);
      throw error;
    }
  }

  async close(): Promise<void> {
    const renderer = await this.renderer?.catch(() => undefined);
    await renderer?.[Symbol.asyncDispose]();
  }

  private async read(html: string): Promise<Outline> {
    const { html: clean } = cleanPage(html, this.sheet);
    return (await (await this.open()).draw(clean)).outline;
  }

  private open(): Promise<PageRenderer> {
    return (this.renderer ??= findBrowser(this.options.browser).then((program) => new PageRenderer(program)));
  }
}
