import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  exportTrajectories,
  type ChatMessageLike,
  type ExportOptions,
} from '../../../../src/core/trajectory/export/export';
import { importTrajectories } from '../../../../src/core/trajectory/import';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import type { Trajectory, Turn } from '../../../../src/core/trajectory/trajectory';
import {
  agentTurn,
  answered,
  dialogue,
  doubling,
  graded,
  kim,
  leak,
  openLog,
  play,
  reply,
  review,
  started,
  temporaryFolder,
} from '../../../fixtures/log';
import { seeded } from '../random';

/** Renders the agent's messages as the dialogue would. */
function render({ task, turns, started: { prompts } }: Trajectory): ChatMessageLike[] {
  return [
    { role: 'user', content: `${prompts['agent.md'] ?? ''}: ${task.description}` },
    ...turns.flatMap(({ agent, reply }): ChatMessageLike[] => [
      { role: 'assistant', content: agent.text },
      ...(reply ? [{ role: 'user' as const, content: reply.text }] : []),
    ]),
  ];
}

const visible = ({ agent }: Turn): string => agent.text.split('OUTPUT: ').at(-1)!;

async function exported(log: TrajectoryLog, options: ExportOptions) {
  const folder = await temporaryFolder();
  const file = join(folder, 'out.jsonl');
  const result = await exportTrajectories(log, file, options);
  const text = await readFile(file, 'utf8');
  const rows = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(rows).toHaveLength(result.rows);
  expect((await readdir(folder)).sort()).toEqual(['out.jsonl', 'out.jsonl.md']);
  return { ...result, rows, text, cardText: await readFile(result.card, 'utf8') };
}

const other = { ...doubling, id: 'other', description: 'Something else. def double(n)', license: 'MIT' };

/** Logs one task with rewards 0.5, 1, 1, 0 and a leaked 1, another with only 0.5, and dialogues without answer. */
async function filled(): Promise<TrajectoryLog> {
  const log = await openLog();
  await play(log, 'half', 0.5);
  await play(log, 'best', 1);
  await play(log, 'also-best', 1);
  await play(log, 'worst', 0);
  await log.append(started('leaky'));
  await log.appendAll([agentTurn('leaky', 1), reply('leaky', 1), leak('leaky', 1, 0.9, true)]);
  await log.append(agentTurn('leaky', 2));
  await log.append({ event: 'answered', episode: 'leaky', turn: 2, answer: 'code', reason: 'answered' });
  await play(log, 'alone', 0.5, { collaborator: kim }, other);
  await log.append({
    event: 'consent',
    pseudonym: 'kim',
    purpose: 'a study of *questions*',
    level: 'export',
  });
  await log.appendAll([started('open'), agentTurn('open', 1)]);
  await log.append(started('failed'));
  await log.append({ event: 'abandoned', episode: 'failed', reason: 'failed', message: 'No server.' });
  await log.append(started('ungraded'));
  await log.append({ event: 'answered', episode: 'ungraded', turn: 1, answer: 'code', reason: 'answered' });
  await play(log, 'deleted', 1);
  await log.delete(['deleted']);
  return log;
}

const episodes = (rows: readonly Record<string, unknown>[]): unknown[] =>
  rows.map((row) => (row.tandem as { episode: string }).episode);

