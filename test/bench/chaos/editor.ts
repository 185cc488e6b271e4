import { build } from 'esbuild';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../../scripts/workbench/browser.mjs';
import { ensureWorkbench } from '../../../scripts/workbench/install.mjs';
import {
  calmSettings,
  startServer,
  testEnvironment,
  testFlags,
  workbenchAddress,
  writeSettings,
  type Server,
} from '../../../scripts/workbench/server.mjs';
import { starterPack } from '../../fixtures/dialogue';
import { processes } from '../../fixtures/processes';
import { readLog } from './reading';
import { kill, type Place } from './victim';

const HOST = /--type=extensionHost/;
const PARTS = /grader\.js|inference\.js|scoring\.js/;
const GRACE_MS = 10_000;
const PAGE_LIMIT_MS = 120_000;

/** A real workbench whose extension host plays dialogues; host, server and the host's processes are killed. */
export class EditorVictim {
  readonly name = 'editor';
  #server: Server | undefined;
  #page: Page | undefined;
  readonly #checks: Promise<void>[] = [];

  private constructor(
    private readonly folder: string,
    private readonly workspace: string,
    private readonly browser: Browser,
    private readonly place: Place,
    private readonly random: () => number,
  ) {}

  /** @param data the data folder in the opened folder */
  static async of(place: Place, data: string, random: () => number): Promise<EditorVictim> {
    const folder = path.join(place.mark, 'editor');
    const workspace = path.dirname(data);
    await mkdir(path.join(workspace, '.vscode'), { recursive: true });
    // It needs its own tasks, because those of the collections have dialogues already.
    const rows = (await readFile(starterPack, 'utf8')).trim().split('\n');
    const own = rows
      .map((row) => JSON.parse(row) as { id: string })
      .map((row) => ({ ...row, id: `editor-${row.id}` }));
    await writeFile(
      path.join(workspace, 'editor.jsonl'),
      own.map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
    await build({
      entryPoints: [path.resolve('test/bench/chaos/player.ts')],
      outfile: path.join(folder, 'player.js'),
      ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node22', external: ['vscode'] },
    });
    const settings = {
      ...calmSettings,
      ...{ 'tandem.agent': 'starter', 'tandem.simulator': 'rules' },
      ...{ 'tandem.session.openGuidelines': false, 'tandem.session.openReference': false },
    };
    writeSettings(path.join(folder, 'user-data'), settings, { replace: true });
    await appendFile(path.join(folder, 'done.txt'), '');
    return new EditorVictim(folder, workspace, await launchBrowser(), place, random);
  }

  async suffer(signal: AbortSignal): Promise<void> {
    await this.#open();
    while (await slept(1000 * (25 + 45 * this.random()), signal)) {
      const which = Math.floor(this.random() * 4);
      if (which === 0) {
        await this.#killServer();
        await this.#open();
      } else if (which === 1) await this.#killPart();
      else await this.#killHost();
    }
    await this.#killServer();
    await Promise.all(this.#checks);
  }

  /** Plays one more dialogue without kills. */
  async finish(): Promise<void> {
    await this.#open();
    const before = (await this.done()).length;
    const begun = performance.now();
    while ((await this.done()).length === before && performance.now() - begun < 2 * PAGE_LIMIT_MS)
      await pause(500);
    if ((await this.done()).length === before)
      this.place.findings.violation(
        this.name,
        'undisturbed it did not play a dialogue to its end in four minutes',
      );
    await this.#server?.stop();
  }

  /** Expects the dialogues whose grade was shown in the log. */
  async expectAll(data: string): Promise<void> {
    const { episodes } = await readLog(data);
    for (const episode of await this.done())
      if (episodes.get(episode)?.grades.length !== 1)
        this.place.findings.violation(
          this.name,
          `the dialogue ${episode}, whose grade it showed, is not in the log once`,
        );
  }

  async done(): Promise<string[]> {
    const text = await readFile(path.join(this.folder, 'done.txt'), 'utf8');
    return text.split('\n').slice(0, -1);
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    await this.browser.close();
  }

  async #open(): Promise<void> {
    this.#server ??= await this.#start();
    await this.#page?.close();
    this.#page = await this.browser.newPage({ viewport: { width: 1280, height: 800 } });
    this.#page.on(
      'console',
      (message) => void appendFile(path.join(this.folder, 'page.log'), `${message.text()}\n`),
    );
    await this.#page.goto(
      workbenchAddress(`127.0.0.1:${this.#server.port}`, {
        ...{
          extension: path.resolve('.'),
          tests: path.join(this.folder, 'player.js'),
          workspace: this.workspace,
        },
      }),
      { timeout: PAGE_LIMIT_MS },
    );
  }

  async #start(): Promise<Server> {
    return startServer(await ensureWorkbench(), {
      userData: path.join(this.folder, 'user-data'),
      flags: testFlags(),
      env: {
        ...testEnvironment,
        TANDEM_CACHE: path.join(this.place.mark, 'cache'),
        TANDEM_CHAOS_DONE: path.join(this.folder, 'done.txt'),
      },
    });
  }

  async #killServer(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.place.findings.killed(`${this.name}: the server`);
    // The leash's holder ends the rest of its group.
    for (const { pid, args } of await this.#own(server, /entry\.js/))
      if (!args.includes('leash.mjs')) kill(pid);
    await server.ended;
  }

  async #killHost(): Promise<void> {
    const hosts = await this.#own(this.#server!, HOST);
    for (const { pid } of hosts) kill(pid);
    if (hosts.length > 0) this.place.findings.killed(`${this.name}: the extension host`);
    this.#checks.push(this.#expectGone(this.#server!));
    await this.#open();
  }

  async #killPart(): Promise<void> {
    const parts = await this.#own(this.#server!, PARTS);
    const part = parts[Math.floor(this.random() * parts.length)];
    if (part === undefined) return;
    kill(part.pid);
    this.place.findings.killed(`${this.name}: ${PARTS.exec(part.args)![0]}`);
  }

  async #own({ group }: Server, line: RegExp): Promise<{ pid: number; args: string }[]> {
    return (await processes()).filter((one) => one.group === group && line.test(one.args));
  }

  async #expectGone(server: Server): Promise<void> {
    const before = await this.#own(server, PARTS);
    await pause(GRACE_MS);
    const now = await this.#own(server, PARTS);
    for (const { pid, args } of before)
      if (now.some((one) => one.pid === pid))
        this.place.findings.violation(
          this.name,
          `process ${pid} outlives its extension host by ten seconds: ${args.slice(0, 200)}`,
        );
  }
}

/** @returns whether the time passed without the signal */
const slept = (milliseconds: number, signal: AbortSignal): Promise<boolean> =>
  pause(milliseconds, true, { signal }).catch(() => false);
