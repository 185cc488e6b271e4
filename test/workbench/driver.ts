import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { FrameLocator, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { results } from '../../scripts/setup/project.mjs';
import type { Server } from '../../scripts/workbench/server.mjs';
import { holdProcess, processes, signal, type RunningProcess } from '../fixtures/processes';
import { openBrowser } from './browser';
import type { Connection } from './connection';
import { MEMORY, readMemory } from './memory';
import { QuickInput } from './quickInput';
import { insisting, repeatedly } from './retries';
import { forPeople, switchTheme, usualThemes, type Theme } from './themes';

/**
 * Maximum wait of a test in milliseconds. Most things take a second, a workbench 5, a trainer that imports torch twice
 * 30, and all of it several times as long on a slow or busy machine. Only a step that fails waits this long, and it
 * ends its story (story.ts).
 */
const timeLimit = 300_000;

/** Windows that are not closed yet. */
export const openWindows = new Set<WorkbenchDriver>();

/** A page of the workbench with its browser and server, which a driver operates. */
export interface Window {
  readonly server: Server;
  readonly connection: Connection;
  readonly page: Page;
  readonly address: string;
  /** Folder of the workbench's settings and logs. */
  readonly userData: string;
}

/** Operates a real workbench only by means that a person has. */
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

  get quickInput(): QuickInput {
    return new QuickInput(this.#page);
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
   * Waits until the workbench has stored its state, so that it restores it after a reload. A browser stores it every
   * few seconds while the page has the focus and is idle, and not when the page is left.
   * @param part of the stored text: an editor's title, or a panel's state, in which quotes are escaped
   * @param of the kind of stored state
   */
  async kept(part: RegExp, of: keyof typeof MEMORY = 'editors'): Promise<void> {
    const started = Date.now();
    await this.page.bringToFront();
    while (!part.test(await this.page.evaluate(readMemory, MEMORY[of]))) {
      if (Date.now() - started > timeLimit) throw new Error(`The workbench has not kept ${part}.`);
      await this.page.waitForTimeout(250);
    }
  }

  /** Waits until a draft reply is on the disk, where it outlives the window. */
  async draftKept(text: string): Promise<void> {
    const storage = path.join(this.#window.userData, 'User', 'workspaceStorage');
    const isDraft = /[\\/]drafts[\\/][^\\/]+\.json$/;
    const drafts = async (): Promise<string[]> => {
      const names = await readdir(storage, { recursive: true });
      return Promise.all(
        names.filter((name) => isDraft.test(name)).map((name) => readFile(path.join(storage, name), 'utf8')),
      );
    };
    // A file may be replaced while it is read; the poll ignores that error.
    await expect.poll(drafts).toContainEqual(expect.stringContaining(JSON.stringify(text)));
  }

  /** Crashes the page without notice to the server, and opens it again. */
  async crash(): Promise<void> {
    const lost = this.#page;
    const devTools = await lost.context().newCDPSession(lost);
    const crashed = lost.waitForEvent('crash');
    // This call never returns.
    void devTools.send('Page.crash').catch(() => undefined);
    await crashed;
    this.#page = this.#heard(await lost.context().newPage());
    await lost.close();
    await this.open();
  }

  /** Cuts the browser off from the server. The workbench retries every few seconds, and shows a message after 40. */
  loseConnection(): void {
    this.#window.connection.lose();
  }

  /** Lets the browser reach the server on its next attempt. */
  regainConnection(): void {
    this.#window.connection.regain();
  }

  /** Opens another window on the same folder, with its own extension host and stored state, as for another person. */
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

  /** Kills the extension hosts of all windows, as a system short of memory does. */
  async killExtensionHosts(): Promise<void> {
    const hosts = await this.extensionHosts();
    if (hosts.length === 0) throw new Error('No extension host is running.');
    for (const pid of hosts) signal(pid, 'SIGKILL');
  }

  /** Returns the process ids of the extension hosts of all windows. */
  async extensionHosts(): Promise<number[]> {
    const hosts = (await processes()).filter((one) => this.#isOwn(one, /--type=extensionHost/));
    return hosts.map(({ pid }) => pid);
  }

  /** Suspends a process of this workbench by its command line (processes.ts). @returns a function that resumes it */
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

  /** Finds the icon of a view container in the activity bar. */
  activityBar(label: string): Locator {
    return this.page.locator('.part.activitybar').getByRole('tab', { name: label });
  }

  /** Opens Tandem's views in the side bar, as the click on its icon does. */
  async showTandem(): Promise<void> {
    const views = this.page.locator('.part.sidebar .pane-header', { hasText: 'Tasks' }).first();
    await repeatedly(views, (options) => this.activityBar('Tandem').click(options));
  }

  /** Opens these views of the side bar and closes the others, because a tree draws only the rows that fit. */
  async openViews(...names: readonly string[]): Promise<void> {
    const headers = this.page.locator('.part.sidebar .pane-header');
    await headers.filter({ hasText: names[0]! }).first().waitFor();
    // By their titles, because a view that appears meanwhile moves those below it.
    for (const name of await headers.locator('.title').allTextContents()) {
      const header = headers.filter({ has: this.page.locator('.title').getByText(name, { exact: true }) });
      // The middle of a header may be one of its buttons.
      const title = header.locator('.title').first();
      const isWanted = String(names.includes(name));
      // A press while the side bar is laid out anew is lost.
      await insisting(async (options) => {
        if ((await header.getAttribute('aria-expanded', options)) !== isWanted) await title.click(options);
        await header.and(this.page.locator(`[aria-expanded=${isWanted}]`)).waitFor(options);
      });
    }
  }

  /**
   * Runs a command through the command palette, as a person does. What was done just before may still move the focus,
   * which closes the palette; then it is opened again.
   * @param title with its category, as shown there
   */
  async runCommand(title: string): Promise<void> {
    await insisting(async (options) => {
      await this.page.keyboard.press('F1');
      await this.quickInput.widget.locator('input.input').fill(`>${title}`, options);
      await this.quickInput.pressRow(title, options);
    });
  }

  /**
   * Finds a notification in the list, because it may have hidden itself. The list closes while it is empty; then it is
   * opened again.
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

  /** Returns the content of the first webview, in a side bar or in an editor panel. */
  webviewFrame(kind: 'webviewView' | 'panel'): FrameLocator {
    return this.#webviews(kind).first().contentFrame().frameLocator('#active-frame');
  }

  #webviews(kind: 'webviewView' | 'panel'): Locator {
    const view = '[src*="purpose=webviewView"]';
    return this.page.locator(
      kind === 'webviewView' ? `iframe.webview${view}` : `iframe.webview:not(${view})`,
    );
  }

  async clearNotifications(): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
  }

  /**
   * Saves the changes in the active editor. The file is written before the workbench knows that it is saved; a reload in between brings
   * the changes back as unsaved ones.
   */
  async save(): Promise<void> {
    const unsaved = this.page.locator('.tab.active.dirty');
    await unsaved.first().waitFor();
    await this.page.keyboard.press('ControlOrMeta+S');
    await unsaved.waitFor({ state: 'detached' });
  }

  /**
   * Closes all editors. It waits until they are gone, because the page of one of them could be taken for the next one
   * that opens, and one that was still opening is closed as well.
   */
  async closeAllEditors(): Promise<void> {
    const left = this.page.locator('.part.editor .tab').or(this.#webviews('panel')).first();
    await insisting(async (options) => {
      await this.runCommand('View: Close All Editors');
      await left.waitFor({ state: 'detached', ...options });
    });
  }

  /** Reads the clipboard. */
  async clipboard(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Switches the color theme and waits until the workbench shows it. */
  async setTheme(theme: Theme): Promise<void> {
    await switchTheme(this.page, theme);
  }

  /** Sets the size of the window. @param width CSS pixels @param height CSS pixels */
  async setSize(width: number, height: number): Promise<void> {
    await this.page.setViewportSize({ width, height });
  }

  /** Saves a screenshot as `test-results/<name>.png`. @returns the file */
  async screenshot(name: string): Promise<string> {
    const file = path.join(results, `${name}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  /** Copies the logs of the page, the server and the extension hosts to `test-results/<name>-logs/`. */
  async keepLogs(name: string): Promise<void> {
    const folder = path.join(results, `${name}-logs`);
    await rm(folder, { recursive: true, force: true });
    await cp(path.join(this.#window.userData, 'logs'), folder, { recursive: true });
    await cp(path.join(this.#window.userData, 'server.log'), path.join(folder, 'server.log'));
    await writeFile(path.join(folder, 'page.log'), `${this.#console.join('\n')}\n`);
  }

  /**
   * Saves a picture in each theme as `test-results/<name>-<theme>.png`; the last theme stays. It is the only one when
   * nobody looks at the pictures.
   */
  async pictures(name: string, themes = usualThemes): Promise<void> {
    for (const theme of forPeople ? themes : themes.slice(-1)) {
      await this.setTheme(theme);
      await this.screenshot(`${name}-${theme}`);
    }
  }

  /** Ends the browser, the server and everything it started, and removes their files. */
  async close(): Promise<void> {
    await this.#started.disposeAsync();
  }
}

/** Heading of a dialogue that is graded. A sampled model may use its last turn for a question, which has no code. */
export const gradedHeading = /\d+ of \d+ tests passed|no test can pass/;
