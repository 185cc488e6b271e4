import { createHash } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../core/fault';
import type { LaidOut, Outline, PageReader } from '../core/page/outline';
import type { ClipEmbedder } from '../core/model/local/clip/embedder';
import type { BrowserPages } from '../core/rendering/browserPages';
import type { FolderSettings } from './configuration';
import { translatedFault, type Translate } from './translate';

/** A page as the frame of an open panel laid it out. */
export interface FrameLayout {
  readonly nodes: readonly LaidOut[];
  /** Name and version of the browser that draws the editor. */
  readonly browser: string;
}

/** An open panel whose frame lays pages out. */
export interface LayoutFrame {
  readonly isInSight: boolean;
  /** @param html a page that `cleanPage` made @throws {Fault} `page/too-slow` */
  layOut(html: string): Promise<FrameLayout>;
}

export const sheetIn = (dist: string): string => path.join(dist, 'pages', 'tailwind-2.2.19.css.br');

/**
 * Reads pages by a browser of this machine, else by the frame of a session in sight. The two have different names, so
 * that their figures are never mixed.
 */
export class Pages implements PageReader {
  private readonly frames = new Set<LayoutFrame>();
  private embedder: ClipEmbedder | undefined;
  private browser: { readonly program: string; readonly pages: Promise<BrowserPages> } | undefined;

  constructor(
    private readonly configuration: FolderSettings,
    readonly sheet: string,
    private readonly script: string,
    private readonly report: (error: unknown) => void,
  ) {}

  addFrame(frame: LayoutFrame): { dispose(): void } {
    this.frames.add(frame);
    return { dispose: () => this.frames.delete(frame) };
  }

  /** @throws {Fault} `page/no-browser`, `page/browser-failed` */
  name(): Promise<string> {
    return this.read(
      (browser) => browser.name(),
      async (frame) => {
        const { FONT_PROBE } = await import('../core/rendering/pageRenderer');
        const { nodes, browser } = await frame.layOut(FONT_PROBE);
        const fonts = createHash('sha256')
          .update(JSON.stringify(nodes.map(({ box }) => box)))
          .digest('hex')
          .slice(0, 6);
        return `frame ${browser} ${process.platform} ${fonts}`;
      },
    );
  }

  outlineOf(html: string): Promise<Outline> {
    return this.read(
      (browser) => browser.outlineOf(html),
      async (frame) => {
        const { cleanPage } = await import('../core/page/cleanPage');
        const { outlineOf } = await import('../core/page/outline');
        const { PAGE_WINDOW } = await import('../core/rendering/pageRenderer');
        const { nodes } = await frame.layOut(cleanPage(html, this.sheet));
        return outlineOf(nodes, PAGE_WINDOW.width);
      },
    );
  }

  /** One for the window; undefined while `tandem download clip` has not put it into the cache. */
  async clip(): Promise<ClipEmbedder | undefined> {
    const { clipIfThere } = await import('../core/model/local/clip/embedder');
    const { cacheFolder } = await import('../core/training/environment/cache');
    this.embedder ??= clipIfThere(this.script, path.join(cacheFolder(), 'clip'));
    return this.embedder;
  }

  async close(): Promise<void> {
    const { embedder } = this;
    this.embedder = undefined;
    await embedder?.close().catch(this.report);
    await this.closeBrowser();
  }

  private async closeBrowser(): Promise<void> {
    const { browser } = this;
    this.browser = undefined;
    await browser?.pages.then((pages) => pages.close()).catch(this.report);
  }

  private async read<T>(
    byBrowser: (browser: BrowserPages) => Promise<T>,
    byFrame: (frame: LayoutFrame) => Promise<T>,
  ): Promise<T> {
    try {
      return await byBrowser(await this.open());
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'page/no-browser') throw error;
      // A browser that is installed meanwhile, or another setting, is looked for again.
      await this.closeBrowser();
      const frame = [...this.frames].find(({ isInSight }) => isInSight);
      // One that is named and not there is a mistake, which another renderer would hide.
      if (frame !== undefined && this.configuration.pageBrowser === '') return byFrame(frame);
      const words = (t: Translate): string =>
        t('{0} The setting tandem.pages.browser names it.', error.message);
      throw translatedFault(error.code, words, vscode.l10n.t);
    }
  }

  private async open(): Promise<BrowserPages> {
    const program = this.configuration.pageBrowser;
    if (this.browser !== undefined && this.browser.program !== program) await this.closeBrowser();
    this.browser ??= {
      program,
      pages: import('../core/rendering/browserPages').then(
        ({ BrowserPages }) => new BrowserPages({ sheet: this.sheet, browser: program }),
      ),
    };
    return this.browser.pages;
  }
}
