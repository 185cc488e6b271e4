import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendering } from '../../../src/core/dialogue/conversation';
import { Prompts } from '../../../src/core/dialogue/prompts';
import { Fault } from '../../../src/core/fault';
import { exportTrajectories, type ExportOptions } from '../../../src/core/trajectory/export/export';
import { importTrajectories, type ImportResult } from '../../../src/core/trajectory/import';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { prepareData } from '../../../src/core/training/data/prepare';
import { agentTurn, answered, doubling, openLog, reply, started, temporaryFolder } from '../../fixtures/log';

const folderOfPrompts = resolve('trainer/tandem_trainer/data/prompts');
const prompts = await Prompts.load(folderOfPrompts);

async function write(content: string, name = 'session.jsonl'): Promise<string> {
  const file = join(await temporaryFolder(), name);
  await writeFile(file, content);
  return file;
}

const lines = (values: readonly unknown[]): string =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');

async function imported(
  content: string,
  name?: string,
): Promise<{ log: TrajectoryLog; result: ImportResult; all: Trajectory[]; file: string }> {
  const log = await openLog();
  const file = await write(content, name);
  const result = await importTrajectories(log, file);
  return { log, result, all: await trajectories(log), file };
}

async function trajectories(log: TrajectoryLog): Promise<Trajectory[]> {
  const { rows } = log.list({ offset: 0, limit: 99, sort: 'oldest' });
  return Promise.all(rows.map(async ({ id }) => (await log.trajectory(id))!));
}

/** Role and text of all that was said, in order. */
const said = ({ task, turns }: Trajectory): string[] => [
  `user: ${task.description}`,
  ...turns.flatMap(({ agent, reply: replied }) => [
    ...(agent.imported?.parts ?? [{ kind: 'text', text: agent.text }]).map(
      ({ kind, text }) => `${kind}: ${text}`,
    ),
    ...(replied === undefined ? [] : [`user: ${replied.text}`]),
  ]),
];

const T = (second: number): string => `2026-08-10T12:00:0${second}.000Z`;

const atif = {
  schema_version: 'ATIF-v1.5',
  session_id: 's1',
  agent: { name: 'copilot-agent', version: '1.0.0', model_name: 'gpt-4' },
  steps: [
    { step_id: 1, source: 'system', message: 'You help.' },
    { step_id: 2, timestamp: T(0), source: 'user', message: 'Find the files.' },
    {
      ...{ step_id: 3, timestamp: T(1), source: 'agent', message: 'I look.', model_name: 'gpt-4' },
      reasoning_content: 'Where?',
      tool_calls: [{ tool_call_id: 'c1', function_name: 'search', arguments: { q: 'a' }, mcp_server: 'm' }],
      observation: { results: [{ source_call_id: 'c1', content: 'a.ts' }] },
      metrics: { prompt_tokens: 5 },
    },
    { step_id: 4, timestamp: T(2), source: 'agent', message: [{ type: 'text', text: 'It is a.ts.' }] },
    { step_id: 5, timestamp: T(3), source: 'user', message: 'Thanks.' },
  ],
};
const ofAtif = [
  'user: Find the files.',
  ...['thoughts: Where?', 'text: I look.', 'call: {"q":"a"}', 'result: a.ts', 'text: It is a.ts.'],
  'user: Thanks.',
];

const sts = [
  { type: 'session', harness: 'my-agent', id: 'b1', name: 'what time is it', more: 1 },
  { type: 'message', message: { role: 'user', content: 'what time is it?', timestamp: Date.parse(T(0)) } },
  {
    type: 'message',
    message: {
      ...{ role: 'assistant', content: '', reasoningContent: 'A clock.', model: 'm1' },
      toolCalls: [{ id: 't1', function: { name: 'get_time', arguments: '{}' } }],
    },
  },
  { type: 'message', message: { role: 'tool', toolCallId: 't1', content: '15:00' } },
  { type: 'message', message: { role: 'assistant', content: 'it is 15:00 UTC' } },
];
const ofSts = [
  'user: what time is it?',
  'thoughts: A clock.',
  'call: {}',
  'result: 15:00',
  'text: it is 15:00 UTC',
];

