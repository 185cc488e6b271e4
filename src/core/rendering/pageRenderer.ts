import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Fault } from '../fault';
import { wordsIn } from '../text';
import { outlineOf, type LaidOut, type Outline } from '../page/outline';
import { DevTools } from './devTools';

/** The window of the published pictures. */
export const PAGE_WINDOW = { width: 1366, height: 682 } as const;

/** After this many milliseconds a page is given up. */
const MAX_DRAWING_MS = 5000;

/** No network: no proxy answers at port 9, and no name resolves. Scripts are off besides. */
const ARGUMENTS = [
  ...wordsIn(`
    --headless --disable-gpu --hide-scrollbars --mute-audio --no-first-run --no-default-browser-check
    --disable-extensions --disable-sync --disable-background-networking --disable-component-update
    --disable-default-apps --disable-domain-reliability --no-pings --force-color-profile=srgb
    --force-device-scale-factor=1 --font-render-hinting=none --disable-lcd-text --disable-dev-shm-usage
    --proxy-server=127.0.0.1:9 --proxy-bypass-list=<-loopback>
  `),
  '--host-resolver-rules=MAP * ~NOTFOUND',
];

const STYLES = wordsIn('display color background-color font-size font-weight opacity visibility');

/** A page with the fonts that pages use, by whose picture machines with other fonts are told apart. */
export const FONT_PROBE =
  '<html><body style="font:20px system-ui,sans-serif">Quick wafting 0123<b>Zephyrs</b>' +
  '<p style="font-family:serif">Jackdaws</p><p style="font-family:monospace">sphinx</p></body></html>';

export interface DrawnPage {
  /** PNG as tall as the content. */
  readonly picture: Buffer;
  readonly outline: Outline;
}

/** Draws cleaned pages in a browser of this machine, one after the other. */
export class PageRenderer implements AsyncDisposable {
  private tab: Promise<Tab> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private named: Promise<string> | undefined;

  constructor(private readonly program: string) {}

  /** Browser, version, system and fonts: figures of two names are never mixed. */
  async name(): Promise<string> {
    return (this.named ??= this.findName());
  }

  /**
   * @param html a page that `cleanPage` made
   * @param width of the window in CSS pixels
   * @throws {Fault} `page/too-slow`, `page/browser-failed`
   */
  async draw(html: string, width: number = PAGE_WINDOW.width): Promise<DrawnPage> {
    const drawn = this.last.then(() => this.drawNext(html, width));
    this.last = drawn.catch(() => undefined);
    return drawn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.last;
    await this.close();
  }

  private async findName(): Promise<string> {
    const product = await (await this.open()).product();
    const { picture } = await this.draw(FONT_PROBE);
    const fonts = createHash('sha256').update(picture).digest('hex').slice(0, 6);
    return `${product} ${process.platform} ${fonts}`;
  }

  private async drawNext(html: string, width: number): Promise<DrawnPage> {
    const tab = await this.open();
    const timeout = Promise.withResolvers<'timeout'>();
    const timer = setTimeout(() => timeout.resolve('timeout'), MAX_DRAWING_MS);
    try {
      const drawn = await Promise.race([tab.draw(html, width), timeout.promise]);
      if (drawn !== 'timeout') return drawn;
    } catch (error) {
      await this.close();
      throw browserFailed(`${this.program} failed to draw a page`, error);
    } finally {
      clearTimeout(timer);
    }
    await this.close();
    throw new Fault(
      'page/too-slow',
      `The page was not drawn within ${MAX_DRAWING_MS / 1000} seconds. Make a simpler page.`,
    );
  }

  private async open(): Promise<Tab> {
    return (this.tab ??= Tab.open(this.program));
  }

  private async close(): Promise<void> {
    const tab = await this.tab?.catch(() => undefined);
    this.tab = undefined;
    await tab?.close();
  }
}

const browserFailed = (what: string, cause: unknown): Fault =>
  new Fault('page/browser-failed', `The browser ${what}: ${String(cause)}`, { cause });

/** The results of the DevTools protocol that are used. */
interface FrameTree {
  readonly frameTree: { readonly frame: { readonly id: string } };
}

interface Snapshot {
  readonly documents: readonly {
    readonly nodes: {
      readonly parentIndex: readonly number[];
      readonly nodeName: readonly number[];
      readonly attributes: readonly (readonly number[])[];
    };
    readonly layout: {
      readonly nodeIndex: readonly number[];
      readonly styles: readonly (readonly number[])[];
      readonly bounds: readonly (readonly [number, number, number, number])[];
      readonly text: readonly number[];
      readonly paintOrders: readonly number[];
    };
  }[];
  readonly strings: readonly string[];
}

