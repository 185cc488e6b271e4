import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { FrameLocator, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { results } from '../../scripts/setup/project.mjs';
import type { Server } from '../../scripts/workbench/server.mjs';
import { openBrowser } from './browser';
import type { Connection } from './connection';
import { MEMORY, readMemory } from './memory';
import { holdProcess, processes, type RunningProcess } from './processes';
import { switchTheme, usualThemes, type Theme } from './themes';

/**
 * A test waits so long for anything, in milliseconds. Most things take a second, a workbench 5, a trainer that
 * imports torch twice 30, and all of it several times as long on a slow or busy machine. Only a step that fails waits so long,
 * and it ends its story (story.ts).
 */
const timeLimit = 150_000;

/** How often the palette or a menu is opened that something else closes. */
const ATTEMPTS = 5;

/** Windows that are not closed yet. */
export const openWindows = new Set<WorkbenchDriver>();

/** What a driver works: a page, and what it is shown by. */
export interface Window {
  readonly server: Server;
  readonly connection: Connection;
  readonly page: Page;
  readonly address: string;
  /** The folder of settings and logs. */
  readonly userData: string;
}

/** A real workbench, as a person sees it and as far as a person can touch it. */
export class WorkbenchDriver {
  #page: Page;
  readonly #window: Window;
  readonly #started: AsyncDisposableStack;
  /** The page's console, for the logs of a test that fails. */
  readonly #console: string[] = [];

  constructor(window: Window, started: AsyncDisposableStack) {
    this.#window = window;
    this.#page = this.#heard(window.page);
    this.#started = started;
    openWindows.add(this);
    started.defer(() => void openWindows.delete(this));
  }

  get server(): Server {
    return this.#window.server;
  }

  get page(): Page {
    return this.#page;
  }

  /** Opens the workbench's page and waits until the window is restored. */
  async open(): Promise<void> {
    await this.page.goto(this.#window.address, { timeout: timeLimit });
    await this.#ready();
  }

  /** Reloads the page, which starts a new extension host, as "Developer: Reload Window" does. */
  async reload(): Promise<void> {
    await this.page.reload({ timeout: timeLimit });
    await this.#ready();
  }

  /**
   * Waits until the workbench has put down what it shows, so that it shows it again after a reload. In a browser it does so
   * every few seconds when it has the focus and nothing else to do, and not when it is left.
   * @param part of what is put down; of an editor that is its title, or what a panel keeps, in which quotes are escaped
   * @param of what it is put down
   */
  async kept(part: RegExp, of: keyof typeof MEMORY = 'editors'): Promise<void> {
    const started = Date.now();
    await this.page.bringToFront();
    while (!part.test(await this.page.evaluate(readMemory, MEMORY[of]))) {
      if (Date.now() - started > timeLimit) throw new Error(`The workbench has not kept ${part}.`);
      await this.page.waitForTimeout(250);
    }
  }

  /** Waits until a reply that was begun is on the disk, from where it outlives the window. */
  async draftKept(text: string): Promise<void> {
    const storage = path.join(this.#window.userData, 'User', 'workspaceStorage');
    const isDraft = /[\\/]drafts[\\/][^\\/]+\.json$/;
    const drafts = async (): Promise<string[]> => {
      const names = await readdir(storage, { recursive: true });
      return Promise.all(
        names.filter((name) => isDraft.test(name)).map((name) => readFile(path.join(storage, name), 'utf8')),
      );
    };
    // A file may be replaced while it is looked for, which is an error that the poll passes over.
    await expect.poll(drafts).toContainEqual(expect.stringContaining(JSON.stringify(text)));
  }

  /** The page dies without a word to the server, as in a browser that crashes, and is opened again. */
  async crash(): Promise<void> {
    const lost = this.#page;
    const devTools = await lost.context().newCDPSession(lost);
    const crashed = lost.waitForEvent('crash');
    // It never answers.
    void devTools.send('Page.crash').catch(() => undefined);
    await crashed;
    this.#page = this.#heard(await lost.context().newPage());
    await lost.close();
    await this.open();
  }

  /** The browser does not reach the server any more. The workbench asks again every few seconds, and says so after 40. */
  loseConnection(): void {
    this.#window.connection.lose();
  }

  /** When the browser asks next, it reaches the server. */
  regainConnection(): void {
    this.#window.connection.regain();
  }

  /** Another window on the same folder, of another person: with an extension host and a memory of its own. */
  async anotherWindow(): Promise<WorkbenchDriver> {
    await using started = new AsyncDisposableStack();
    const { page } = started.use(await openBrowser(this.#window.connection.port, this.page.viewportSize()));
    const window = new WorkbenchDriver({ ...this.#window, page }, started.move());
    await window.open();
    return window;
  }

  /** Closes the only window, and waits until its extension host has ended; 'open' opens it again. */
  async leave(): Promise<void> {
    await this.page.goto('about:blank');
    while ((await this.extensionHosts()).length > 0) await this.page.waitForTimeout(100);
  }

  /** Kills the extension hosts of all windows, as a system does that is short of memory. */
  async killExtensionHosts(): Promise<void> {
    const hosts = await this.extensionHosts();
    if (hosts.length === 0) throw new Error('No extension host is running.');
    for (const pid of hosts) process.kill(pid, 'SIGKILL');
  }

  /** The process numbers of the extension hosts of all windows. */
  async extensionHosts(): Promise<number[]> {
    const hosts = (await processes()).filter((one) => this.#isOwn(one, /--type=extensionHost/));
    return hosts.map(({ pid }) => pid);
  }

  /** Stops a process of this workbench by its command line (processes.ts). @returns lets it go on */
  async hold(commandLine: RegExp): Promise<() => void> {
    return holdProcess((one) => this.#isOwn(one, commandLine));
  }

  #isOwn({ group, args }: RunningProcess, commandLine: RegExp): boolean {
    return group === this.server.group && commandLine.test(args);
  }

  #heard(page: Page): Page {
    page.setDefaultTimeout(timeLimit);
    page.on('console', (message) => this.#console.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.#console.push(String(error.stack)));
    return page;
  }

  async #ready(): Promise<void> {
    await this.page.locator('.monaco-workbench .part.activitybar').waitFor();
    await this.page.locator('.monaco-workbench .part.statusbar .statusbar-item').first().waitFor();
  }

  /** The icon of a view container in the activity bar. */
  activityBar(label: string): Locator {
    return this.page.locator('.part.activitybar').getByRole('tab', { name: label });
  }

  /** Opens these views of the side bar and closes its other ones: a tree draws only the rows that fit. */
  async openViews(...names: readonly string[]): Promise<void> {
    const headers = this.page.locator('.part.sidebar .pane-header');
    await headers.filter({ hasText: names[0]! }).first().waitFor();
    for (const header of await headers.all()) {
      const name = (await header.locator('.title').first().textContent()) ?? '';
      const isOpen = (await header.getAttribute('aria-expanded')) === 'true';
      if (isOpen !== names.includes(name)) await header.click();
    }
  }

  /**
   * Runs a command through the command palette, as a person does. What was done just before may still move the focus, which
   * closes the palette; then it is opened again.
   * @param title with its category, as shown there
   */
  async runCommand(title: string): Promise<void> {
    await insisting(async (options) => {
      await this.page.keyboard.press('F1');
      await this.#pick(title, '>', options);
    });
  }

  /** Chooses an item of the context menu of a row, which a list that is drawn anew closes; then it is opened again. */
  async chooseInMenu(of: Locator, item: string): Promise<void> {
    await insisting(async (options) => {
      await of.click({ button: 'right', ...options });
      const found = this.page.getByRole('menuitem', { name: item });
      await found.hover(options);
      // The menu takes the release of the button that opened it for a choice, or nothing at all, in its first moments.
      await this.page.waitForTimeout(500);
      await found.click(options);
    });
  }

  /** Finds a row of the quick pick that is open by its text and takes it. */
  async #pick(text: string, prefix = '', options: { readonly timeout?: number } = {}): Promise<void> {
    const widget = this.page.locator('.quick-input-widget');
    await widget.locator('input.input').fill(prefix + text, options);
    await widget.locator('.quick-input-list-row', { hasText: text }).first().click(options);
  }

  /**
   * Answers a question of the quick input. The field is the same for all of them, so that one that is filled before its own
   * question stands there is emptied again; and it is seen a moment before it has the focus.
   * @param question what only this one says
   * @param value what to type; without it, what is proposed is taken
   */
  async answer(question: RegExp | string, value?: string): Promise<void> {
    const widget = this.page.locator('.quick-input-widget');
    const input = widget.locator('input.input');
    const asked = widget.getByText(question).first();
    await asked.waitFor();
    if (value !== undefined) {
      await input.fill(value);
      await expect.poll(() => input.inputValue()).toBe(value);
    }
    await input.press('Enter');
    // What is typed is checked first, and lost when another question takes its place meanwhile.
    await asked.waitFor({ state: 'hidden' });
  }

  /**
   * Says a path to the file dialog of the workbench, which may still write over it what it suggests, and takes no answer
   * while it looks at a folder; then it is said again.
   */
  async chooseFile(file: string): Promise<void> {
    const widget = this.page.locator('.quick-input-widget');
    const input = widget.locator('input.input');
    await input.waitFor();
    await insisting(async (options) => {
      while ((await widget.isVisible()) && (await input.inputValue(options)) !== file) {
        await input.fill(file, options);
        await this.page.waitForTimeout(700);
      }
      if (await widget.isVisible()) await input.press('Enter', options);
      // It looks at the folder before it takes the name, and whatever opens meanwhile would cancel it.
      await widget.waitFor({ state: 'hidden', ...options });
    });
  }

  /**
   * A notification, found in their list, because one may have hidden itself meanwhile. The list closes while it is empty:
   * then it is opened again.
   */
  async notification(text: RegExp): Promise<Locator> {
    const all = this.page.locator('.notifications-center .notification-list-item');
    const found = all.filter({ hasText: text });
    try {
      await insisting(async (options) => {
        await this.runCommand('Notifications: Show Notifications');
        await found.waitFor(options);
      });
    } catch (error) {
      const texts = await all.allTextContents();
      throw new Error(`No notification says ${String(text)}, but: ${texts.join(' | ')}`, { cause: error });
    }
    return found;
  }

  /** What the first webview draws: of a view in a side bar, or of an editor panel. */
  webviewFrame(kind: 'webviewView' | 'panel'): FrameLocator {
    const view = '[src*="purpose=webviewView"]';
    const outer = this.page.locator(
      kind === 'webviewView' ? `iframe.webview${view}` : `iframe.webview:not(${view})`,
    );
    return outer.first().contentFrame().frameLocator('#active-frame');
  }

  async clearNotifications(): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
  }

  async closeAllEditors(): Promise<void> {
    await this.runCommand('View: Close All Editors');
  }

  /** Reads what was copied last. */
  async clipboard(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Switches the color theme and waits until the workbench shows it. */
  async setTheme(theme: Theme): Promise<void> {
    await switchTheme(this.page, theme);
  }

  /** The size of the window. @param width CSS pixels @param height CSS pixels */
  async setSize(width: number, height: number): Promise<void> {
    await this.page.setViewportSize({ width, height });
  }

  /** Saves what is seen as `test-results/<name>.png`. @returns the file */
  async screenshot(name: string): Promise<string> {
    const file = path.join(results, `${name}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  /** What stands in the output channel of the extension, of all windows. */
  async outputChannel(): Promise<string> {
    const logs = path.join(this.#window.userData, 'logs');
    const names = (await readdir(logs, { recursive: true })).filter(
      (name) => path.basename(name) === 'Tandem.log',
    );
    return (await Promise.all(names.map((name) => readFile(path.join(logs, name), 'utf8')))).join('');
  }

  /** Keeps the logs of the page, the server and the extension hosts as `test-results/<name>-logs/`. */
  async keepLogs(name: string): Promise<void> {
    const folder = path.join(results, `${name}-logs`);
    await rm(folder, { recursive: true, force: true });
    await cp(path.join(this.#window.userData, 'logs'), folder, { recursive: true });
    await cp(path.join(this.#window.userData, 'server.log'), path.join(folder, 'server.log'));
    await writeFile(path.join(folder, 'page.log'), `${this.#console.join('\n')}\n`);
  }

  /** What is seen in each of the themes, as `test-results/<name>-<theme>.png`; the last theme stays. */
  async pictures(name: string, themes = usualThemes): Promise<void> {
    for (const theme of themes) {
      await this.setTheme(theme);
      await this.screenshot(`${name}-${theme}`);
    }
  }

  /** Ends the browser, the server and everything it started, and removes their files. */
  async close(): Promise<void> {
    await this.#started.disposeAsync();
  }
}

/** Tries again what something else has come between, each time with more patience: the machine may be slow as well. */
export async function insisting(
  act: (options: { readonly timeout: number }) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await act({ timeout: 10_000 * attempt });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