const line = (
  uuid: string,
  parentUuid: string | null,
  role: 'user' | 'assistant',
  content: unknown,
  more = {},
) => ({
  ...{ type: role, uuid, parentUuid, sessionId: 'c1', timestamp: T(1), cwd: '/home/a', isSidechain: false },
  message: { role, content, ...(role === 'assistant' && { model: 'claude-x' }) },
  ...more,
});
const claude = [
  { type: 'mode', mode: 'default', sessionId: 'c1' },
  { type: 'summary', summary: 'Tests that fail', leafUuid: 'a4' },
  line('u1', null, 'user', 'Why do the tests fail?'),
  line('a0', 'u1', 'assistant', [{ type: 'text', text: 'A way that was left.' }]),
  line('a1', 'u1', 'assistant', [
    { type: 'thinking', thinking: 'Run them.', signature: 'x' },
    { type: 'text', text: 'I run them.' },
    { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } },
  ]),
  line('a2', 'a1', 'assistant', [{ type: 'tool_use', id: 't2', name: 'Read', input: { file: 'a' } }]),
  line('r1', 'a1', 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'one failed' }]),
  line('s1', 'a1', 'assistant', [{ type: 'text', text: 'of a subagent' }], { isSidechain: true }),
  line('r2', 'a2', 'user', [
    { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'the file' }] },
  ]),
  line('a3', 'r2', 'assistant', [{ type: 'text', text: 'A wrong sign.' }]),
  line('u2', 'a3', 'user', [{ type: 'text', text: 'Mend it.' }]),
  line('a4', 'u2', 'assistant', [{ type: 'text', text: 'Done.' }]),
];
const ofClaude = [
  'user: Why do the tests fail?',
  ...['thoughts: Run them.', 'text: I run them.', 'call: {"command":"npm test"}', 'call: {"file":"a"}'],
  ...['result: one failed', 'result: the file', 'text: A wrong sign.'],
  ...['user: Mend it.', 'text: Done.'],
];

const item = (payload: object) => ({ timestamp: T(1), type: 'response_item', payload });
const codex = [
  { timestamp: T(0), type: 'session_meta', payload: { id: 'x1', cwd: '/home/a', cli_version: '1' } },
  item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules.' }] }),
  item({
    ...{ type: 'message', role: 'user' },
    content: [{ type: 'input_text', text: '<environment_context>a</environment_context>' }],
  }),
  { timestamp: T(0), type: 'turn_context', payload: { model: 'gpt-x' } },
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Run the tests.' }] }),
  { timestamp: T(1), type: 'event_msg', payload: { type: 'user_message', message: 'Run the tests.' } },
  item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Run.' }], encrypted_content: 'x' }),
  item({ type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'k1' }),
  item({ type: 'function_call_output', call_id: 'k1', output: 'passed' }),
  item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'k2' }),
  item({ type: 'custom_tool_call_output', call_id: 'k2', output: [{ type: 'input_text', text: 'ok' }] }),
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'They pass.' }] }),
  { timestamp: T(2), type: 'event_msg', payload: { type: 'agent_message', message: 'They pass.' } },
];
const ofCodex = [
  ...['user: Run the tests.', 'thoughts: Run.', 'call: {"command":["ls"]}', 'result: passed'],
  ...['call: *** Begin', 'result: ok', 'text: They pass.'],
];
const events = codex.filter(({ type }) => type !== 'response_item');
const pi = [
  { type: 'session', version: 3, id: 'p1', timestamp: T(0), cwd: '/home/a' },
  {
    type: 'message',
    id: '1',
    parentId: null,
    message: { role: 'user', content: [{ type: 'text', text: 'Hi?' }] },
  },
  {
    type: 'message',
    id: '2',
    parentId: '1',
    message: { role: 'assistant', content: [{ type: 'text', text: 'Left.' }] },
  },
  {
    ...{ type: 'message', id: '3', parentId: '1' },
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'toolCall', id: 'c', name: 'ls', arguments: { a: 1 } },
      ],
    },
  },
  {
    ...{ type: 'message', id: '4', parentId: '3' },
    message: { role: 'toolResult', toolCallId: 'c', content: [{ type: 'text', text: 'b' }] },
  },
  {
    type: 'message',
    id: '5',
    parentId: '4',
    message: { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
  },
];