describe('exporting trajectories', () => {
  it.each(['trajectories', 'chat', 'axolotl-sft', 'inspect'] as const)(
    'leaves out a dialogue with an empty message of the agent, as %s',
    async (format) => {
      const log = await openLog();
      await play(log, 'spoken', 1);
      await log.append(started('silent'));
      await log.appendAll([agentTurn('silent', 1, ' \n'), reply('silent', 1)]);
      await log.appendAll([agentTurn('silent', 2), answered('silent', 2)]);
      await log.append(graded('silent', 1));
      const file = join(await temporaryFolder(), 'out.json');
      const result = await exportTrajectories(log, file, { format, visible, render });
      expect(result).toMatchObject({ rows: 1, leftOut: { 'with an empty message of the agent': 1 } });
      expect(await readFile(file, 'utf8')).not.toContain('silent');
    },
  );

  it('writes the published form with our fields beside it, and counts what is left out', async () => {
    const { rows, leftOut } = await exported(await filled(), { format: 'trajectories', visible });
    expect(episodes(rows)).toEqual(['half', 'best', 'also-best', 'worst', 'alone']);
    expect(rows[0]).toMatchObject({
      task: { problem_description: doubling.description, ground_truth: doubling.reference },
      dialogue_history: [
        { role: 'agent', content: 'question 1?', output: 'OUTPUT: question 1?' },
        { role: 'human', content: 'reply 1 of openai:simulator' },
        { role: 'agent', output: expect.stringContaining('thinking') as string },
      ],
      answer: doubling.reference,
      reward: 0.5,
      tandem: { grading_mode: 'fixed', agent: 'openai:agent', turns: [{ reply_author: 'simulator' }, {}] },
    });
    expect(leftOut).toEqual({ leaked: 1, 'not finished': 1, abandoned: 1, 'not graded': 1, deleted: 1 });
  });

  it('takes dialogues without a grade for methods that need none', async () => {
    const log = await openLog();
    await play(log, 'graded', 1);
    await log.appendAll([started('ungraded'), agentTurn('ungraded', 1), answered('ungraded', 1)]);
    const { rows, leftOut } = await exported(log, { format: 'trajectories', visible, withUngraded: true });
    expect(rows.map(({ reward }) => reward)).toEqual([1, null]);
    expect(leftOut).toEqual({});
  });

  it('says among which candidates a critic chose a turn', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    const selection = {
      place: 1,
      candidates: [
        { model: 'a', score: null },
        { model: 'b', score: 0.25 },
      ],
    };
    const events = dialogue('chosen', 1);
    await log.appendAll(
      events.map((event) =>
        event.event === 'agent-turn' && event.turn === 1 ? { ...event, selection } : event,
      ),
    );
    const { rows } = await exported(log, { format: 'trajectories', visible });
    expect(rows[0]).toMatchObject({ tandem: { turns: [{ selection }, {}] } });
  });

  it('says of a turn how many samples the developer passed over, and whose draft a reply was', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study', level: 'export' });
    await log.appendAll([
      started('chosen', { collaborator: kim }),
      agentTurn('chosen', 1, 'OUTPUT: first?'),
      { event: 'turn-superseded', episode: 'chosen', turn: 1 },
      agentTurn('chosen', 1, 'OUTPUT: second?'),
      { event: 'turn-rating', episode: 'chosen', turn: 1, thumb: 'up', comment: 'Mine alone.', by: 'kim' },
      {
        ...{ event: 'reply', episode: 'chosen', turn: 1, text: 'Yes.', suggestion: 'Yes.' },
        ...{ author: 'developer-sent-suggestion', by: 'kim', suggestedBy: 'rules' },
      },
      agentTurn('chosen', 2),
      { event: 'answered', episode: 'chosen', turn: 2, answer: 'code', reason: 'answered' },
      graded('chosen', 1),
    ]);
    const { rows, text } = await exported(log, { format: 'trajectories', visible });
    expect(rows[0]).toMatchObject({
      dialogue_history: [{ output: 'OUTPUT: second?' }, { content: 'Yes.' }, { role: 'agent' }],
      tandem: {
        turns: [
          {
            ...{ superseded: 1, thumb: 'up', reply_by: 'kim', reply_suggested_by: 'rules' },
            reply_author: 'developer-sent-suggestion',
          },
          {},
        ],
      },
    });
    expect(text).not.toContain('Mine alone.');
  });

  it('filters by the list’s filter, success, reward and leak', async () => {
    const log = await filled();
    const chosen = async (selection: object): Promise<unknown[]> =>
      episodes((await exported(log, { format: 'chat', render, ...selection })).rows);
    expect(await chosen({ onlySuccess: true })).toEqual(['best', 'also-best']);
    expect(await chosen({ minReward: 0.5 })).toEqual(['half', 'best', 'also-best', 'alone']);
    expect(await chosen({ filter: { task: 'other' } })).toEqual(['alone']);
    expect(await chosen({ filter: { task: 'doubling' }, withLeaked: true })).toContain('leaky');
    expect(await chosen({ mode: 'paper', minReward: 0 })).toEqual([]);
    await play(log, 'evaluated', 1, { collection: 'evaluation-7' });
    expect(await chosen({ onlySuccess: true })).not.toContain('evaluated');
    expect(await chosen({ onlySuccess: true, withEvaluations: true })).toContain('evaluated');
  });

  it('leaves out what is to be redone unless it is asked for, and on demand what nobody accepted', async () => {
    const log = await filled();
    await log.appendAll([review('best', 'kim', 'accepted'), review('half', 'kim', 'redo', 'It guesses.')]);
    const usual = await exported(log, { format: 'chat', render });
    expect(episodes(usual.rows)).toEqual(['best', 'also-best', 'worst', 'alone']);
    expect(usual.leftOut['to be redone']).toBe(1);
    expect(usual.cardText).toContain('| to be redone | 1 |');
    const all = await exported(log, { format: 'chat', render, withRedo: true });
    expect(episodes(all.rows)).toContain('half');
    expect(all.cardText).toContain('those to be redone included');
    const accepted = await exported(log, { format: 'chat', render, onlyAccepted: true });
    expect(episodes(accepted.rows)).toEqual(['best']);
    expect(accepted.leftOut['not accepted']).toBe(4);
    expect(accepted.cardText).toContain('only accepted ones');
    // The dialogue goes on, so that nobody has reviewed it as it is then.
    await log.append({ event: 'resumed', episode: 'best' });
    expect((await exported(log, { format: 'chat', render, onlyAccepted: true })).rows).toEqual([]);
  });

  it('leaves out what a model of the editor wrote, in any of its parts, unless it is asked for', async () => {
    const log = await openLog();
    await play(log, 'ours', 1);
    await play(log, 'agent', 1, { agent: 'vscode:copilot/some' });
    await play(log, 'simulator', 1, { collaborator: { kind: 'simulator', name: 'vscode:copilot/some' } });
    const [first, asked, , ...rest] = dialogue('edited', 1, { collaborator: kim });
    const edited = { event: 'reply', episode: 'edited', turn: 1, text: 'Twice.', by: 'kim' } as const;
    await log.appendAll([
      first!,
      asked!,
      { ...edited, author: 'developer-edited-suggestion', suggestion: 'Twice it.', terms: 'editor' },
      ...rest,
    ]);
    const [begun, question, , ...end] = dialogue('drafted', 1, { collaborator: kim });
    const drafted = {
      ...edited,
      episode: 'drafted',
      suggestion: 'Twice.',
      suggestedBy: 'vscode:copilot/some',
    };
    await log.appendAll([
      begun!,
      question!,
      // An earlier version wrote no tag when the simulator had been changed meanwhile.
      { ...drafted, author: 'developer-sent-suggestion' },
      ...end,
    ]);
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study', level: 'export' });
    const own = await exported(log, { format: 'chat', render });
    expect(episodes(own.rows)).toEqual(['ours']);
    expect(own.leftOut).toEqual({ 'model terms': 4 });
    expect(own.cardText).toContain('models of the editor left out');
    const all = await exported(log, { format: 'chat', render, withEditorModels: true });
    expect(all.rows).toHaveLength(5);
    expect(all.cardText).toContain('models of the editor included');
  });

  it('leaves the file that was there when it is cancelled', async () => {
    const log = await filled();
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'out.jsonl'), 'before');
    const controller = new AbortController();
    const cancelled = exportTrajectories(log, join(folder, 'out.jsonl'), {
      format: 'chat',
      render,
      signal: controller.signal,
      onProgress: ({ done }) => done === 2 && controller.abort(new Error('Enough.')),
    });
    await expect(cancelled).rejects.toThrow('Enough.');
    expect(await readdir(folder)).toEqual(['out.jsonl']);
    expect(await readFile(join(folder, 'out.jsonl'), 'utf8')).toBe('before');
  });
});

