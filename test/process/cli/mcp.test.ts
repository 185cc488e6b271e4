import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ProgressNotificationSchema,
  type CallToolResult,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../../src/core/tools/tools';
import { Runs } from '../../../src/core/training/runs';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { startChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { answers, starterPack } from '../../fixtures/dialogue';
import { runNode } from '../../fixtures/tasks';
import { asksFirst } from '../../fixtures/trainer';

// The SDK's own client drives `tandem mcp` over stdio, as the agent of an editor does.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-mcp-'));
const data = path.join(folder, '.tandem');
const pack = 'packs/written-by-hand.jsonl';

/** No limit of time, because machines differ. */
const unhurried = { timeout: 900_000 };

let client: Client;

beforeAll(async () => {
  await mkdir(path.join(folder, 'packs'));
  await cp(starterPack, path.join(folder, pack));
  await cp(path.resolve('samples/workspace/starter-world.jsonl'), path.join(folder, 'starter-world.jsonl'));
  await writeFile(path.join(folder, 'notes.jsonl'), '{"note": "no task"}\n');
  client = new Client({ name: 'a test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [path.resolve('dist/tandem.js'), 'mcp', '--jobs', '1', '--max-turns', '6'],
      cwd: folder,
      env: { ...(process.env as Record<string, string>), TANDEM_CACHE: folder },
    }),
    unhurried,
  );
});

