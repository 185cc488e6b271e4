/*
 * Measures waiting times in a real workbench whose log has 100,000 dialogues: the session's first
 * paint, a dialogue of two hundred turns, and the smoothness of a message streamed into it. Baselines in
 * the same run: the start of the workbench itself, and a message streamed into a dialogue of one turn.
 *
 *   node esbuild.js --production && node test/bench/run.mjs workbench [--trajectories N] [--json]
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { FrameLocator, Locator } from 'playwright-core';
import { startChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import type { WorkbenchDriver } from '../../workbench/driver';
import { startWorkbench } from '../../workbench/launch';
import { firstPaint, framesDuring, scrollThrough, type Frames } from './frames';
import { prepareWorkspace, TURNS } from './workspace';

/** A message of 400 words and some code, streamed with one word every ten milliseconds. */
const message = `OUTPUT:\n${'Which of the *two* cases shall come first in the list? '.repeat(36)}\n\n\`\`\`python\nfirst = 1\n\`\`\`\n\nThat is all.`;
const PIECE_DELAY_MS = 10;

type Report = (what: string, milliseconds: number) => void;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const session = (workbench: WorkbenchDriver): FrameLocator => workbench.webviewFrame('panel');
const rows = (workbench: WorkbenchDriver, view: string): Locator =>
  workbench.page.getByRole('tree', { name: view }).getByRole('treeitem');

/** Measures a message that is streamed into a new dialogue of one turn. */
async function shortDialogue(workbench: WorkbenchDriver, report: Report): Promise<Frames> {
  await workbench.page.locator('.pane-header', { hasText: 'Tasks' }).click();
  const task = rows(workbench, 'Tasks').filter({ hasText: 'Course mark' });
  await task.waitFor();
  report(
    'session of a new task, from the click on',
    await timed(async () => {
      await task.click();
      await session(workbench).getByRole('heading', { name: 'Course mark' }).waitFor();
    }),
  );
  report('  its first picture, after its frame is there', await firstPaint(session(workbench)));
  await session(workbench).getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  const frames = await framesDuring(session(workbench), async () => {
    await session(workbench).getByRole('button', { name: 'Agree and start' }).click();
    await session(workbench).getByText('turn 1 of').waitFor();
    await composer(workbench).waitFor();
  });
  await workbench.closeAllEditors();
  return frames;
}

const composer = (workbench: WorkbenchDriver): Locator =>
  session(workbench).getByRole('textbox', { name: 'Your reply to the agent' });

async function longDialogue(workbench: WorkbenchDriver, report: Report): Promise<[Frames, Frames]> {
  await workbench.page.getByRole('tree', { name: 'Dialogues' }).press('Home');
  const row = rows(workbench, 'Dialogues').filter({ hasText: 'Parcel surcharge' });
  report(
    `session of ${TURNS} turns, from the click on`,
    await timed(async () => {
      await row.click();
      await session(workbench)
        .locator('tandem-turn')
        .nth(TURNS - 1)
        .waitFor();
      await composer(workbench).waitFor();
    }),
  );
  report('  its first picture, after its frame is there', await firstPaint(session(workbench)));
  const scrolled = await framesDuring(session(workbench), () =>
    scrollThrough(session(workbench).locator('main')),
  );
  await session(workbench).locator('main').press('End');
  await composer(workbench).fill('That one.');
  const written = await framesDuring(session(workbench), async () => {
    await composer(workbench).press('Enter');
    await session(workbench).locator('tandem-turn').nth(TURNS).waitFor();
  });
  return [scrolled, written];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { trajectories: { type: 'string', default: '100000' }, json: { type: 'boolean' } },
  });
  const figures: [string, number][] = [];
  const report: Report = (what, milliseconds) => {
    figures.push([what, milliseconds]);
    if (values.json !== true) console.log(`${what.padEnd(56)} ${milliseconds.toFixed(0).padStart(6)} ms`);
  };
  const reportFrames = (what: string, frames: Frames): void => {
    for (const which of ['median', 'p95', 'longest'] as const) report(`${what}, ${which}`, frames[which]);
  };
  await using server = await startChatServer({
    reply: () => answer(message, { pieceDelay: PIECE_DELAY_MS }),
  });
  const workspace = await prepareWorkspace(Number(values.trajectories), `openai:bench@${server.url}`);
  try {
    const workbench = await startWorkbench({ extension: path.resolve('.'), workspace });
    try {
      report('the workbench itself, from the reload on', await timed(() => workbench.reload()));
      await workbench.activityBar('Tandem').click();
      await workbench.openViews('Dialogues');
      const short = await shortDialogue(workbench, report);
      const [scrolled, written] = await longDialogue(workbench, report);
      reportFrames('frames while one turn is written', short);
      reportFrames(`frames while turn ${TURNS + 1} is written`, written);
      reportFrames(`frames while ${TURNS} turns are scrolled`, scrolled);
    } catch (error) {
      await workbench.screenshot('bench-workbench');
      throw error;
    } finally {
      await workbench.close();
    }
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
  if (values.json === true) console.log(JSON.stringify(Object.fromEntries(figures)));
}

await main();
