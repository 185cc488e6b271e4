/*
 * Measures the cost of watching a run of 100,000 steps that writes steps much faster than a trainer: the work of the
 * extension host, which reads and folds the events, and of the view in a real browser, which draws them. Both are in
 * milliseconds of work per second. It also measures opening a finished run.
 *
 *   node esbuild.js --production && node test/bench/run.mjs runs [--steps N] [--seconds N] [--pinned N] [--json]
 */
import { createWriteStream } from 'node:fs';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchBrowser } from '../../../scripts/workbench/browser.mjs';
import { EventTail } from '../../../src/core/training/eventFile';
import { RunHistory, type ReadCurves } from '../../../src/core/training/history/history';
import type { Run } from '../../../src/core/training/runs';
import { toldView } from '../../../src/editor/runs/told';
import { curvesView, runView } from '../../../src/editor/runs/view';
import type { ChartName } from '../../../webview/chart/protocol';
import type { ToWebview } from '../../../webview/run/protocol';
import { runLines } from './lines';

/** Interval of messages, the same as the panel's. */
const TELL_EVERY_MS = 500;
const t = ((message: string, ...values: unknown[]) =>
  message.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]))) as never;

const run: Run = {
  ...{ id: 'bench', folder: '/nowhere/runs/bench', name: 'sweet-rl #4', method: 'sweet-rl', base: 'starter' },
  ...{ state: 'running', isLive: true, canResume: false, lastLines: [], startedAt: '', changedAt: '' },
};

/** The extension host's half: the panel's work on a run's folder, without the editor. */
class Host {
  private readonly history = new RunHistory();
  private readonly tail: EventTail;
  private readonly read = new Map<string, ReadCurves>();
  /** Milliseconds of CPU time; `bytes` counts what was sent. */
  work = 0;
  bytes = 0;

  constructor(
    file: string,
    private readonly pinned: readonly ChartName[],
  ) {
    this.tail = new EventTail(file);
  }

  get events(): number {
    return this.history.events;
  }

  async news(): Promise<ToWebview[]> {
    const begun = process.cpuUsage();
    await this.history.read(this.tail);
    const view = runView(
      run,
      this.history,
      { figure: 'loss' },
      { t, dataFolder: '/nowhere', restriction: '', kept: [], pinned: this.pinned },
    );
    const messages: ToWebview[] = [view];
    const curves = curvesView(this.history, view, this.read);
    if (curves !== undefined) messages.push(curves);
    messages.push(toldView(this.history, 'en', t));
    this.bytes += JSON.stringify(messages).length;
    const { user, system } = process.cpuUsage(begun);
    this.work += (user + system) / 1000;
    return messages;
  }

  close(): Promise<void> {
    return this.tail.close();
  }
}

/** Address of the built view; no server listens there, because the requests are intercepted. */
const address = 'http://view.localhost';
const built = path.resolve('dist', 'webview');
const document = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8" />
  <link rel="stylesheet" href="run.css" /></head>
  <body><tandem-run></tandem-run><script type="module" src="run.js"></script></body></html>`;

/** Opens a page with only the view and a silent editor. */
async function newViewPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.addInitScript(() => {
    const api = { postMessage: () => undefined, getState: () => undefined, setState: () => undefined };
    Object.assign(globalThis, { acquireVsCodeApi: () => api });
  });
  await page.route(`${address}/**`, (route) => {
    const file = path.basename(new URL(route.request().url()).pathname);
    return file === ''
      ? route.fulfill({ contentType: 'text/html', body: document })
      : route.fulfill({ path: path.join(built, file) });
  });
  return page;
}

async function openView(page: Page): Promise<void> {
  await page.goto(`${address}/`);
  await page.waitForFunction(() => customElements.get('tandem-run') !== undefined);
}

/** Sends messages, and waits until they are drawn. */
async function show(page: Page, messages: readonly ToWebview[]): Promise<void> {
  await page.evaluate(async (all) => {
    for (const data of all) window.dispatchEvent(new MessageEvent('message', { data }));
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    await frame();
  }, messages);
}

/** Expects the right curve, because figures of another picture would be meaningless. */
async function expectCurve(page: Page, steps: number): Promise<void> {
  const label = new RegExp(`^Loss of critic, from .* at step ${steps.toLocaleString('en')}\\.`);
  await page.getByRole('img', { name: label }).locator('canvas').waitFor({ timeout: 10_000 });
}

/** Returns the seconds of work of the page's thread. */
async function workOf(devTools: CDPSession): Promise<number> {
  const { metrics } = await devTools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      steps: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '40' },
      /** Number of charts that are pinned below the chosen one, 0 to 6. */
      pinned: { type: 'string', default: '0' },
      json: { type: 'boolean' },
    },
  });
  const [steps, seconds] = [Number(values.steps), Number(values.seconds)];
  const pinned = [
    'accuracy',
    'margin',
    'nll',
    'gradient_norm',
    'learning_rate',
    'tokens_per_second',
  ] as const;
  const charts = pinned
    .slice(0, Number(values.pinned))
    .map((figure) => ({ stage: 'critic', figure }) as const);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-runs-bench-'));
  const browser = await launchBrowser();
  const figures: Record<string, number> = {};
  try {
    const page = await newViewPage(browser);
    await openView(page);
    const devTools = await page.context().newCDPSession(page);
    // Thread time excludes other work of the machine.
    await devTools.send('Performance.enable', { timeDomain: 'threadTicks' });

    const lines = [...runLines(steps)];
    const live = path.join(folder, 'live.jsonl');
    await writeFile(live, '');
    const host = new Host(live, charts);
    const ticks = Math.ceil((seconds * 1000) / TELL_EVERY_MS);
    const each = Math.ceil(lines.length / ticks);
    const begun = performance.now();
    const before = await workOf(devTools);
    for (let tick = 0; tick < ticks; tick += 1) {
      await appendFile(live, lines.slice(tick * each, (tick + 1) * each).join(''));
      await show(page, await host.news());
      const next = begun + (tick + 1) * TELL_EVERY_MS;
      await sleep(Math.max(0, next - performance.now()));
    }
    const took = (performance.now() - begun) / 1000;
    figures['steps per second'] = steps / took;
    figures['host, ms of work per second'] = host.work / took;
    figures['view, ms of work per second'] = (1000 * ((await workOf(devTools)) - before)) / took;
    figures['sent, KB per second'] = host.bytes / 1000 / took;
    figures['events that were read'] = host.events;
    await host.close();
    await expectCurve(page, steps);

    const whole = path.join(folder, 'whole.jsonl');
    await new Promise<void>((resolve, reject) => {
      const file = createWriteStream(whole);
      file.once('error', reject);
      file.end(lines.join(''), resolve);
    });
    const opened = new Host(whole, charts);
    await openView(page);
    const opening = performance.now();
    const resting = await workOf(devTools);
    await show(page, await opened.news());
    await expectCurve(page, steps);
    figures['opening a run with all its steps, ms'] = performance.now() - opening;
    figures['  of which work of the host, ms'] = opened.work;
    figures['  of which work of the view, ms'] = 1000 * ((await workOf(devTools)) - resting);
    await opened.close();
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
  if (values.json === true) console.log(JSON.stringify(figures));
  else
    for (const [what, value] of Object.entries(figures))
      console.log(`${what.padEnd(40)} ${value.toFixed(0).padStart(8)}`);
}

await main();
