import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Dialogue } from '../../../src/core/dialogue/dialogue';
import { colBenchProtocol } from '../../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../../src/core/dialogue/simulator';
import type { LogEvent, NewEvent } from '../../../src/core/trajectory/event';
import { foldTrajectory } from '../../../src/core/trajectory/fold';
import { TrajectoryLog, type TrajectoryCounts } from '../../../src/core/trajectory/log';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { replayOf } from '../../../src/editor/replay/view';
import { statisticsView } from '../../../src/editor/statistics/view';
import {
  days,
  dayOf,
  filterSchema,
  filterWords,
  isFiltered,
  namedFilter,
  validateDay,
} from '../../../src/editor/trajectories/filter';
import { groupsOf } from '../../../src/editor/trajectories/grouping';
import { recall } from '../../../src/editor/memory';
import { headline, importWords } from '../../../src/editor/trajectories/words';
import { previewDocument, type ExportChoice } from '../../../src/editor/export/preview';
import { previewExport } from '../../../src/core/trajectory/export/preview';
import { exportTrajectories, type ExportOptions } from '../../../src/core/trajectory/export/export';
import { asks, answers, scripted, shippedPrompts, starterTask } from '../../fixtures/dialogue';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  doubling,
  kim,
  openLog,
  play,
  reply,
  started,
} from '../../fixtures/log';
import { english } from './translate';

describe('the line above the list', () => {
  const counts = { total: 1204, graded: 1100, successes: 450, leaked: 7, tasks: 1000, successRate: 0.41 };

  it('says how many there are, how many succeed with the interval, and how many leak', () => {
    expect(headline(counts, english)).toBe('1,204 · 41 % success (38–44 %) · 0.6 % leaked');
  });

  it('leaves out what nothing is known of', () => {
    expect(headline({ ...counts, total: 3, leaked: 0, tasks: 0, successRate: null }, english)).toBe(
      '3 · 0 % leaked',
    );
    expect(headline({ ...counts, total: 0 }, english)).toBe('');
  });

  it('gives no interval of fewer than twenty tasks', () => {
    expect(headline({ ...counts, total: 3, leaked: 0, tasks: 3, successRate: 0 }, english)).toBe(
      '3 · 0 % success · 0 % leaked',
    );
  });
});

describe('a filter in words', () => {
  it('names what it is narrowed to', () => {
    expect(filterWords({}, english)).toBe('');
    expect(isFiltered({ agent: undefined, since: undefined })).toBe(false);
    expect(
      filterWords(
        {
          pack: 'a.jsonl',
          agent: 'starter',
          outcome: 'failure',
          stars: 3,
          leaked: false,
          text: 'x',
        },
        english,
      ),
    ).toBe('failed a test · 3 stars or more · without a leak · pack a.jsonl · agent starter · “x”');
  });

  it('takes days of local time, the last one included', () => {
    const filter = days('2026-03-01', '2026-03-02');
    expect(filterWords(filter, english)).toBe('from 2026-03-01 to 2026-03-02');
    expect(Date.parse(filter.until!) - Date.parse(filter.since!)).toBe(2 * 24 * 3600 * 1000);
    expect(filterWords(days('2026-03-01', '2026-03-01'), english)).toBe('on 2026-03-01');
    expect(filterWords(days(undefined, '2026-03-01'), english)).toBe('up to 2026-03-01');
    expect(filterWords(days(dayOf(Date.UTC(2026, 2, 5, 12)), undefined), english)).toBe('since 2026-03-05');
  });

  it('is the same after a reload, and none when what was kept is something else', () => {
    const filter = { ...days('2026-03-01', '2026-03-02'), outcome: 'failure', stars: 3, text: 'x' } as const;
    const recalled = (kept: unknown) => recall({ get: () => kept }, 'filter', filterSchema);
    expect(recalled(JSON.parse(JSON.stringify({ ...filter, pack: undefined })))).toEqual(filter);
    for (const kept of [undefined, null, 'text', { stars: 9 }, { outcome: 'won' }, { since: 'yesterday' }]) {
      expect(recalled(kept)).toBeUndefined();
    }
  });

  it('finds its text in titles of tasks and in names of models', () => {
    const titles = new Map([
      ['3ead', { title: 'Taxi fare' }],
      ['81bc', { title: 'Parcel surcharge' }],
    ]);
    const log = {
      count: () => ({ total: 0 }) as TrajectoryCounts,
      valuesOf: (column: string) => (column === 'agent' ? [{ value: 'local:run-7', count: 2 }] : []),
    };
    const namer = { calledBy: (name: string) => (name === 'local:run-7' ? 'Taxi driver' : name) };
    const named = namedFilter({ text: 'taxi ', stars: 3 }, titles, log, namer);
    expect(named).toEqual({ text: 'taxi ', stars: 3, named: new Set(['3ead', 'local:run-7']) });
    expect(namedFilter({ stars: 3 }, titles, log, namer)).toEqual({ stars: 3 });
  });

  it('refuses what is no day', () => {
    expect(validateDay('2026-02-28', english)).toBeUndefined();
    expect(validateDay('', english)).toBeUndefined();
    for (const wrong of ['yesterday', '2026-02-30', '1.3.2026'])
      expect(validateDay(wrong, english)).toMatch(/year-month-day/);
  });
});