afterAll(async () => {
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

/** Calls a tool; with a `progressToken` it tells how far it is. */
async function call(
  name: string,
  input: Record<string, unknown> = {},
  { progressToken, ...options }: { signal?: AbortSignal; progressToken?: string } = {},
): Promise<CallToolResult & { said: string }> {
  const asked = { name, arguments: input, ...(progressToken !== undefined && { _meta: { progressToken } }) };
  const limits = { ...unhurried, ...options };
  const result = (await client.callTool(asked, undefined, limits)) as CallToolResult;
  const said = result.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
  return { ...result, said };
}

const stage = { learning_rate: 1e-2, batch: 1, patience: 0, evaluate_every: 1000 };
const configuration = {
  name: 'tiny',
  method: 'rft',
  model: { base: path.resolve('media/starter'), device: 'cpu', lora_rank: 2 },
  data: { log: '.tandem', held_out: 0.5, minimum_reward: 0 },
  policy: { ...stage, epochs: 1e5 },
  resources: { token_budget: 4096, checkpoint_activations: false, threads: 1 },
};

describe('tandem mcp', () => {
  it('ends when nobody is there to ask, and prints nothing of its own', async () => {
    const { code, stdout } = await runNode([path.resolve('dist/tandem.js'), 'mcp', '--tasks', starterPack]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });

  it('takes null for what a message leaves out', async () => {
    const initialize = {
      ...{ protocolVersion: '2025-06-18', capabilities: {} },
      clientInfo: { name: 'other', version: '1' },
    };
    const asked = [
      { id: 1, method: 'initialize', params: initialize },
      { id: 2, method: 'tools/list', params: null },
      { id: 3, method: 'tools/call', params: { name: 'tandem_list_packs', arguments: null, _meta: null } },
      { id: 4, method: 'tools/call', params: { name: 'tandem_list_runs', arguments: { run: null } } },
    ];
    const input = asked.map((request) => JSON.stringify({ jsonrpc: '2.0', ...request })).join('\n');
    const raw = spawn(process.execPath, [path.resolve('dist/tandem.js'), 'mcp'], { cwd: folder });
    raw.stdin.write(`\uFEFF${input}\n`);
    const answered = new Map<unknown, unknown>();
    for await (const line of createInterface(raw.stdout)) {
      const { id, result } = JSON.parse(line) as { id: unknown; result?: { isError?: boolean } };
      answered.set(id, result?.isError ?? result !== undefined);
      if (answered.size === asked.length) raw.stdin.end();
    }
    expect(Object.fromEntries(answered)).toEqual({ 1: true, 2: true, 3: true, 4: true });
  });

  it('lists every tool with what it does, its input and whether it acts', async () => {
    const { tools: listed } = await client.listTools(undefined, unhurried);
    expect(listed.map(({ name }) => name)).toEqual(Object.keys(tools));
    const collect = listed.find(({ name }) => name === 'tandem_collect')!;
    expect(collect.inputSchema).toMatchObject({ type: 'object', required: ['packs', 'tasks'] });
    expect(collect.annotations).toMatchObject({ destructiveHint: false, openWorldHint: true });
  });

  it('refuses bad input and does nothing', async () => {
    const refused = await call('tandem_stop_run', { run: 'none' });
    expect(refused).toMatchObject({ isError: true, said: expect.stringContaining('"none"') as string });
    await expect(call('tandem_other')).rejects.toThrow('tandem_other');
    expect(await new Runs(data).list()).toEqual([]);
  });

  it('collects with the starter agent, shows the figures, trains on the dialogues and stops', async () => {
    const progress: Progress[] = [];
    // The SDK's `onprogress` loses a notification that is read together with the result.
    client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void progress.push(params));
    const collected = await call(
      'tandem_collect',
      { packs: ['starter-world'], tasks: 2, simulator: 'rules' },
      { progressToken: 'collecting' },
    );
    expect(collected.structuredContent).toMatchObject({ done: 2, total: 2, already: 0, agent: 'starter' });
    expect(progress.at(-1)).toMatchObject({
      ...{ progressToken: 'collecting', progress: 2, total: 2, message: '2 of 2 dialogues' },
    });
    const again = await call('tandem_collect', { packs: ['starter-world.jsonl'], tasks: 2 });
    expect(again.structuredContent).toMatchObject({ done: 2, already: 2 });

    // Training needs tasks on both sides of the split, whatever the starter agent makes of its own.
    await call('tandem_collect', { packs: [pack], tasks: 6, agent: asksFirst });
    const figures = await call('tandem_show_figures', { by: 'agent' });
    expect(figures.structuredContent).toMatchObject({
      dialogues: 8,
      groups: [{ dialogues: 6 }, { name: 'starter' }],
    });

    await writeFile(path.join(folder, 'run.json'), JSON.stringify(configuration));
    const started = await call('tandem_start_run', { configuration: 'run.json' });
    expect(started.isError, started.said).toBeUndefined();
    const { id } = started.structuredContent as { id: string };
    const listed = await call('tandem_list_runs');
    expect(listed.structuredContent).toMatchObject({ runs: [{ id, name: 'tiny', isLive: true }] });
    const stopped = await call('tandem_stop_run', { run: id.slice(-4) });
    expect(stopped.structuredContent).toMatchObject({ id, state: 'stopped', canResume: true });
    expect((await call('tandem_list_runs', { run: id })).said).toContain('stopped');
  });

  it('evaluates agents on the same tasks', async () => {
    const guesses = path.join(folder, 'guesses.json');
    await writeFile(guesses, JSON.stringify(['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']));
    const agents = [`script:${guesses}`, asksFirst];
    const { structuredContent, said } = await call('tandem_evaluate', { packs: [pack], tasks: 3, agents });
    expect(structuredContent).toMatchObject({
      agents: [
        { agent: agents[0], success: { mean: 0 } },
        { agent: asksFirst, tasks: 3 },
      ],
      comparisons: [{ baseline: agents[0], agent: asksFirst, success: { tasks: 3 } }],
    });
    expect(said).not.toMatch(/ground_truth|def /);
  });

  it('leaves a log that opens, and what was played, when a collection is cancelled', async () => {
    let asked = 0;
    const cancel = new AbortController();
    await using server = await startChatServer({
      reply: async () => {
        asked += 1;
        // The second task is being played, and the first is in the log.
        if (asked > 1) {
          cancel.abort('enough');
          await new Promise(() => undefined);
        }
        return Promise.resolve(answer(answers('def f(): return 1')));
      },
    });
    const agent = `openai:m@${server.url}`;
    const input = { packs: [pack], tasks: 12, agent };
    await expect(call('tandem_collect', input, { signal: cancel.signal })).rejects.toThrow('enough');
    // The server goes on to serve, and does not play on.
    expect((await call('tandem_list_packs')).isError).toBeUndefined();
    const log = await TrajectoryLog.open(data);
    expect(log.problems).toEqual([]);
    expect(log.count({ agent: `openai:m@${server.url}` }).total).toBeGreaterThan(0);
    await log.close();
  });
});
