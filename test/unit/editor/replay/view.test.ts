import { describe, expect, it, vi } from 'vitest';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import { replayOf } from '../../../../src/editor/replay/view';
import { pairsOf } from '../../../../src/editor/judging/panel';
import { chosen } from '../../../fixtures/choices';
import {
  agentTurn,
  candidates,
  choice,
  judgement,
  kim,
  label,
  openLog,
  reply,
  started,
} from '../../../fixtures/log';
import { playedDialogue } from '../playedDialogue';
import { folded } from '../folded';
import type { Translate } from '../../../../src/editor/translate';
import { english } from '../translate';

vi.mock('vscode', () => import('../vscode'));

const played = playedDialogue();

describe('a replay', () => {
  it('says who wrote each reply and how, and where the seat went', () => {
    const { turns } = replayOf(played().trajectory, 'ada', english, 'en');
    expect(turns.map(({ reply }) => reply && [reply.by, reply.origin])).toEqual([
      ['ada', 'developer · 42 s'],
      ['ada', 'suggested by simulator, edited by developer · <1 s'],
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

  it('folds the tool calls of a session from elsewhere below its turn, and says that it has no grade', () => {
    const parts = [
      { kind: 'text', text: 'I look.' },
      { kind: 'call', text: '{"path":"src","depth":2}', name: 'ls', id: 'c' },
      { kind: 'result', text: 'x'.repeat(5000), id: 'c' },
    ] as const;
    const said = agentTurn('e', 1, 'I look.');
    const events = [
      started('e', {
        collaborator: kim,
        collection: 'from elsewhere: codex',
        imported: { file: 'a.jsonl', line: 1, harness: 'codex' },
      }),
      { ...said, imported: { content: 'I look.', parts } } as typeof said,
      { event: 'answered', episode: 'e', turn: 1, answer: '', reason: 'answered' } as const,
    ];
    const { turns, ending, hasAnswer, outcome } = replayOf(
      folded(...(events as NewEvent[])),
      undefined,
      english,
      'en',
    );
    expect(turns[0]).toMatchObject({
      visible: 'I look.',
      did: [
        { name: 'call of ls', text: 'path: src\ndepth: 2' },
        { name: 'result', text: 'x'.repeat(4000) },
      ],
      left: 1000,
    });
    expect(ending).toBe('A session of codex, 1 turn. It has no tests, so it has no grade.');
    expect([hasAnswer, outcome]).toEqual([false, 'no tests']);
  });

  it('shows what was chosen from and by whom, earlier samples and remarks', () => {
    const events: NewEvent[] = [
      started('e', { collaborator: kim }),
      candidates('e', 1),
      choice('e', 1, 1),
      agentTurn('e', 1, 'OUTPUT: candidate 1 for 1?'),
      { event: 'turn-superseded', episode: 'e', turn: 1 },
      agentTurn('e', 1, `OUTPUT:\n${'long '.repeat(20_000)}`),
      { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'down', comment: 'Vague.', by: 'kim' },
      { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'up', by: 'ada' },
      reply('e', 1, kim),
      candidates('e', 2),
      choice('e', 2, 'neither'),
    ];
    const replayed = (...more: NewEvent[]) => replayOf(folded(...events, ...more), 'kim', english, 'en');
    const during = replayed();
    expect(during.turns[0]).toMatchObject({
      choices: [{ picked: 1, by: 'kim', took: 'After 2 s.' }],
      earlier: [{ visible: 'candidate 1 for 1?' }],
      ratings: [
        { thumb: 'down', comment: 'Vague.', by: 'you' },
        { thumb: 'up', by: 'ada' },
      ],
    });
    expect(during.turns[0]?.left).toBeGreaterThan(40_000);
    expect(during.refused).toMatchObject([{ picked: 'neither', by: 'kim' }]);
    expect(JSON.stringify([during.turns, during.refused])).not.toContain('rival');
    const after = replayed({ event: 'abandoned', episode: 'e', reason: 'skipped', message: 'Too hard' });
    const told = { agents: ['openai:agent', 'openai:rival'] };
    expect([after.turns[0]?.choices, after.refused]).toMatchObject([[told], [told]]);
  });

  it('has what everybody said of it: stars, a title, tags, notes, and judgements of candidates', async () => {
    const log = await openLog();
    await chosen(log, 'e', [1]);
    const [pair] = pairsOf((await log.trajectory('e'))!);
    await log.appendAll([
      { event: 'rating', episode: 'e', stars: 2, by: 'kim' },
      { event: 'rating', episode: 'e', stars: 5, comment: 'Short.', by: 'ada' },
      judgement(pair!.choice, 0, 'equal', 'ada'),
      label('e', 'kim', { title: 'The good one', tags: ['odd'], note: 'In a hurry.' }),
      label('e', 'ada', { tags: ['slow'] }),
    ]);
    const { ratings, label: given, turns } = replayOf((await log.trajectory('e'))!, 'ada', english, 'en');
    expect(ratings.map(({ by, stars }) => `${by} ${stars}`)).toEqual(['kim 2', 'you 5']);
    const notes = [{ by: 'kim', text: 'In a hurry.' }];
    expect(given).toEqual({ title: 'The good one', tags: ['#odd', '#slow'], notes });
    expect(turns[0]!.choices![0]!.judgements).toEqual([{ by: 'you', picked: 'equal' }]);
  });

  it('has the review, with a suggested reason in the language of the reader', () => {
    const { trajectory } = played();
    const given = { version: 1, at: trajectory.started.at, event: 'review', episode: trajectory.id } as const;
    const review = { ...given, state: 'redo', reason: 'A reply is wrong', by: 'ada' } as const;
    const loud = ((sentence: string) => sentence.toUpperCase()) as Translate;
    const replay = replayOf({ ...trajectory, review }, 'kim', loud, 'en');
    expect(replay.canReview).toBe(true);
    expect(replay.review).toEqual({ state: 'redo', reason: 'A REPLY IS WRONG', by: 'ada' });
  });

  it('says how it ended, and shows the latest grade of each mode', () => {
    const { trajectory } = played();
    const grade = (mode: 'fixed' | 'paper', reward: number) => ({
      ...trajectory.answer!,
      event: 'grade' as const,
      grade: { mode, reward, success: reward === 1, tests: [] },
    });
    const grades = [grade('fixed', 0.5), grade('paper', 0.7), grade('fixed', 1)];
    const replay = replayOf({ ...trajectory, grades }, 'ada', english, 'en');
    expect(replay).toMatchObject({ verdict: 'passed', hasAnswer: true, canContinue: true });
    expect(Object.fromEntries(replay.details)).toMatchObject({
      Seed: '1',
      Temperature: '1',
      Dialogue: trajectory.id,
    });
    expect(replay.grades.map(({ headline }) => headline)).toEqual([
      ...['100 % of the tests passed', '70 % of the tests passed'],
    ]);
    expect(replayOf(trajectory, 'ada', english, 'en')).toMatchObject({ grades: [] });
  });

  it('says what each draft of a page gained, and what a simulator was shown', () => {
    const { trajectory } = played();
    const drafts = [
      { turn: 1, score: 0.6 },
      { turn: 3, score: 0.5 },
    ];
    const page = { measure: 'structure', version: 1, score: 0.5, parts: {}, drafts, renderer: 'a test' };
    const grade = { mode: 'fixed' as const, reward: 0.5, success: null, tests: [], page };
    const grades = [{ ...trajectory.answer!, event: 'grade' as const, grade }];
    const turns = trajectory.turns.map((turn) =>
      turn.reply?.author === 'simulator' ? { ...turn, reply: { ...turn.reply, shown: 'pictures' } } : turn,
    );
    const replay = replayOf({ ...trajectory, turns, grades }, 'ada', english, 'en');
    expect(replay.turns.map(({ gain }) => gain)).toEqual([
      'Score of this page (structure): 0.60',
      undefined,
      'Score of this page (structure): 0.50, −0.10 on the one before',
      undefined,
    ]);
    expect(replay.turns[2]?.reply?.origin).toMatch(/^simulator · saw the pictures of both pages · /);
  });
});
