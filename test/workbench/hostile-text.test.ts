import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { NewEvent } from '../../src/core/trajectory/event';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { starterTask } from '../fixtures/dialogue';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';

/** All known attacks of an agent, in one message. */
const hostile = [
  '<script>document.title = "taken"</script><img src="https://example.org/pixel.png" onerror="alert(1)">',
  '<iframe src="https://example.org/"></iframe><style>main { display: none }</style>',
  '![pixel](https://example.org/pixel.png) [run](command:workbench.action.terminal.new) [x](javascript:alert(1))',
  'Only admins\u202E nimda ton\u2066 may. \u001b]8;;https://example.org\u0007terminal\u001b[2J',
  '```html\n</code></pre><script>document.title = "taken"</script>\n```',
].join('\n\n');

let workspace: string;
let workbench: WorkbenchDriver;
/** Requests of the page to addresses outside of this machine. */
const outside: string[] = [];

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const turns = () => session().locator('tandem-turn');

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-hostile-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({ 'tandem.agent': 'script:agents/asks-first.json', 'tandem.simulator': 'rules' }),
  );
  await writeDialogues(path.join(workspace, '.tandem'));
  workbench = await startWorkbench({ extension: root, workspace });
  workbench.page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (
      /^https?:$/.test(protocol) &&
      !/^(127\.0\.0\.1|(.*\.)?localhost|.*\.vscode-cdn\.net)$/.test(hostname)
    ) {
      outside.push(request.url());
    }
  });
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

/** Logs a dialogue with a hostile agent, and one of two hundred turns; both await the developer. */
async function writeDialogues(dataFolder: string): Promise<void> {
  const log = await TrajectoryLog.open(dataFolder);
  const task = await starterTask();
  await log.recordTask(task);
  const said = (episode: string, turn: number, text: string): NewEvent => ({
    ...{ event: 'agent-turn', episode, turn, text: `Hm.\nOUTPUT:\n${text}` },
    ...{ finishReason: 'stop', model: 'hostile' },
  });
  const reply = (episode: string, turn: number, text: string): NewEvent => ({
    ...{ event: 'reply', episode, turn, text },
    ...{ author: 'simulator', by: 'rules' },
  });
  for (const [episode, texts] of [
    ['long', Array.from({ length: 200 }, (_, index) => `Question **${index + 1}**?\n\n\`\`\`\nf(1)\n\`\`\``)],
    ['hostile', [hostile, 'Was that all?']],
  ] as const) {
    await log.append({
      ...{ event: 'episode-started', episode, task: task.id, agent: episode, seed: 1, prompts: {} },
      collaborator: { kind: 'developer', name: 'ada' },
      protocol: { maxTurns: 200, replyLimit: 400 },
    });
    await log.appendAll(
      texts.flatMap((text, index) => {
        const turn = said(episode, index + 1, text);
        return index + 1 === texts.length
          ? [turn]
          : [turn, reply(episode, index + 1, `\u202EAnswer ${index}`)];
      }),
    );
  }
  await log.close();
}

const openDialogue = (agent: string, shown: Locator): Promise<void> =>
  openRow(workbench.page.getByRole('treeitem', { name: new RegExp(`Parcel surcharge.*${agent}`) }), shown);

test('shows what a hostile agent says as text that does nothing', async () => {
  await workbench.showTandem();
  await openDialogue('hostile', session().getByText('Was that all?'));
  await session().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await turns().first().scrollIntoViewIfNeeded();
  await session().getByText('Only admins[U+202E] nimda ton[U+2066] may.').waitFor();
  await session().getByText('[U+001B]]8;;https://example.org[U+0007]terminal[U+001B][2J').waitFor();
  await session().getByText('[U+202E]Answer 0').waitFor();
  await expect
    .poll(() => session().locator('main').locator('img, iframe, script, style, a, object').count())
    .toBe(0);
  await expect.poll(() => session().locator('title').innerText()).toBe('Tandem dialogue');
  expect(outside).toEqual([]);
});

test('scrolls through two hundred turns, and draws only what changes', async () => {
  await workbench.closeAllEditors();
  await openDialogue('long', session().getByText('turn 200 of 200'));
  await expect.poll(() => turns().count()).toBe(200);
  await expect
    .poll(() => turns().evaluateAll((all) => all.map((one) => getComputedStyle(one).contentVisibility)))
    .toEqual(Array.from({ length: 200 }, () => 'auto'));
  await session().locator('main').press('Home');
  await session().getByText('Question 1?').waitFor();
  await session().locator('main').press('End');
  await session().getByText('Question 200?').waitFor();
  const drawn = await session()
    .locator('[role=log]')
    .evaluateHandle((log) => {
      const changed = new Set<Element | null>();
      const observer = new MutationObserver((records) => {
        for (const { target } of records) changed.add((target as Element).closest('tandem-turn'));
      });
      observer.observe(log, { subtree: true, childList: true, characterData: true, attributes: true });
      return changed;
    });
  await session()
    .getByRole('group', { name: 'Your rating of turn 200' })
    .getByRole('button')
    .first()
    .press('Enter');
  await session().getByRole('button', { name: 'Good message', pressed: true }).waitFor();
  expect(await drawn.evaluate((changed) => changed.size)).toBe(1);
});