const bareCodex = [
  { id: 'x0', timestamp: T(0), instructions: 'Rules.', git: {} },
  { record_type: 'state' },
  ...codex.flatMap(({ type, payload }) =>
    type === 'response_item' ? [payload, { record_type: 'state' }] : [],
  ),
];
const amid = [
  line('a1', 'lost', 'assistant', [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }]),
  line('r1', 'a1', 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'a file' }]),
  line('u1', 'r1', 'user', 'Run the tests.'),
  line('a2', 'u1', 'assistant', [{ type: 'text', text: 'I run them.' }]),
];
const beside = [
  line('u1', null, 'user', 'Run the tests.'),
  line('a1', 'u1', 'assistant', [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }]),
  line('r1', 'a1', 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'passed' }]),
  {
    ...{ type: 'attachment', uuid: 'q1', parentUuid: 'r1', sessionId: 'c1' },
    attachment: { type: 'queued_command', prompt: 'Lint, too.', commandMode: 'prompt' },
  },
  line('a2', 'q1', 'assistant', [{ type: 'text', text: 'I lint.' }]),
  {
    ...{ type: 'attachment', uuid: 'q2', parentUuid: 'a2', sessionId: 'c1' },
    attachment: { type: 'queued_command', prompt: 'Job 1 ended.', commandMode: 'task-notification' },
  },
  line('u2', 'q2', 'user', [{ type: 'text', text: '[Request interrupted by user]' }]),
  {
    ...{ type: 'system', subtype: 'compact_boundary', uuid: 's1', parentUuid: null, sessionId: 'c1' },
    ...{ logicalParentUuid: 'u2', content: 'Conversation compacted' },
  },
  line('u3', 's1', 'user', 'What was said before.', { isCompactSummary: true }),
  line('a3', 'u3', 'assistant', [{ type: 'text', text: 'Done.' }]),
];
const olderPi = [
  { type: 'session', id: 'p0', timestamp: T(0), cwd: '/home/a' },
  { type: 'thinking_level_change', timestamp: T(0), thinkingLevel: 'off' },
  { type: 'message', timestamp: T(0), message: { role: 'user', content: [{ type: 'text', text: 'Hi?' }] } },
  { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] } },
  { type: 'compaction', timestamp: T(1), summary: 'They greeted.', firstKeptEntryIndex: 2, tokensBefore: 9 },
  { type: 'message', message: { role: 'bashExecution', command: 'ls', output: 'a.ts', exitCode: 0 } },
  { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'One file.' }] } },
];

