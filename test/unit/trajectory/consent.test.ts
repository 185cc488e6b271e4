import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Consents, type Consent } from '../../../src/core/trajectory/consent';
import { type ConsentLevel } from '../../../src/core/trajectory/event';
import {
  exportTrajectories,
  type ChatMessageLike,
  type ExportFormat,
  type ExportResult,
} from '../../../src/core/trajectory/export/export';
import type { NewEvent } from '../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { extensionOf } from '../../../src/core/trajectory/export/formats';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  kim,
  openLog,
  play,
  reply,
  started,
  temporaryFolder,
} from '../../fixtures/log';

const render = ({ task, turns }: Trajectory): ChatMessageLike[] => [
  { role: 'user', content: task.description },
  ...turns.flatMap(({ agent, reply }): ChatMessageLike[] => [
    { role: 'assistant', content: agent.text },
    ...(reply ? [{ role: 'user' as const, content: reply.text }] : []),
  ]),
];

const formats: ExportFormat[] = [
  { format: 'trajectories', visible: ({ agent }) => agent.text, render },
  { format: 'chat', render },
  { format: 'preferences', render, pairs: 'all' },
  { format: 'axolotl-sft', render },
  { format: 'atif', render },
  { format: 'inspect', render },
];

/** Makes a dialogue in which kim edits the simulator's suggestion, leaks, and takes 424242 ms. */
function edited(episode: string, reward: number): NewEvent[] {
  return [
    started(episode, { collaborator: kim }),
    agentTurn(episode, 1),
    {
      ...{ event: 'reply', episode, turn: 1, author: 'developer-edited-suggestion', by: 'kim' },
      ...{ text: 'What Kim said', suggestion: 'What was drafted', fullText: 'What Kim said and cut off' },
      milliseconds: 424242,
    },
    agentTurn(episode, 2, 'I WANT TO ANSWER: code'),
    answered(episode, 2, 'code'),
    graded(episode, reward),
    { event: 'rating', episode, stars: 4, by: 'kim' },
  ];
}

async function logOf(level?: ConsentLevel): Promise<TrajectoryLog> {
  const log = await openLog();
  await log.recordTask(doubling);
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', ...(level && { level }) });
  await log.appendAll([...edited('good', 1), ...edited('bad', 0)]);
  return log;
}

/** Exports the log; returns the texts of the file and of its card. */
async function exported(log: TrajectoryLog, format: ExportFormat): Promise<ExportResult & { bytes: string }> {
  const file = join(await temporaryFolder(), `out.${extensionOf(format.format)}`);
  const result = await exportTrajectories(log, file, format);
  const [rows, card] = await Promise.all([readFile(file, 'latin1'), readFile(`${file}.md`, 'latin1')]);
  return { ...result, bytes: rows + card };
}

describe.each(formats)('an export as $format', (format) => {
  it('leaves out what people keep on this machine, and counts it', async () => {
    for (const level of ['local', undefined] as const) {
      const { rows, leftOut, bytes } = await exported(await logOf(level), format);
      expect(rows).toBe(0);
      expect(leftOut).toEqual({ 'local only': 2 });
      expect(bytes).not.toMatch(/kim|Kim said|drafted/);
    }
  });

  it('holds the replies, but neither edits nor times, when only export was allowed', async () => {
    const { rows, bytes } = await exported(await logOf('export'), format);
    expect(rows).toBeGreaterThan(0);
    expect(bytes).toContain('What Kim said');
    expect(bytes).not.toMatch(/drafted|cut off|424242/);
  });

  it.each([
    { level: 'local', isThere: false },
    { level: 'export', isThere: true },
  ] as const)('of what a person wrote as the agent has it with $level: $isThere', async (one) => {
    const log = await openLog();
    await log.recordTask(doubling);
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: one.level });
    for (const [episode, reward] of [
      ['good', 1],
      ['bad', 0],
    ] as const) {
      await log.appendAll([
        started(episode, { agent: 'person' }),
        {
          ...{ event: 'agent-turn', episode, turn: 1, by: 'kim', finishReason: 'other', model: 'person' },
          text: `OUTPUT: I WANT TO ANSWER: written-by-hand ${episode}`,
        },
        answered(episode, 1, 'code'),
        graded(episode, reward),
      ]);
    }
    const { rows, bytes } = await exported(log, format);
    expect([rows > 0, bytes.includes('written-by-hand')]).toEqual([one.isThere, one.isThere]);
  });

  it('leaves out a dialogue in which one of several people did not agree', async () => {
    const log = await logOf('export');
    await log.append({ event: 'consent', pseudonym: 'lee', purpose: 'research', level: 'local' });
    await log.appendAll([
      started('helped', { collaborator: kim }),
      agentTurn('helped', 1),
      reply('helped', 1, { kind: 'developer', name: 'lee' }),
      agentTurn('helped', 2, 'I WANT TO ANSWER: code'),
      answered('helped', 2, 'code'),
      graded('helped', 0.5),
    ]);
    await play(log, 'of-nobody-known', 0.5, { collaborator: { kind: 'developer', name: 'sam' } });
    const { leftOut, bytes } = await exported(log, format);
    expect(leftOut).toEqual({ 'local only': 1, 'no consent': 1 });
    expect(bytes).not.toMatch(/\b(lee|sam)\b/);
  });
});