class Tab {
  private constructor(
    private readonly devTools: DevTools,
    private readonly session: string,
    private readonly frame: string,
    private readonly profile: string,
  ) {}

  static async open(program: string): Promise<Tab> {
    const profile = await mkdtemp(path.join(os.tmpdir(), 'tandem-browser-'));
    // Chromium refuses to sandbox itself for root.
    const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const devTools = DevTools.start(program, [...ARGUMENTS, ...asRoot, `--user-data-dir=${profile}`]);
    try {
      const target = await devTools.send<object>('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await devTools.send<{ sessionId: string }>('Target.attachToTarget', {
        ...target,
        flatten: true,
      });
      await devTools.send('Emulation.setScriptExecutionDisabled', { value: true }, sessionId);
      await devTools.send('Page.enable', {}, sessionId);
      await devTools.send('DOMSnapshot.enable', {}, sessionId);
      const { frameTree } = await devTools.send<FrameTree>('Page.getFrameTree', {}, sessionId);
      return new Tab(devTools, sessionId, frameTree.frame.id, profile);
    } catch (error) {
      devTools.kill();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
      throw browserFailed(`${program} could not be started`, error);
    }
  }

  /** Name and version of the browser. */
  async product(): Promise<string> {
    return (await this.send<{ product: string }>('Browser.getVersion')).product;
  }

  async draw(html: string, width: number): Promise<DrawnPage> {
    const metrics = { width, height: PAGE_WINDOW.height, deviceScaleFactor: 1, mobile: false };
    await this.send('Emulation.setDeviceMetricsOverride', metrics);
    const loaded = this.devTools.next('Page.loadEventFired');
    await this.send('Page.setDocumentContent', { frameId: this.frame, html });
    await loaded;
    const asked = { computedStyles: STYLES, includePaintOrder: true };
    const outline = outlineOf(
      laidOut(await this.send<Snapshot>('DOMSnapshot.captureSnapshot', asked)),
      width,
    );
    const clip = { x: 0, y: 0, width, height: outline.height, scale: 1 };
    const shot = { format: 'png', captureBeyondViewport: true, clip };
    const { data } = await this.send<{ data: string }>('Page.captureScreenshot', shot);
    return { picture: Buffer.from(data, 'base64'), outline };
  }

  async close(): Promise<void> {
    this.devTools.kill();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private send<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    return this.devTools.send<Result>(method, params, this.session);
  }
}

/** The layout tree by parents that are in it; an element without a box stands for its nearest one that has. */
function laidOut({ documents, strings }: Snapshot): LaidOut[] {
  const [document] = documents;
  if (document === undefined) return [];
  const { nodes, layout } = document;
  const indexOfNode = new Map(layout.nodeIndex.map((node, index) => [node, index]));
  const parentOf = (node: number): number => {
    for (let at = nodes.parentIndex[node]!; at >= 0; at = nodes.parentIndex[at]!) {
      const index = indexOfNode.get(at);
      if (index !== undefined) return index;
    }
    return -1;
  };
  const string = (index: number | undefined): string => strings[index ?? -1] ?? '';
  const attribute = (node: number, name: string): string => {
    const attributes = nodes.attributes[node] ?? [];
    const at = attributes.findIndex((index, i) => i % 2 === 0 && string(index) === name);
    return at < 0 ? '' : string(attributes[at + 1]);
  };
  return layout.nodeIndex.map((node, index): LaidOut => {
    const tag = string(nodes.nodeName[node]).toLowerCase();
    const [x, y, width, height] = layout.bounds[index]!;
    const [
      display = '',
      color = '',
      backgroundColor = '',
      fontSize = '',
      fontWeight = '',
      opacity = '1',
      visibility = 'visible',
    ] = layout.styles[index]!.map(string);
    const ofField = attribute(node, 'value') || attribute(node, 'placeholder');
    return {
      tag,
      parent: parentOf(node),
      box: { x, y, width, height },
      text: layout.text[index]! >= 0 ? string(layout.text[index]) : tag === 'input' ? ofField : undefined,
      ...{ display, color, backgroundColor, fontSize, fontWeight, opacity, visibility },
      paintOrder: layout.paintOrders[index] ?? 0,
    };
  });
}