describe('groups of the list', () => {
  const titleOf = (task: string): string => (task === 'doubling' ? 'Doubling' : task);
  const namer = { calledBy: (name: string) => (name === 'openai:agent' ? 'My agent' : name) };
  const groups = (of: TrajectoryLog, grouping: 'source' | 'agent' | 'task', limit = 9) => {
    const found = groupsOf(of, {}, grouping, titleOf, limit, namer, english);
    return [
      ...found.groups.map(
        ({ label, counts, isFolded }) => `${label} ${counts.total}${isFolded ? ', folded' : ''}`,
      ),
      found.total,
    ];
  };

  it('are what was played, collected and evaluated, the last folded; agents and tasks by their names', async () => {
    const grouped = await openLog();
    await play(grouped, 'own', 1, { agent: 'local:/data/runs/7/model' });
    expect(groups(grouped, 'source')).toEqual(['Played 1', 1]);
    for (const id of ['e1', 'e2']) await play(grouped, id, 0, { collection: 'evaluation-1' });
    await play(grouped, 'c1', 0, { collection: 'starter-world' }, { ...doubling, id: 'other' });
    expect(groups(grouped, 'source')).toEqual(['Played 1', 'Collected 1', 'Evaluation 2, folded', 3]);
    expect(groups(grouped, 'agent')).toEqual(['My agent 3, folded', '7/model 1, folded', 2]);
    expect(groups(grouped, 'task', 1)).toEqual(['Doubling 3, folded', 2]);
  });
});

describe('the result of an import', () => {
  it('names the first bad line', () => {
    expect(importWords({ imported: 2, alreadyThere: 0, bad: [] }, english)).toBe('2 dialogues imported.');
    const bad = [7, 9].map((line) => ({ file: 'rows.jsonl', line, reason: 'The line is not JSON.' }));
    expect(importWords({ imported: 1, alreadyThere: 3, bad }, english)).toBe(
      '1 dialogue imported. 3 were there already. 2 lines cannot be read; line 7: The line is not JSON.',
    );
  });
});

let folder: string;
let log: TrajectoryLog;
let played: Trajectory;

