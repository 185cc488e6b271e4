import { existsSync, mkdtempSync } from 'node:fs';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { loadTasks } from '../../../src/core/task/pack';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import { runNode, type Ended } from '../../fixtures/tasks';
import { dialogue } from '../../fixtures/log';

const demonstration = `script:${path.resolve('samples/workspace/agents/asks-first.json')}`;

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-cli-'));

beforeAll(() => {
  process.env.TANDEM_CACHE = path.join(folder, 'cache');
});

afterAll(async () => {
  delete process.env.TANDEM_CACHE;
  await rm(folder, { recursive: true, force: true });
});

const tandem = (...args: string[]): Promise<Ended> => runNode(['dist/tandem.js', ...args]);

/** What `--json` printed: one object and nothing else. */
async function json<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { stdout, stderr } = await tandem(...args, '--json');
  expect(stdout.trim().split('\n'), stderr).toHaveLength(1);
  return schema.parse(JSON.parse(stdout));
}

async function file(name: string, lines: readonly unknown[]): Promise<string> {
  const target = path.join(folder, name);
  await writeFile(
    target,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return target;
}

const starterRows = async (): Promise<Record<string, string>[]> =>
  (await readFile(starterPack, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);

const play = (data: string, ...more: string[]): string[] => [
  ...['--tasks', starterPack, '--limit', '6', '--agent', demonstration, '--simulator', 'rules'],
  ...['--data', path.join(folder, data), '--jobs', '1', ...more],
];

describe('tandem', () => {
  it('lists its commands, and only those that exist', async () => {
    const { stdout, code } = await tandem('--help');
    expect(code).toBe(0);
    const commands = [...stdout.matchAll(/^ {2}(\w+) (?:\[|<)/gm)].map((match) => match[1]);
    expect(commands).toEqual([
      'tasks',
      'world',
      'download',
      'grade',
      'collect',
      'evaluate',
      'import',
      'export',
      'check',
      'erase',
      'standing',
      'loop',
      'train',
      'runs',
      'stop',
      'resume',
      'score',
      'onnx',
      'convert',
      'scoreboard',
      'doctor',
      'help',
    ]);
  });

  it.each([
    [['fly'], 'unknown command'],
    [['tasks'], "missing required argument 'file'"],
    [['collect', '--tasks', starterPack, '--simulator', 'rules'], "required option '--agent <model>'"],
    [['evaluate', ...play('x', '--agent', demonstration)], 'The same agent is named twice'],
    [
      ['collect', ...play('x', '--rollouts', 'many')],
      '--rollouts takes a whole number of at least 1, not "many"',
    ],
    [['collect', ...play('x', '--top-p', '0')], '--top-p takes a number above 0 and at most 1, not "0"'],
    [['evaluate', ...play('x', '--top-k', '0')], '--top-k takes a whole number of at least 1, not "0"'],
    [['collect', '--tasks', starterPack, '--agent', 'gpt', '--simulator', 'rules'], '"gpt" is not a model'],
    [['grade', 'rows.jsonl', '--mode', 'kind'], 'Allowed choices are fixed, paper'],
    [['erase', 'ada'], 'This cannot be undone; add --yes'],
    [['download', 'everything'], 'There is no "everything" to download'],
  ])('says what is wrong with %j and exits with 2', async (args, sentence) => {
    const { code, stdout, stderr } = await tandem(...args);
    expect(stderr).toContain(sentence);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.each([
    [['fly']],
    [['tasks']],
    [['collect', ...play('x', '--rollouts', 'many')]],
    [['tasks', 'nowhere.jsonl']],
  ])('says it as one JSON object too, for %j --json', async (args) => {
    const { error } = await json(
      z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
      ...args,
    );
    expect(error.message).not.toBe('');
  });

  it.each([
    [['collect', ...play('x'), '--data', starterPack], 'written-by-hand.jsonl'],
    [['import', 'nowhere.jsonl', '--data', path.join(folder, 'x')], 'nowhere.jsonl'],
    [['export', '--format', 'chat', folder], 'is there already; add --overwrite'],
    [['collect', ...play('x'), '--prompts', path.join(folder, 'no-prompts')], 'no-prompts'],
  ])('gives one sentence and no stack trace for %j', async (args, sentence) => {
    const { code, stderr } = await tandem(...args);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).not.toBe(0);
  });

  it('exits with 1 and one sentence when a file is not there', async () => {
    const { code, stderr } = await tandem('tasks', path.join(folder, 'nowhere.jsonl'));
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('nowhere.jsonl');
    expect(code).toBe(1);
  });
});

describe('tandem tasks', () => {
  const weakSchema = z.object({
    summary: z.object({ weakTests: z.array(z.object({ task: z.string(), reasons: z.array(z.string()) })) }),
  });

  it('counts a pack and checks its references', async () => {
    const { stdout, code } = await tandem('tasks', starterPack, '--references');
    expect(code).toBe(0);
    expect(stdout).toMatch(/written-by-hand\.jsonl +32 +320 +32 +0/);
  });

  it('names file, line and reason of bad lines, counts the good ones and exits with 1', async () => {
    const [good] = await starterRows();
    const pack = await file('bad.jsonl', [good, '{not json', { problem_description: 'Only this' }]);
    const { stdout, code } = await tandem('tasks', pack);
    expect(stdout).toMatch(/bad\.jsonl +1 +10 +1 +2/);
    expect(stdout).toMatch(/bad\.jsonl:2: /);
    expect(stdout).toMatch(/bad\.jsonl:3: .*ground_truth/);
    expect(code).toBe(1);
  });

  it('reports tests that some wrong answers pass, which is no failure', async () => {
    const [row] = await starterRows();
    const pack = await file('weak.jsonl', [
      { ...row, ground_truth: 'def parcel_price(weight_kg, zone):\n    return 7' },
    ]);
    const { stdout, code } = await tandem('tasks', pack, '--references');
    expect(stdout).toMatch(/weak\.jsonl: tests of task parcel-surcharge: Every test expects 7, /);
    expect(code).toBe(0);
    const { summary } = await json(weakSchema, 'tasks', pack, '--references');
    expect(summary.weakTests).toMatchObject([{ task: 'parcel-surcharge' }]);
  });

  it('reports a reference that fails on its own tests', async () => {
    const [row] = await starterRows();
    const pack = await file('reference.jsonl', [
      { ...row, ground_truth: 'def parcel_price(weight_kg, zone):\n    return 1 / 0' },
    ]);
    const { stdout, code } = await tandem('tasks', pack, '--references');
    expect(stdout).toMatch(/reference of task parcel-surcharge: .*ZeroDivisionError.*\(and 9 more tests\)/);
    expect(code).toBe(1);
  });
});

describe('tandem grade', () => {
  const schema = z.object({
    rows: z.array(
      z.object({ id: z.string(), reward: z.number(), success: z.boolean(), tests: z.array(z.unknown()) }),
    ),
    summary: z.object({
      answers: z.number(),
      success: z.number(),
      badLines: z.array(z.object({ line: z.number() })),
    }),
  });

  it('grades rows with a task and an answer, in their order', async () => {
    const rows = await starterRows();
    const answered = rows.slice(0, 4).map((task, i) => ({
      id: `answer-${i}`,
      task,
      answer: i === 2 ? 'def wrong():\n    pass' : `\`\`\`python\n${task.ground_truth}\n\`\`\``,
    }));
    const { rows: graded, summary } = await json(
      schema,
      'grade',
      await file('answers.jsonl', [...answered, '{}']),
    );
    expect(graded.map(({ id, reward }) => [id, reward])).toEqual([
      ['answer-0', 1],
      ['answer-1', 1],
      ['answer-2', 0],
      ['answer-3', 1],
    ]);
    expect(graded[0]!.tests).toHaveLength(10);
    expect(summary).toMatchObject({ answers: 4, success: 0.75, badLines: [{ line: 5 }] });
  });

  it('writes each grade as it comes, and goes on after those that a file holds', async () => {
    const [task] = await starterRows();
    const answers = (last: string): object[] =>
      ['right', 'wrong', last].map((id) => ({
        ...{ id, task, answer: id === 'right' ? task!.ground_truth : `def ${id}():\n    pass` },
      }));
    const given = await file('given.jsonl', answers('last'));
    const out = path.join(folder, 'grades.jsonl');
    await json(schema, 'grade', given, '--out', out);
    const lines = (await readFile(out, 'utf8')).trim().split('\n').sort();
    expect(lines.map((line) => (JSON.parse(line) as { reward: number }).reward).sort()).toEqual([0, 0, 1]);

    // What is there is not graded again; a line that was torn is.
    const kept = lines.find((line) => line.includes('"right"'))!.replace('"reward":1', '"reward":0.5');
    await writeFile(out, `${kept}\n${lines[0]!.slice(0, 40)}`);
    const { rows } = await json(schema, 'grade', given, '--out', out);
    expect(rows.map(({ reward }) => reward)).toEqual([0.5, 0, 0]);
    const whole = (await readFile(out, 'utf8')).trim().split('\n');
    expect(whole).toHaveLength(4);

    const { code, stderr } = await tandem('grade', await file('other.jsonl', answers('other')), '--out', out);
    expect(code).toBe(2);
    expect(stderr).toContain('holds the grade of another answer, task or mode for line 3.');
    expect((await readFile(out, 'utf8')).trim().split('\n')).toEqual(whole);
  });
});

describe('tandem collect and evaluate', () => {
  it('plays, grades and logs; a second call finds everything done', async () => {
    const schema = z.object({
      summary: z.object({ total: z.number(), done: z.number(), already: z.number() }),
    });
    expect((await json(schema, 'collect', ...play('twice', '--rollouts', '2'))).summary).toEqual({
      total: 12,
      done: 12,
      already: 0,
    });
    expect((await json(schema, 'collect', ...play('twice', '--rollouts', '3'))).summary).toEqual({
      total: 18,
      done: 18,
      already: 12,
    });
  });

  it('compares two agents on the same tasks, with intervals and a paired difference', async () => {
    const guess = await file('guesses.json', [['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']]);
    const estimate = z.object({
      mean: z.number(),
      interval: z.object({ low: z.number(), high: z.number() }),
    });
    const schema = z.object({
      rows: z.array(z.object({ agent: z.string(), task: z.string() })),
      summary: z.object({
        agents: z.array(z.object({ success: estimate, tasks: z.number(), meanTurns: z.number() })),
        comparisons: z.array(z.object({ success: z.object({ difference: z.number(), tasks: z.number() }) })),
      }),
    });
    const { rows, summary } = await json(
      schema,
      'evaluate',
      ...play('compare', '--agent', `script:${guess}`),
    );
    expect(rows).toHaveLength(12);
    const [asks, guesses] = summary.agents;
    expect(asks!.success.mean).toBeGreaterThan(0);
    expect(asks!.meanTurns).toBeGreaterThan(1);
    expect(guesses!.success).toMatchObject({ mean: 0, interval: { low: 0 } });
    expect(guesses!.success.interval.high).toBeGreaterThan(0);
    expect(summary.comparisons[0]!.success).toMatchObject({ difference: -asks!.success.mean, tasks: 6 });

    const help = (await tandem('evaluate', '--help')).stdout.replace(/\s+/g, ' ');
    expect(help).toContain('--agent A --agent B, or --agent A B, compares B with A');
    const atOnce = ['--agent', demonstration, `script:${guess}`, '--simulator', 'rules', '--jobs', '1'];
    const same = ['--tasks', starterPack, '--limit', '6', '--data', path.join(folder, 'compare')];
    const again = await json(schema, 'evaluate', ...atOnce, ...same);
    expect(again.summary.comparisons).toEqual(summary.comparisons);
  });

  it('grades what was played once more in another mode, without playing it again', async () => {
    const schema = z.object({
      summary: z.object({
        agents: z.array(z.object({ mode: z.string(), dialogues: z.number(), notGradable: z.number() })),
      }),
    });
    await tandem('evaluate', ...play('modes', '--mode', 'fixed'));
    const { summary } = await json(schema, 'evaluate', ...play('modes', '--mode', 'paper'));
    expect(summary.agents).toEqual([{ mode: 'paper', dialogues: 6, notGradable: 0 }]);
    const log = await TrajectoryLog.open(path.join(folder, 'modes'));
    expect(log.list({ offset: 0, limit: 100 }).total).toBe(6);
    await log.close();
  });

  it('shows no rate where nothing was graded, says why, and exits with 1', async () => {
    const { code, stdout } = await tandem(
      ...['evaluate', '--tasks', starterPack, '--limit', '2', '--simulator', 'rules'],
      ...['--agent', 'openai:m@http://127.0.0.1:9/v1', '--data', path.join(folder, 'nothing')],
    );
    expect(stdout).toMatch(/m@http:\S+ +0 +– +–/);
    expect(stdout).toMatch(/2 dialogues failed: .*127\.0\.0\.1:9/);
    expect(code).toBe(1);
  });

  it('refuses a task that changed under its id, and plays a task of two packs once', async () => {
    const rows = await starterRows();
    const one = await file('one.jsonl', rows.slice(0, 2));
    const same = await file('same.jsonl', rows.slice(1, 3));
    const changed = await file('changed.jsonl', [
      { ...rows[0], ground_truth: 'def parcel_price(w, z):\n    return 1' },
    ]);
    const collect = (...tasks: string[]): Promise<Ended> =>
      tandem(
        ...['collect', '--tasks', ...tasks, '--agent', demonstration, '--simulator', 'rules'],
        ...['--data', path.join(folder, 'changed'), '--jobs', '1'],
      );
    const twice = await collect(one, same);
    expect(twice.stdout).toContain('3 of 3 dialogues');
    expect(twice.stderr).toContain('is in an earlier pack too');
    const again = await collect(changed);
    expect(again.stderr).toMatch(
      /The task parcel-surcharge in changed\.jsonl is not the one that was played before/,
    );
    expect(again.code).toBe(1);
  });

  it('gives up with one sentence when the server is not there', async () => {
    const { code, stderr } = await tandem(
      ...['collect', '--tasks', starterPack, '--simulator', 'rules', '--data', path.join(folder, 'down')],
      ...['--agent', 'openai:m@http://127.0.0.1:9/v1', '--concurrency', '8'],
    );
    expect(stderr).toMatch(/8 dialogues in a row failed.*127\.0\.0\.1:9/);
    expect(code).toBe(1);
  });
});

describe('tandem import and export', () => {
  const rowsOf = async (file: string): Promise<unknown[]> =>
    (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);

  const source = path.join(folder, 'source');
  beforeAll(() => tandem('collect', ...play('source')));

  it('exports what was collected, and imports it elsewhere just once', async () => {
    const out = path.join(folder, 'rows.jsonl');
    const exported = z.object({ summary: z.object({ rows: z.number(), card: z.string() }) });
    const { summary } = await json(
      exported,
      ...['export', '--format', 'trajectories', '--data', source, out],
    );
    expect(summary.rows).toBe(6);
    expect(await readFile(summary.card, 'utf8')).toContain('asks-first');
    const imported = z.object({ summary: z.object({ imported: z.number(), alreadyThere: z.number() }) });
    const into = ['import', out, '--data', path.join(folder, 'target')];
    expect((await json(imported, ...into)).summary).toEqual({ imported: 6, alreadyThere: 0 });
    expect((await json(imported, ...into)).summary).toEqual({ imported: 0, alreadyThere: 6 });
  });

  it('exports chat rows that hold what the agent saw and wrote', async () => {
    const out = path.join(folder, 'chat.jsonl');
    const { code } = await tandem('export', '--format', 'chat', '--data', source, out);
    expect(code).toBe(0);
    const message = z.object({ role: z.enum(['user', 'assistant']), content: z.string() });
    const [first] = z.array(z.object({ messages: z.array(message) })).parse(await rowsOf(out));
    expect(first!.messages[0]!.content).toContain('You are a programming assistant');
    expect(first!.messages.at(-1)!.content).toContain('I WANT TO ANSWER:');
  });

  it('exports preference rows of a better and a worse trajectory, and leaves evaluations out', async () => {
    const guess = await file('worse.json', [['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']]);
    const data = path.join(folder, 'preferences');
    await cp(source, data, { recursive: true });
    const withGuess = [
      '--tasks',
      starterPack,
      '--limit',
      '6',
      '--agent',
      `script:${guess}`,
      '--simulator',
      'rules',
    ];
    await tandem('collect', ...withGuess, '--data', data);
    await tandem('evaluate', ...play('preferences'));
    const out = path.join(folder, 'preferences.jsonl');
    const { stdout } = await tandem('export', '--format', 'preferences', '--data', data, out);
    expect(stdout).toContain('Left out: 6 played in an evaluation.');
    const row = z.object({ prompt: z.array(z.unknown()), chosen: z.unknown(), rejected: z.unknown() });
    expect(z.array(row).parse(await rowsOf(out)).length).toBeGreaterThan(0);
  });
});

describe('tandem export of a log that holds a secret', () => {
  const secret = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
  const data = path.join(folder, 'secret');
  const out = path.join(folder, 'secret.jsonl');
  const exporting = (...more: string[]): Promise<Ended> =>
    tandem('export', '--format', 'chat', '--data', data, out, ...more);

  beforeAll(async () => {
    const log = await TrajectoryLog.open(data);
    const [task] = (await loadTasks(starterPack)).tasks;
    await log.recordTask({ ...task!, description: `${task!.description} ${secret}` });
    await log.appendAll(dialogue('with-it', 1, { task: task!.id }));
    await log.close();
  });

  it('writes nothing, and lists what was found, masked, with the way out', async () => {
    const { code, stdout, stderr } = await exporting();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^row 1, dialogue with-it, outside of the turns: github token: .*ghp_•••$/m);
    expect(stdout).toMatch(/nothing was written\. Add --without-findings .* or --allow-findings/);
    expect(stdout + stderr).not.toContain(secret);
    expect(existsSync(out)).toBe(false);
  });

  it('leaves such dialogues out, or writes them, when it is told to', async () => {
    const { stdout } = await exporting('--without-findings');
    expect(stdout).toContain('Left out: 1 secret or e-mail address.');
    expect(await readFile(out, 'utf8')).toBe('');
    expect((await exporting('--allow-findings', '--overwrite')).code).toBe(0);
    expect(await readFile(out, 'utf8')).toContain(secret);
    expect((await exporting('--allow-findings', '--without-findings')).code).toBe(2);
  });
});

describe('tandem check', () => {
  it('says what is wrong with a log, and writes what can be saved beside it', async () => {
    const data = path.join(folder, 'check');
    await tandem('collect', ...play('check'));
    const good = await tandem('check', data);
    expect(good).toMatchObject({ code: 0 });
    expect(good.stdout).toMatch(
      /^The log of .* has 6 dialogues in \d+ lines of 1 file\.\nEvery line of the log is as/,
    );
    const [name] = (await readdir(path.join(data, 'log'))).filter((each) => each.endsWith('.jsonl'));
    const file = path.join(data, 'log', name!);
    const damaged = (await readFile(file, 'utf8')).replace('"event":"answered"', '"event":"Answered"');
    await writeFile(file, damaged);
    const bad = await tandem('check', data);
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.stdout).toContain('was changed after it was written: its check sum is wrong.');
    expect(bad.stdout).toContain(
      `Add --repair to write what can be saved into ${data}-repaired; ${data} stays`,
    );
    const repaired = await tandem('check', data, '--repair');
    expect(repaired).toMatchObject({ code: 0 });
    expect(repaired.stdout).toContain(`saved into ${data}-repaired, 1 line lost. ${data} is as it was.`);
    expect(await readFile(file, 'utf8')).toBe(damaged);
    expect(await tandem('check', data, '--repair')).toMatchObject({ code: 2 });
    await rm(`${data}-repaired`, { recursive: true });
    // A deletion, of which nobody can tell whose.
    const log = await TrajectoryLog.open(data);
    await log.delete([log.list({ offset: 0, limit: 1 }).rows[0]!.id]);
    await log.close();
    const [, second] = (await readdir(path.join(data, 'log'))).filter((each) => each.endsWith('.jsonl'));
    const last = path.join(data, 'log', second!);
    await writeFile(last, (await readFile(last, 'utf8')).replace('{"version":1,"event":"deleted"', '{'));
    const out = path.join(folder, 'doubtful.jsonl');
    const exporting = await tandem('export', out, '--format', 'chat', '--data', data);
    expect(exporting.stdout).toMatch(/5 dialogues are left out as doubtful: .*; --with-doubtful takes/);
    expect(
      (await tandem('export', out, '--format', 'chat', '--data', data, '--with-doubtful', '--overwrite'))
        .code,
    ).toBe(0);
    const doubtful = await tandem('check', data);
    expect(doubtful.stdout).toContain('5 dialogues are left out as doubtful');
    expect(await tandem('check', data, '--accept-loss')).toMatchObject({ code: 2 });
    expect(await tandem('check', data, '--repair', '--accept-loss')).toMatchObject({ code: 0 });
    expect((await tandem('check', `${data}-repaired`)).stdout).not.toContain('doubtful');
    expect(await tandem('check', folder)).toMatchObject({ code: 2 });
  });
});

describe('tandem erase', () => {
  it('leaves nothing of a developer in the log, and everything of the others', async () => {
    const data = path.join(folder, 'erase');
    await tandem('collect', ...play('erase'));
    const log = await TrajectoryLog.open(data);
    const [task] = (await loadTasks(starterPack)).tasks;
    await log.recordTask(task!);
    const collaborator = { kind: 'developer', name: 'ada' } as const;
    await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'research' });
    await log.append(
      {
        event: 'episode-started',
        episode: 'by-ada',
        task: task!.id,
        agent: demonstration,
        collaborator,
        protocol: { maxTurns: 10, replyLimit: 400 },
        prompts: {},
        seed: 1,
      },
      { durable: true },
    );
    await log.close();
    const schema = z.object({ summary: z.object({ episodes: z.number() }) });
    expect((await json(schema, 'erase', 'ada', '--yes', '--data', data)).summary).toEqual({ episodes: 1 });
    const segments = await readdir(path.join(data, 'log'));
    const left = await Promise.all(segments.map((name) => readFile(path.join(data, 'log', name), 'utf8')));
    expect(left.join('')).not.toContain('ada"');
    const again = await TrajectoryLog.open(data);
    expect(again.list({ offset: 0, limit: 100 }).total).toBe(6);
    await again.close();
  });
});
