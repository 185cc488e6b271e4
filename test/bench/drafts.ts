/*
 * Measures the time from the last token of a web page, at the model's server, to the draft in its frame, in a real
 * workbench. A fake server writes each page but its end, and then the end. Of a published pack the first pages are the
 * drafts; without one they are small.
 *
 *   npm run build && node test/bench/run.mjs drafts [PACK]
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { readTasks } from '../../src/core/task/pack';
import { startChatServer } from '../fixtures/chat-server';
import { pauseBeforeEnd } from '../fixtures/chat-server-replies';
import { startWorkbench } from '../workbench/launch';
import { openRow } from '../workbench/rows';

const TURNS = 40;

const page = (body: string): string => `<html><body>${body}</body></html>`;

async function bodiesOf(pack: string | undefined): Promise<string[]> {
  if (pack === undefined) return ['<h1>Bread</h1><p>Fresh every morning.</p>'];
  const bodies: string[] = [];
  for await (const read of readTasks(pack))
    if ('task' in read && read.task.kind === 'page')
      bodies.push(/<body[^>]*>([^]*)<\/body>/i.exec(read.task.reference)?.[1] ?? read.task.reference);
  return bodies;
}

const bodies = await bodiesOf(process.argv[2]);
const pages = Array.from({ length: TURNS }, (_, turn) =>
  page(`<h6 id="draft-${turn}">Draft ${turn}</h6>${bodies[turn % bodies.length]!}`),
);
let mayEnd = Promise.withResolvers<unknown>();
let begun = Promise.withResolvers<unknown>();
const agent = await startChatServer({
  reply: ({ body }) => {
    const turn = body.messages.filter(({ role }) => role === 'assistant').length;
    begun.resolve(undefined);
    return pauseBeforeEnd(`OUTPUT:\n${pages[turn]!}`, mayEnd.promise);
  },
});
const workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-drafts-bench-'));
const task = { id: 'bread', kind: 'page', ground_truth: page(bodies[0]!), problem_description: 'A page.' };
await writeFile(path.join(workspace, 'pages.jsonl'), `${JSON.stringify(task)}\n`);
await mkdir(path.join(workspace, '.vscode'));
const settings = {
  ...{ 'tandem.agent': `openai:painter@${agent.url}`, 'tandem.simulator': 'rules' },
  'tandem.protocol.maxTurns': TURNS + 1,
};
await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
const workbench = await startWorkbench({ extension: path.resolve('.'), workspace });
const times: number[] = [];
try {
  await workbench.showTandem();
  const session = workbench.webviewFrame('panel');
  const pseudonym = session.getByRole('textbox', { name: 'Pseudonym' });
  await openRow(workbench.page.getByRole('treeitem', { name: /Bread, page/ }), pseudonym);
  await pseudonym.fill('ada');
  const area = session.getByRole('region', { name: 'Draft and wanted page' });
  for (let turn = 0; turn < TURNS; turn++) {
    if (turn > 0) await session.getByRole('textbox', { name: 'Your reply to the agent' }).fill('Go on.');
    await workbench.page.keyboard.press('Enter');
    await begun.promise;
    await session.getByText(/Page so far: \d+ characters/).waitFor();
    const seen = area.evaluate(timeOfDraft, turn);
    // The view is looking before the end is sent.
    await workbench.page.waitForTimeout(50);
    const ended = Date.now();
    mayEnd.resolve(undefined);
    times.push((await seen) - ended);
    await session.locator('#reply:focus').waitFor();
    mayEnd = Promise.withResolvers();
    begun = Promise.withResolvers();
  }
} finally {
  await workbench.close();
  await agent.close();
  await rm(workspace, { recursive: true, force: true });
}
const sorted = times.toSorted((a, b) => a - b);
const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!;
console.log(
  `${sorted.length} drafts, milliseconds: median ${at(0.5)}, 95th percentile ${at(0.95)}, most ${at(1)}`,
);

/** Runs in the view. @returns when that draft is in its frame, looked for with each picture of the screen */
function timeOfDraft(area: Element, turn: number): Promise<number> {
  return new Promise((resolve) => {
    const look = (): void => {
      const frame = area.querySelector<HTMLIFrameElement>('.of-draft iframe');
      const title = frame?.contentDocument?.querySelector('h6');
      if (title?.textContent === `Draft ${turn}`) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  });
}
