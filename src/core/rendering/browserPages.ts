import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Fault } from '../fault';
import { wordsIn } from '../text';
import { LastUsed } from '../lazily';
import { cleanPage } from '../page/cleanPage';
import type { Outline, PageReader } from '../page/outline';
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

/** Browsers that are driven by the DevTools protocol, most common first. */
const APPLICATIONS = ['Google Chrome', 'Microsoft Edge', 'Chromium', 'Brave Browser'];

const COMMANDS = wordsIn(`
  google-chrome-stable google-chrome microsoft-edge-stable microsoft-edge
  chromium chromium-browser chromium-headless-shell brave-browser brave
`);

const WINDOWS_PATHS = [
  String.raw`Google\Chrome\Application\chrome.exe`,
  String.raw`Microsoft\Edge\Application\msedge.exe`,
  String.raw`Chromium\Application\chrome.exe`,
  String.raw`BraveSoftware\Brave-Browser\Application\brave.exe`,
];

/**
 * Finds a browser of this machine that can draw pages. Nothing is downloaded.
 * @param named the setting or option that names one; looked for is nothing else then
 * @throws {Fault} `page/no-browser`
 */
export async function findBrowser(named?: string): Promise<string> {
  const candidates = named === undefined || named === '' ? installedPaths() : [named];
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw new Fault(
    'page/no-browser',
    named
      ? `There is no program at ${named}. Name a Chrome, Edge, Chromium or Brave that can be run.`
      : `Pages are drawn by a browser of this machine, and none of ${APPLICATIONS.join(', ')} was found. Install one, or name its program.`,
  );
}

function installedPaths(): readonly string[] {
  const { env, platform } = process;
  if (platform === 'darwin') {
    const folders = ['/Applications', join(env.HOME ?? '', 'Applications')];
    return APPLICATIONS.flatMap((name) =>
      folders.map((folder) => join(folder, `${name}.app`, 'Contents', 'MacOS', name)),
    );
  }
  if (platform === 'win32') {
    const folders = [env.ProgramFiles, env['ProgramFiles(x86)'], env.LOCALAPPDATA];
    return WINDOWS_PATHS.flatMap((path) => folders.flatMap((folder) => (folder ? [join(folder, path)] : [])));
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)));
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