it('brings edits and timing into the trajectories of those who allow it', async () => {
  const { bytes } = await exported(await logOf('export-with-edits'), formats[0]!);
  expect(bytes).toContain(
    '"reply_suggestion":"What was drafted","reply_full_text":"What Kim said and cut off","reply_milliseconds":424242',
  );
  expect(bytes).toContain('kim | research: may be exported with edits and timing');
});

it('brings the stars of those only who let what they write leave', async () => {
  const log = await openLog();
  await play(log, 'simulated', 1);
  await log.append({ event: 'rating', episode: 'simulated', stars: 2, by: 'kim' });
  expect((await exported(log, formats[0]!)).bytes).not.toContain('"stars"');
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' });
  expect((await exported(log, formats[0]!)).bytes).toContain('"stars":2');
});

it('brings the stars and the thumb of who played, or else the last that may leave', async () => {
  const log = await openLog();
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' });
  await log.append({ event: 'consent', pseudonym: 'lee', purpose: 'research', level: 'export' });
  await play(log, 'played', 1, { collaborator: kim });
  const said = (by: string, stars: number, thumb: 'up' | 'down'): NewEvent[] => [
    { event: 'rating', episode: 'played', stars, by },
    { event: 'turn-rating', episode: 'played', turn: 1, thumb, by },
  ];
  const told = async (): Promise<readonly (string | undefined)[]> => {
    const { bytes } = await exported(log, formats[0]!);
    return [/"stars":\d/, /"thumb":"\w+"/].map((form) => form.exec(bytes)?.[0]);
  };
  await log.appendAll(said('lee', 3, 'up'));
  await log.appendAll(said('sam', 1, 'down'));
  expect(await told()).toEqual(['"stars":3', '"thumb":"up"']);
  await log.appendAll(said('kim', 4, 'down'));
  await log.appendAll(said('lee', 2, 'up'));
  expect(await told()).toEqual(['"stars":4', '"thumb":"down"']);
  await log.append({ event: 'rating', episode: 'played', comment: 'No stars any more.', by: 'kim' });
  await log.append({ event: 'turn-rating', episode: 'played', turn: 1, comment: 'Nor a thumb.', by: 'kim' });
  expect(await told()).toEqual(['"stars":2', '"thumb":"up"']);
});

it('brings what became of an answer, and how much of it was edited only with the widest level', async () => {
  for (const [level, told] of [
    ['export', '"outcome":"accepted"'],
    ['export-with-edits', '"outcome":"edited","survived":0.5'],
  ] as const) {
    const log = await logOf(level);
    const outcome = { event: 'outcome', episode: 'good', by: 'kim' } as const;
    await log.append({ ...outcome, outcome: 'accepted' });
    await log.append({ ...outcome, outcome: 'edited', survived: 0.5, milliseconds: 300_000 });
    const { bytes } = await exported(log, formats[0]!);
    expect(bytes).toContain(told);
    expect(bytes.includes('"survived"')).toBe(level === 'export-with-edits');
  }
});

it('pairs the best that may leave, when a better one may not', async () => {
  const log = await logOf('local');
  await play(log, 'also-good', 1);
  await play(log, 'worse', 0);
  const { rows, bytes } = await exported(log, { format: 'preferences', render });
  expect(rows).toBe(1);
  expect(bytes).toMatch(/"chosen":\{"episode":"also-good".*"rejected":\{"episode":"worse"/);
});

describe('the latest consent of a pseudonym', () => {
  it('counts, also for what was written before it', async () => {
    const log = await logOf('export');
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'local' });
    expect((await exported(log, formats[0]!)).leftOut).toEqual({ 'local only': 2 });
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a book', level: 'export' });
    const { rows, bytes } = await exported(log, formats[0]!);
    expect(rows).toBe(2);
    expect(bytes).toContain('kim | a book: may be exported');
  });

  it('is the latest in time, in whatever order the log gives them', () => {
    const consent = (at: string, level?: ConsentLevel) => ({
      ...{ pseudonym: 'kim', purpose: 'research', at },
      ...(level && { level }),
    });
    const consents = new Consents([
      consent('2026-03-01T00:00:00.000Z', 'local'),
      consent('2026-02-01T00:00:00.000Z', 'export-with-edits'),
    ]);
    expect(consents.level('kim')).toBe('local');
    expect(new Consents([consent('2026-01-01T00:00:00.000Z')]).level('kim')).toBe('local');
    expect(consents.level('lee')).toBeUndefined();
  });

  it('is kept by the index file with its level', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' });
    await log.close();
    expect((await openLog(folder)).allowed.level('kim')).toBe('export');
  });
});

describe('a signal', () => {
  const given = {
    pseudonym: 'kim',
    purpose: 'research',
    level: 'export',
    at: '2026-03-01T10:00:00.000Z',
  } as const;
  const named = { ...given, signals: ['own-code'] };

  it('is covered by the last consent alone, and in every folder that the person is known from', () => {
    const covers = (...consents: Consent[]): boolean => new Consents(consents).covers('kim', 'own-code');
    expect([covers(), covers(given), covers(given, named), covers(named, given)]).toEqual([
      ...[false, false, true, false],
    ]);
    expect(covers(named, { ...given, origin: 'elsewhere' })).toBe(false);
    expect(covers(named, { ...named, origin: 'elsewhere' })).toBe(true);
  });

  it('is not covered by a consent that may have been withdrawn in lost lines', () => {
    const allowed = new Consents([named], Date.parse('2026-03-02T10:00:00.000Z'));
    expect(allowed.covers('kim', 'own-code')).toBe(false);
  });
});