describe('preference rows', () => {
  const pairsOf = (rows: readonly Record<string, unknown>[]): string[] =>
    rows.map((row) => {
      const { chosen, rejected } = row.tandem as {
        chosen: { episode: string };
        rejected: { episode: string };
      };
      return `${chosen.episode} > ${rejected.episode}`;
    });

  it('pair the first trajectory of reward 1 with every strictly lower one of its task', async () => {
    const { rows, leftOut, trajectories } = await exported(await filled(), { format: 'preferences', render });
    expect(pairsOf(rows)).toEqual(['best > half', 'best > worst']);
    expect(trajectories).toBe(3);
    expect(leftOut['without a better or worse trajectory of the same task']).toBe(2);
    expect(rows[0]).toMatchObject({
      prompt: [{ role: 'user' }],
      chosen: [{ role: 'assistant' }, { role: 'user' }, { role: 'assistant' }],
      rejected: [{ role: 'assistant' }, { role: 'user' }, { role: 'assistant' }],
    });
  });

  it('pair all strictly different rewards of a task on request', async () => {
    const { rows } = await exported(await filled(), { format: 'preferences', render, pairs: 'all' });
    expect(pairsOf(rows).sort()).toEqual([
      'also-best > half',
      'also-best > worst',
      'best > half',
      'best > worst',
      'half > worst',
    ]);
  });

  it('leave out pairs whose prompts differ, and say so', async () => {
    const log = await openLog();
    await play(log, 'good', 1);
    await play(log, 'bad', 0, { prompts: { 'agent.md': 'another' } });
    const { rows, leftOut } = await exported(log, { format: 'preferences', render });
    expect(rows).toEqual([]);
    expect(leftOut).toEqual({ 'paired only with trajectories of other prompts or measures': 2 });
  });
});