describe('importing sessions that other programs recorded', () => {
  it.each([
    [
      'ATIF in a file, as the chat of VS Code writes it',
      JSON.stringify(atif, null, 2),
      'copilot-agent/gpt-4',
      ofAtif,
    ],
    ['ATIF in a line', JSON.stringify(atif), 'copilot-agent/gpt-4', ofAtif],
    ['a list of ATIF', JSON.stringify([atif], null, 2), 'copilot-agent/gpt-4', ofAtif],
    ['STS', lines(sts), 'my-agent/m1', ofSts],
    ['Pi', lines(pi), 'pi', ['user: Hi?', 'thoughts: Hm.', 'call: {"a":1}', 'result: b', 'text: Yes.']],
    ['Claude Code', lines(claude), 'claude-code/claude-x', ofClaude],
    ['Codex', lines(codex), 'codex/gpt-x', ofCodex],
    ['Codex with bare items', lines(bareCodex), 'codex', ofCodex],
    [
      'Codex in one document',
      JSON.stringify({ session: bareCodex[0], items: bareCodex.slice(2) }, null, 2),
      'codex',
      ofCodex,
    ],
    [
      'Claude Code that begins amid a turn',
      lines(amid),
      'claude-code/claude-x',
      ['user: Run the tests.', 'text: I run them.'],
    ],
    [
      'a subagent of Claude Code in its own file',
      lines(amid.slice(2).map((one) => ({ ...one, isSidechain: true }))),
      'claude-code/claude-x',
      ['user: Run the tests.', 'text: I run them.'],
    ],
    [
      'Claude Code with words beside the messages',
      lines(beside),
      'claude-code/claude-x',
      [
        ...['user: Run the tests.', 'call: {}', 'result: passed', 'user: Lint, too.'],
        ...['text: I lint.', 'note: Job 1 ended.', 'note: [Request interrupted by user]'],
        ...['note: Conversation compacted', 'note: What was said before.', 'text: Done.'],
      ],
    ],
    [
      'Pi of 2025',
      lines(olderPi),
      'pi',
      ['user: Hi?', 'text: Yes.', 'note: They greeted.', 'note: $ ls\na.ts', 'text: One file.'],
    ],
    [
      'Codex without the protocol',
      lines(events),
      'codex/gpt-x',
      ['user: Run the tests.', 'text: They pass.'],
    ],
  ])('reads %s, with roles, texts, thoughts and tool calls in order', async (_, content, agent, expected) => {
    const { log, result, all, file } = await imported(content);
    expect([result.imported, result.bad]).toEqual([1, []]);
    expect(all[0]!.agent).toBe(`imported:${agent}`);
    expect(said(all[0]!)).toEqual(expected);
    expect(log.list({ offset: 0, limit: 9, filter: { source: 'elsewhere' } }).total).toBe(1);
    expect(log.list({ offset: 0, limit: 9, filter: { source: 'collected' } }).total).toBe(0);
    expect(await importTrajectories(log, file)).toMatchObject({ imported: 0, alreadyThere: 1 });
  });

  it('keeps times, names of tools, unknown fields, the title and the instructions', async () => {
    const { all } = await imported(JSON.stringify(atif));
    const [{ agent, reply: replied }] = all[0]!.turns as [Trajectory['turns'][number]];
    expect(all[0]!.started.imported).toMatchObject({
      harness: 'copilot-agent',
      session: 's1',
      at: T(0),
      line: 1,
    });
    expect([agent.imported?.at, replied?.imported?.at]).toEqual([T(1), T(3)]);
    expect(agent.imported?.input).toEqual([
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'Find the files.' },
    ]);
    expect(agent.imported?.parts).toContainEqual({
      ...{ kind: 'call', text: '{"q":"a"}', name: 'search', id: 'c1', at: T(1), extra: { mcp_server: 'm' } },
    });
    expect(agent.imported?.parts?.[1]?.extra).toEqual({ metrics: { prompt_tokens: 5 } });
    expect(agent.terms).toBe('editor');
    const session = await imported(lines(sts));
    expect(session.all[0]!.labels?.[0]?.title).toBe('what time is it');
    expect(session.all[0]!.started.imported?.extra).toEqual({ more: 1 });
  });

  it('has no grade, stays here, and makes no row of a run, whatever the method', async () => {
    const data = await temporaryFolder();
    const log = await openLog(data);
    await importTrajectories(log, await write(lines(claude)));
    const all = await trajectories(log);
    expect(all[0]).toMatchObject({ state: 'answered', grades: [] });
    expect(log.list({ offset: 0, limit: 9, filter: { outcome: 'not-graded' } }).total).toBe(1);
    expect(log.allowed.whyNot(all[0]!, false)).toBe('local only');
    await log.sync();
    for (const withUngraded of [false, true]) {
      const folder = join(await temporaryFolder(), 'run');
      const { left_out: leftOut } = await prepareData({ log: data }, folder, {
        prompts: folderOfPrompts,
        withUngraded,
      }).catch((error: unknown) => {
        if (error instanceof Fault) return { left_out: error.message };
        throw error;
      });
      const reason = withUngraded ? 'recorded elsewhere, without tests' : 'not graded';
      expect(JSON.stringify(leftOut)).toContain(reason);
    }
  });

  it.each(['atif', 'sts'] as const)('comes back the same from an export as %s', async (format) => {
    for (const content of [atif, claude, codex, bareCodex, beside, sts].map((one) =>
      Array.isArray(one) ? lines(one) : JSON.stringify(one),
    )) {
      const { log, all, file } = await imported(content);
      const [one] = all as [Trajectory];
      const pseudonym = one.collaborator.name;
      await log.append({ event: 'consent', pseudonym, purpose: 'a test', level: 'export-with-edits' });
      const out = join(await temporaryFolder(), 'out.jsonl');
      const options: ExportOptions = { format, ...rendering(format, prompts), withEditorModels: true };
      await exportTrajectories(log, out, options);
      const again = await imported(await readFile(out, 'utf8'), 'out.jsonl');
      expect(again.result).toMatchObject({ imported: 1, bad: [] });
      // Both formats want an object as arguments, so a tool that takes a text has it under `input`.
      const expected = said(one).map((text) =>
        text === 'call: *** Begin' ? 'call: {"input":"*** Begin"}' : text,
      );
      expect(said(again.all[0]!)).toEqual(expected);
      const times = ({ turns }: Trajectory) =>
        turns.flatMap(({ agent, reply: replied }) => [agent.imported?.at, replied?.imported?.at]);
      if (content !== lines(sts)) expect(times(again.all[0]!)).toEqual(times(one));
      // It is ours, and here already.
      expect(await importTrajectories(log, out)).toMatchObject({ imported: 0, alreadyThere: 1 });
      expect(await importTrajectories(log, file)).toMatchObject({ imported: 0, alreadyThere: 1 });
    }
  });

  it('reads what tandem export writes of a dialogue that was played here', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    await log.appendAll([
      started('e1'),
      agentTurn('e1', 1),
      reply('e1', 1),
      agentTurn('e1', 2),
      answered('e1', 2),
    ]);
    const [played] = await trajectories(log);
    for (const format of ['atif', 'sts'] as const) {
      const out = join(await temporaryFolder(), 'out.jsonl');
      await exportTrajectories(log, out, { format, ...rendering(format, prompts) });
      const { all } = await imported(await readFile(out, 'utf8'));
      expect(said(all[0]!).slice(1)).toEqual(said(played!).slice(1));
      expect(all[0]!.turns.map(({ agent }) => agent.imported?.at)).toEqual(
        played!.turns.map(({ agent }) => agent.at),
      );
    }
  });

  it('has the words of tools searched for secrets by an export', async () => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
    const { log, all } = await imported(lines(sts).replace('15:00"', `${secret}"`));
    const pseudonym = all[0]!.collaborator.name;
    await log.append({ event: 'consent', pseudonym, purpose: 'a test', level: 'export' });
    const out = join(await temporaryFolder(), 'out.jsonl');
    const refused = exportTrajectories(log, out, { format: 'atif', ...rendering('atif', prompts) });
    await expect(refused).rejects.toThrow(/Secrets/);
  });

  it('reports a bad line with its number, and reads the rest', async () => {
    const broken = lines([...sts.slice(0, 2), '{"type":"mess', ...sts.slice(2), '7']);
    const { result, all } = await imported(broken);
    expect(result.bad.map((bad) => bad.line)).toEqual([3, 7]);
    expect(result.bad[0]!.reason).toMatch(/not JSON.*left out.*export the session again/);
    expect(said(all[0]!)).toEqual(ofSts);
  });

  it('cuts what is too long, and counts it', async () => {
    const long = 'x'.repeat(150_000);
    const { result, all } = await imported(lines(sts).replace('15:00"', `${long}"`));
    const part = all[0]!.turns[0]!.agent.imported!.parts![2]!;
    expect([result.cut, part.text.length, part.left]).toEqual([1, 100_000, 50_000]);
  });

  it('says a sentence of garbage, and never fails otherwise', async () => {
    const random = seeded(58);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
    const heads = [sts[0], sts[1], claude[2], claude[4], codex[0], codex[4], atif, { steps: [], agent: {} }];
    const scraps = [null, 7, '', 'text', [], {}, [[1]], { type: 'text' }, { text: 3 }, true, -1e300];
    const spoiled = (value: unknown, levels: number): unknown => {
      if (levels === 0 || random() < 0.15) return pick(scraps);
      if (Array.isArray(value)) return value.map((one) => spoiled(one, levels - 1));
      if (typeof value !== 'object' || value === null) return random() < 0.7 ? value : pick(scraps);
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, one]) =>
          random() < 0.1 ? [] : [[name, spoiled(one, levels - 1)]],
        ),
      );
    };
    const log = await openLog();
    for (let round = 0; round < 60; round += 1) {
      const content = Array.from({ length: 1 + Math.floor(random() * 6) }, () => spoiled(pick(heads), 6));
      const text = lines([pick(heads), ...content]).slice(0, random() < 0.3 ? 300 : undefined);
      const { bad } = await importTrajectories(log, await write(text));
      for (const { reason, line: number } of bad) {
        expect(reason).toMatch(/\.$/);
        expect(number).toBeGreaterThan(0);
      }
    }
  });
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
