import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importTrajectories } from '../../../src/core/trajectory/import';
import { openLog, temporaryFolder } from '../../fixtures/log';

const task = {
  problem_description: 'Write a function that doubles. def double(n)',
  ground_truth: 'def double(n):\n    return 2 * n',
  test_cases: { test1: 'double(2)', test2: 'double(0)' },
  hidden_information: 'def double(n):\n    return 2 * n',
};
const row = {
  task,
  dialogue_history: [
    { role: 'agent', content: 'Of what?', input: 'the prompt', output: 'I should ask. OUTPUT: Of what?' },
    { role: 'human', content: 'Of a number.' },
    { role: 'agent', content: 'Done.', input: 'the longer prompt', output: 'OUTPUT: I WANT TO ANSWER: code' },
  ],
  answer: 'def double(n): return n + n',
  reward: 1,
};

async function write(rows: readonly unknown[], name = 'rows.jsonl'): Promise<string> {
  const file = join(await temporaryFolder(), name);
  const lines = rows.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

describe('importing published rows', () => {
  it('makes an episode of each, marked as imported, with its reward as a grade of mode paper', async () => {
    const log = await openLog();
    const result = await importTrajectories(log, await write([row], 'offline.jsonl'));
    expect(result).toMatchObject({ imported: 1, alreadyThere: 0, bad: [] });
    const [summary] = log.list({ offset: 0, limit: 1 }).rows;
    expect(summary).toMatchObject({
      agent: 'imported:offline.jsonl',
      state: 'answered',
      turns: 2,
      grades: { paper: { reward: 1, success: true } },
    });
    const trajectory = await log.trajectory(summary!.id);
    expect(trajectory).toMatchObject({
      task: {
        description: task.problem_description,
        testCases: [{ call: 'double(2)' }, { call: 'double(0)' }],
      },
      started: { imported: { file: 'offline.jsonl', line: 1 } },
      answer: { answer: row.answer },
    });
    expect(trajectory?.turns.map(({ agent, reply }) => [agent.text, reply?.text])).toEqual([
      ['I should ask. OUTPUT: Of what?', 'Of a number.'],
      ['OUTPUT: I WANT TO ANSWER: code', undefined],
    ]);
    expect(trajectory?.turns[0]?.agent).not.toHaveProperty('tokens');
  });

  it('takes the score of a page over with what it measures, and no score without', async () => {
    const log = await openLog();
    const page = { measure: 'structure', version: 1, drafts: [{ turn: 1, score: 0.5 }], renderer: 'a test' };
    const wanted = { problem_description: 'A page.', ground_truth: '<html>Hello</html>' };
    const scored = { ...row, task: wanted, answer: '<html>Hi</html>', reward: 0.5, tandem: { page } };
    const file = await write([scored, { ...scored, answer: '<html></html>', tandem: {} }]);
    expect(await importTrajectories(log, file)).toMatchObject({ imported: 2, bad: [] });
    const { rows } = log.list({ offset: 0, limit: 9, sort: 'oldest' });
    const grades = await Promise.all(rows.map(async ({ id }) => (await log.trajectory(id))!.grades));
    expect(grades.map((all) => all.map(({ grade }) => grade))).toEqual([
      [{ mode: 'paper', reward: 0.5, success: null, tests: [], page: { ...page, score: 0.5, parts: {} } }],
      [],
    ]);
    expect(await importTrajectories(log, file)).toMatchObject({ imported: 0, alreadyThere: 2 });
  });

  it('adds nothing when it is repeated, in whatever file the row stands, and not what was deleted since', async () => {
    const log = await openLog();
    await importTrajectories(log, await write([row, { ...row, reward: 0.5 }]));
    const again = await importTrajectories(
      log,
      await write([{ ...row, more: 'fields' }, row], 'other.jsonl'),
    );
    expect(again).toMatchObject({ imported: 0, alreadyThere: 2, bad: [] });
    const { rows, total } = log.list({ offset: 0, limit: 9 });
    expect(total).toBe(2);
    await log.delete([rows[0]!.id]);
    expect(await importTrajectories(log, await write([row, { ...row, reward: 0.5 }]))).toMatchObject({
      imported: 0,
    });
    expect(log.list({ offset: 0, limit: 9 }).total).toBe(1);
  });

  it('keeps who wrote the replies, and takes those of silent rows of Tandem for people’s, which stay here', async () => {
    const log = await openLog();
    const author = async (file: string, repliesBy?: 'simulator' | 'people'): Promise<unknown> => {
      const before = new Set(log.list({ offset: 0, limit: 9 }).rows.map(({ id }) => id));
      const result = await importTrajectories(log, file, repliesBy && { repliesBy });
      const added = log.list({ offset: 0, limit: 9 }).rows.find(({ id }) => !before.has(id));
      const trajectory = added && (await log.trajectory(added.id));
      const said = trajectory?.turns[0]?.reply;
      const why = trajectory && log.allowed.whyNot(trajectory, false);
      return [said?.author, said?.by, why ?? 'leaves', result.people, result.unnamed];
    };
    const none = { people: 0, simulator: 0 };
    const file = await write([row]);
    const people = { people: 1, simulator: 0 };
    expect(await author(await write([{ ...row, tandem: {} }]))).toEqual([
      ...['developer', 'imported:rows.jsonl', 'local only', [], people],
    ]);
    expect(await author(file)).toEqual(['simulator', 'imported', 'leaves', [], { people: 0, simulator: 1 }]);
    const origin = { collaborator: { kind: 'developer', name: 'kim' }, turns: [{ reply_author: null }] };
    const told = await write([{ ...row, tandem: origin }], 'own.jsonl');
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' });
    // The same row: it is here as that of people.
    expect(await author(told, 'simulator')).toEqual([undefined, undefined, 'leaves', [], none]);
    const named = {
      reply_author: 'developer-edited-suggestion',
      reply_by: 'kim',
      reply_suggested_by: 'rules',
    };
    const edited = await write([{ ...row, tandem: { ...origin, turns: [named] } }], 'own.jsonl');
    expect(await author(edited, 'simulator')).toEqual([
      ...['developer-edited-suggestion', 'kim (own.jsonl)', 'local only'],
      ...[[{ from: 'kim', to: 'kim (own.jsonl)' }], none],
    ]);
    const [trained] = log.list({ offset: 0, limit: 1 }).rows;
    expect(log.allowed.whyNot((await log.trajectory(trained!.id))!, true)).toBeUndefined();
  });

  it('takes rows for people’s that another program saved without their fields', async () => {
    const log = await openLog();
    for (const [answer, fields] of Object.entries({ x: { tandem: null }, y: { messages: [] } })) {
      const { unnamed } = await importTrajectories(log, await write([{ ...row, ...fields, answer }]));
      expect(unnamed).toEqual({ people: 1, simulator: 0 });
    }
  });

  it('lets no consent from another data folder count for people in rows', async () => {
    const there = join(await temporaryFolder(), 'there');
    const other = await openLog(there);
    for (const pseudonym of ['kim (rows.jsonl)', 'imported:rows.jsonl'])
      await other.append({ event: 'consent', pseudonym, purpose: 'research', level: 'export' });
    const log = await openLog();
    await log.merge(there);
    const named = { ...row, answer: 'x', tandem: { collaborator: { kind: 'developer', name: 'kim' } } };
    await importTrajectories(log, await write([named, { ...row, tandem: {} }]));
    for (const { id } of log.list({ offset: 0, limit: 9 }).rows)
      expect(log.allowed.whyNot((await log.trajectory(id))!, false)).toBe('local only');
  });

  it('adds nothing by default where rows are here as a simulator’s', async () => {
    const log = await openLog();
    const file = await write([{ ...row, tandem: {} }]);
    await importTrajectories(log, file, { repliesBy: 'simulator' });
    expect(await importTrajectories(log, file)).toMatchObject({ imported: 0, alreadyThere: 1 });
  });

  it('finishes a row that an earlier import left half written', async () => {
    const whole = await openLog();
    await importTrajectories(whole, await write([row]));
    const { id } = whole.list({ offset: 0, limit: 1 }).rows[0]!;
    const expected = await whole.trajectory(id);
    const log = await openLog();
    await log.recordTask(expected!.task);
    await log.append(expected!.started);
    expect(await importTrajectories(log, await write([row]))).toMatchObject({ imported: 1 });
    expect(await log.trajectory(id)).toMatchObject({ state: 'answered', turns: [{}, {}] });
    expect(log.list({ offset: 0, limit: 9 }).total).toBe(1);
  });

  it('reads the likely variants of the form as the same trajectory', async () => {
    const log = await openLog();
    const otherRoles = row.dialogue_history.map((message) => ({
      ...message,
      role: message.role === 'agent' ? 'Assistant' : 'user',
    }));
    const opening = { role: 'human', content: task.problem_description };
    const { dialogue_history, answer, reward } = row;
    const variants = [
      row,
      { ...row, dialogue_history: otherRoles },
      { ...row, dialogue_history: [opening, ...row.dialogue_history] },
      { ...row, task: JSON.stringify(task) },
      { ...task, dialogue_history, answer, reward },
    ];
    expect(await importTrajectories(log, await write(variants))).toMatchObject({
      imported: 1,
      alreadyThere: 4,
      bad: [],
    });
  });

  it('reports bad rows with file, line and reason, and imports the others', async () => {
    const log = await openLog();
    const talk = (...roles: string[]): object => ({
      ...row,
      dialogue_history: roles.map((role) => ({ role, content: 'text' })),
    });
    const file = await write([
      '{"task": ',
      { ...row, answer: null },
      talk('agent', 'narrator'),
      talk('human', 'agent'),
      talk('agent', 'human', 'human'),
      { ...row, dialogue_history: [] },
      { ...row, task: { ...task, ground_truth: undefined } },
      { ...row, reward: 1.5 },
      { ...row, reward: -0.5 },
      row,
    ]);
    const { imported, bad } = await importTrajectories(log, file);
    expect(imported).toBe(1);
    expect(bad.every((problem) => problem.file === file)).toBe(true);
    expect(bad.map(({ line, reason }) => [line, reason])).toEqual([
      [1, expect.stringContaining('The line is not JSON')],
      [2, expect.stringContaining('The field answer is wrong')],
      [3, 'dialogue_history[1] has the role "narrator"; it must be agent or human.'],
      [4, "dialogue_history[0] is the collaborator's, before the agent has said anything."],
      [5, 'dialogue_history[2] is a second reply to the same turn.'],
      [6, 'The field dialogue_history is wrong: is empty.'],
      [7, 'The field ground_truth is missing.'],
      [8, 'The field reward is wrong: must be from 0 to 1.'],
      [9, 'The field reward is wrong: must be from 0 to 1.'],
    ]);
  });

  it('can be cancelled; what was read until then is in the log, and it tells how far it is', async () => {
    const log = await openLog();
    const file = await write(
      Array.from({ length: 300 }, (_, number) => ({ ...row, answer: `answer ${number}` })),
    );
    const controller = new AbortController();
    const rows: number[] = [];
    const cancelled = importTrajectories(log, file, {
      signal: controller.signal,
      onProgress: (progress) => {
        rows.push(progress.rows);
        if (progress.rows >= 128) controller.abort(new Error('Enough.'));
      },
    });
    await expect(cancelled).rejects.toThrow('Enough.');
    expect(rows.slice(0, 2)).toEqual([64, 128]);
    const { total } = log.list({ offset: 0, limit: 0 });
    expect(total).toBeGreaterThanOrEqual(128);
    expect(await importTrajectories(log, file)).toMatchObject({
      imported: 300 - total,
      alreadyThere: total,
      bad: [],
    });
  });
});