/** A real dialogue: a developer replies, edits a suggestion, then gives the seat to the rules. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-replay-'));
  log = await TrajectoryLog.open(path.join(folder, '.tandem'));
  await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'a test', level: 'export' });
  const task = await starterTask();
  const rules = new RulesSimulator();
  const agent = await scripted(folder, [
    asks('At how many kilograms is a parcel heavy?'),
    asks('How big is the supplement?'),
    asks('What about unknown zones?'),
    answers(task.reference),
  ]);
  const dialogue = await Dialogue.start({
    log,
    agent,
    simulator: rules,
    prompts: await shippedPrompts(),
    sampling: { temperature: 1, maxTokens: 500 },
    task,
    pack: 'written-by-hand.jsonl',
    collaborator: { kind: 'developer', name: 'ada' },
    protocol: colBenchProtocol,
    seed: 1,
  });
  await dialogue.agentTurn();
  await dialogue.reply('Above 20.', { author: 'developer', by: 'ada', milliseconds: 42_400 });
  await dialogue.agentTurn();
  await dialogue.reply(`It is 4.50. ${task.reference}`, {
    author: 'developer-edited-suggestion',
    by: 'ada',
    suggestion: 'The supplement is 4.50.',
    milliseconds: 400,
  });
  await dialogue.agentTurn();
  await dialogue.handOver({ kind: rules.kind, name: rules.name }, rules);
  await dialogue.play();
  await log.append({
    event: 'rating',
    episode: dialogue.id,
    stars: 4,
    comment: 'Good questions.',
    by: 'ada',
  });
  played = (await log.trajectory(dialogue.id))!;
});

afterAll(async () => {
  await log.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a replay', () => {
  it('says who wrote each reply and how, and where the seat went', () => {
    const { turns } = replayOf(played, 'ada', english, 'en');
    expect(turns.map(({ reply }) => reply && [reply.by, reply.origin])).toEqual([
      ['you', 'developer · 42 s'],
      ['you', 'suggested by simulator, edited by developer · <1 s'],
      ['rules', expect.stringMatching(/^simulator · /) as string],
      undefined,
    ]);
    expect(turns[1]?.reply).toMatchObject({ suggestion: 'The supplement is 4.50.' });
    expect(turns[1]?.reply?.leakPercent).toBeGreaterThan(50);
    expect(turns.map(({ handOvers }) => handOvers)).toEqual([
      [],
      [],
      [{ name: 'rules', seat: 'simulator' }],
      [],
    ]);
  });

  it('shows what was chosen from and by whom, earlier samples and remarks', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const events: NewEvent[] = [
      { event: 'task', task: doubling },
      started('e', { collaborator: kim }),
      candidates('e', 1),
      choice('e', 1, 1),
      agentTurn('e', 1, 'OUTPUT: candidate 1 for 1?'),
      { event: 'turn-superseded', episode: 'e', turn: 1 },
      agentTurn('e', 1, `OUTPUT:\n${'long '.repeat(20_000)}`),
      { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'down', comment: 'Vague.', by: 'kim' },
      reply('e', 1, kim),
      candidates('e', 2),
      choice('e', 2, 'neither'),
    ];
    const replayed = (more: readonly NewEvent[]) =>
      replayOf(
        foldTrajectory([...events, ...more].map((event): LogEvent => ({ version: 1, at, ...event })))!,
        'kim',
        english,
        'en',
      );
    const during = replayed([]);
    expect(during.turns[0]).toMatchObject({
      choices: [{ picked: 1, by: 'kim', took: 'After 2 s.' }],
      earlier: [{ visible: 'candidate 1 for 1?' }],
      rating: { thumb: 'down', comment: 'Vague.', by: 'you' },
    });
    expect(during.turns[0]?.left).toBeGreaterThan(40_000);
    expect(during.refused).toMatchObject([{ picked: 'neither', by: 'kim' }]);
    expect(JSON.stringify([during.turns, during.refused])).not.toContain('rival');
    const after = replayed([{ event: 'abandoned', episode: 'e', reason: 'skipped', message: 'Too hard' }]);
    const told = { agents: ['openai:agent', 'openai:rival'] };
    expect([after.turns[0]?.choices, after.refused]).toMatchObject([[told], [told]]);
  });

  it('calls a stranger by the pseudonym', () => {
    expect(replayOf(played, 'somebody', english, 'en').turns[0]?.reply?.by).toBe('ada');
    expect(replayOf(played, undefined, english, 'en').rating).toEqual({
      stars: 4,
      comment: 'Good questions.',
      by: 'ada',
    });
  });

  it('says how it ended, and shows the latest grade of each mode', () => {
    const grade = (mode: 'fixed' | 'paper', reward: number) => ({
      ...played.answer!,
      event: 'grade' as const,
      grade: { mode, reward, success: reward === 1, tests: [] },
    });
    const graded = { ...played, grades: [grade('fixed', 0.5), grade('paper', 0.7), grade('fixed', 1)] };
    const replay = replayOf(graded, 'ada', english, 'en');
    expect(replay).toMatchObject({
      ending: 'The agent answered after 4 turns.',
      outcome: '100 % of the tests',
      success: true,
      hasAnswer: true,
      hasReference: true,
    });
    expect(replay.grades.map(({ headline: words }) => words)).toEqual([
      '100 % of the tests passed',
      '70 % of the tests passed',
    ]);
    expect(replayOf(played, 'ada', english, 'en')).toMatchObject({
      outcome: 'not graded yet',
      success: null,
      grades: [],
    });
  });
});

describe('an export’s preview', () => {
  const exportChoice: ExportChoice = {
    format: 'chat',
    filter: { pack: 'written-by-hand.jsonl' },
    onlySuccess: false,
    withLeaked: true,
    withEvaluations: false,
    withEditorModels: false,
    withDoubtful: false,
  };
  const words = { folder: undefined, t: english };
  const options: ExportOptions = {
    format: 'chat',
    render: ({ turns }) => turns.map(({ agent }) => ({ role: 'assistant', content: agent.text.repeat(40) })),
    filter: exportChoice.filter,
    withLeaked: true,
  };

  it('counts what the export then writes', async () => {
    const preview = await previewExport(log, options, 3);
    const result = await exportTrajectories(log, path.join(folder, 'out.jsonl'), {
      ...options,
      previewed: preview.digest,
    });
    const { rows, trajectories, tasks, successes, leftOut } = result;
    expect(preview).toMatchObject({ rows, trajectories, tasks, successes, leftOut, leaked: 1 });
    expect(rows).toBe(1);
    expect(preview.first).toHaveLength(1);
    expect(preview.consents).toEqual([['ada', expect.stringMatching(/^a test: may be exported \(/)]]);
  });

  it('names the rows, whose words they hold and why others are left out, with long texts cut', async () => {
    const withLeak = previewDocument(await previewExport(log, options, 3), exportChoice, words);
    expect(withLeak).toContain('**1 rows** from 1 trajectories of 1 tasks, as fine-tuning rows');
    expect(withLeak).toContain('| ada | a test: may be exported (');
    expect(withLeak).toMatch(/… \([\d,]+ characters more\)/);
    const without = await previewExport(log, { ...options, withLeaked: false }, 3);
    const text = previewDocument(
      without,
      { ...exportChoice, withLeaked: false },
      { ...words, folder: 'beta' },
    );
    expect(text).toContain('| 1 | leaked |');
    expect(text).toContain('There is none.');
    expect(text).toContain('Of the log of beta.');
    expect(withLeak).not.toContain('Of the log of');
    expect(text).toContain('No text in these rows was written by a person.');
  });

  it('has a row for each choice, and the words of a model of the editor only when they are asked for', async () => {
    const chosen = await openLog();
    await chosen.recordTask(doubling);
    await chosen.append({ event: 'consent', pseudonym: 'kim', purpose: 'a test', level: 'export' });
    await chosen.appendAll([
      started('e', { collaborator: kim }),
      candidates('e', 1, ['openai:agent', 'vscode:copilot/gpt']),
      choice('e', 1, 1),
      { ...agentTurn('e', 1), model: 'vscode:copilot/gpt', terms: 'editor' } as NewEvent,
      answered('e', 1),
    ]);
    const previewed = async (withEditorModels: boolean): Promise<string> => {
      const asked = { ...exportChoice, format: 'choices', filter: {}, withEditorModels } as const;
      return previewDocument(await previewExport(chosen, { ...options, ...asked }, 3), asked, words);
    };
    const without = await previewed(false);
    expect(without).toContain('| 1 | model terms |');
    expect(without).not.toContain('read the vendor’s terms');
    const withThem = await previewed(true);
    expect(withThem).toContain(
      '**1 rows** from 1 trajectories of 1 tasks, as preference rows of single turns',
    );
    expect(withThem).toContain('- Include VS Code-model dialogues: read the vendor’s terms');
    expect(withThem).toContain('| kim | a test: may be exported (');
  });

  it('can be cancelled', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(previewExport(log, { ...options, signal }, 3)).rejects.toThrow('enough');
  });
});

it('gives the statistics by agent, by pack and by human, with periods that have names', () => {
  const { groups, periods, unit } = statisticsView(log.outlines(), 'en', String);
  expect(groups.pack).toMatchObject([{ name: 'written-by-hand.jsonl', dialogues: 1, leak: { value: 1 } }]);
  expect(groups.collaborator).toMatchObject([{ name: 'rules', replySeconds: { value: 21.4 } }]);
  expect(groups.agent).toHaveLength(1);
  expect(unit).toBe('hour');
  expect(periods.map(({ name }) => name)).toEqual([expect.stringMatching(/^\d+ \w+, \d\d:00$/)]);
});