it('writes half a character as U+FFFD for other tools, which refuse a whole file for one', async () => {
  const log = await openLog();
  await play(log, 'cut', 1, { agent: 'cut \ud83d, whole \u{1F6B2}' });
  const cut = { tandem: { agent: 'cut \ufffd, whole \u{1F6B2}' } };
  expect((await exported(log, { format: 'chat', render })).rows).toMatchObject([cut]);
  const same = { tandem: { agent: 'cut \ud83d, whole \u{1F6B2}' } };
  expect((await exported(log, { format: 'trajectories', visible })).rows).toMatchObject([same]);
});

describe('the dataset card', () => {
  it('says what is in the file, who took part, and what was left out', async () => {
    const log = await filled();
    const { cardText } = await exported(log, {
      format: 'trajectories',
      visible,
      filter: { state: 'answered' },
    });
    expect(cardText).toMatch(/^---\nlicense: "other"\n/);
    expect(cardText).toContain('data_files: "out.jsonl"');
    expect(cardText).toContain('| trajectories | 5 |');
    for (const row of [
      '| mean reward | 0.600 |',
      '| openai:agent | 5 |',
      '| developer kim | 1 |',
      '| leaked | 1 |',
    ])
      expect(cardText).toContain(row);
    expect(cardText).toMatch(
      /\| kim \| a study of \\\*questions\\\*: may be exported \(\d{4}-\d\d-\d\d\) \|/,
    );
    expect(cardText).toContain(
      'Filters: state `answered`, leaked ones left out, evaluations left out, models of the editor left out.',
    );
    expect(cardText).toContain(
      'Licenses of the tasks: `MIT`. 4 trajectories are of tasks that name no license.',
    );
  });

  it('keeps a licence with line breaks and controls on its line', async () => {
    const license = 'MIT\u2028\u001b[31m\n---\n# Owned\ntags: `x`';
    const log = await openLog();
    await play(log, 'one', 1, {}, { ...other, license });
    const { cardText } = await exported(log, { format: 'chat', render });
    expect(cardText.split('\n').filter((line) => line === '---')).toHaveLength(2);
    expect(cardText).not.toMatch(/^# Owned|[^\P{Cc}\n]|\u2028/mu);
    const shown = String.raw`MIT\u2028\x1b[31m\x0a---\x0a# Owned\x0atags: 'x'`;
    expect(cardText).toContain(`Licenses of the tasks: \`${shown}\`.`);
  });
});

describe('round trip', () => {
  it('gives back the rows that were imported, and importing an export adds nothing', async () => {
    const random = seeded(5);
    const text = (): string =>
      Array.from({ length: 1 + Math.floor(random() * 30) }, () =>
        String.fromCodePoint([10, 34, 92, 32, 97, 233, 8232, 128512][Math.floor(random() * 8)]!),
      ).join('') + 'x';
    const rows = Array.from({ length: 60 }, (_, number) => ({
      task: {
        problem_description: text(),
        ground_truth: text(),
        test_cases: { test1: text(), test2: text() },
        hidden_information: text(),
        ...(random() < 0.5 && { id: `task-${number}` }),
      },
      dialogue_history: Array.from({ length: 1 + 2 * Math.floor(random() * 4) }, (_, index) =>
        index % 2 === 1
          ? { role: 'human', content: text() }
          : { role: 'agent', content: text(), ...(random() < 0.5 && { input: [text()] }), output: text() },
      ),
      answer: text(),
      reward: Math.round(random() * 10) / 10,
    }));
    const file = join(await temporaryFolder(), 'rows.jsonl');
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const log = await openLog();
    const repliesBy = 'simulator';
    expect(await importTrajectories(log, file, { repliesBy })).toMatchObject({ imported: 60, bad: [] });

    const out = join(await temporaryFolder(), 'out.jsonl');
    await exportTrajectories(log, out, { format: 'trajectories', visible, mode: 'paper' });
    const lines = (await readFile(out, 'utf8')).split('\n').slice(0, -1);
    const back = lines.map((line) => {
      const row = JSON.parse(line) as Record<string, unknown>;
      delete row.tandem;
      return row;
    });
    expect(back).toEqual(rows);
    expect(await importTrajectories(log, out)).toMatchObject({ imported: 0, alreadyThere: 60, bad: [] });
  });
});
