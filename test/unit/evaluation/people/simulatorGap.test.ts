import { describe, expect, it } from 'vitest';
import { NO_PREFERENCE } from '../../../../src/core/dialogue/protocol';
import { RulesSimulator, type Simulator } from '../../../../src/core/dialogue/simulator';
import { simulatorGap, type GapPlan } from '../../../../src/core/evaluation/people/simulatorGap';
import { gapFindings, gapInMarkdown, gapTables } from '../../../../src/core/evaluation/report/simulatorGap';
import { linesOf } from '../../../../src/core/evaluation/report/table';
import { Fault } from '../../../../src/core/fault';
import { loadTasks } from '../../../../src/core/task/pack';
import { factsOf, programOf, type ProgramTask } from '../../../../src/core/task/task';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { starterPack } from '../../../fixtures/dialogue';
import { habitOf, playedBy as playAll, type DeveloperName, type Habit } from '../../../fixtures/developers';
import { dialogue, doubling, kim, openLog, play } from '../../../fixtures/log';

const rules = new RulesSimulator();

const tasks = async (): Promise<ProgramTask[]> =>
  (await loadTasks(starterPack)).tasks.slice(0, 8).map(programOf);

const toldOf = (task: ProgramTask, places: readonly number[]): string =>
  places.map((place) => factsOf(task)[place]!.answers[0]).join(' ');

const asTheRules: Habit = async (_, __, view) => (await rules.reply(view)).text;
const terse: Habit = (task, turn) => toldOf(task, [2 * turn]);
const generous: Habit = (task) => toldOf(task, [0, 1, 2]);
const silent: Habit = () => NO_PREFERENCE;
const leaking: Habit = ({ reference }) => reference;

const playedBy = async (habit: Habit, more?: Parameters<typeof playAll>[2]): Promise<TrajectoryLog> =>
  playAll(habit, await tasks(), more);

const gapIn = (log: TrajectoryLog, more: Partial<GapPlan> = {}) =>
  simulatorGap({ log, simulator: rules, concurrency: 4, signal: new AbortController().signal, ...more });

const sentences = (gap: Awaited<ReturnType<typeof gapIn>>): string[] =>
  gapFindings(gap).map(({ sentence }) => sentence);

describe('the distance of a simulator from people', () => {
  it('is zero from itself', async () => {
    const gap = await gapIn(await playedBy(asTheRules));
    expect(gap).toMatchObject({
      simulator: 'rules',
      people: ['kim'],
      dialogues: 8,
      replies: 16,
      failures: [],
    });
    for (const name of ['words', 'answers', 'noPreference', 'leaks', 'volunteers'] as const)
      expect(gap.figures[name]!.difference, name).toMatchObject({
        difference: 0,
        interval: { low: 0, high: 0 },
        tasks: 8,
      });
    expect(gap.figures.answers!.people.value).toBe(1);
    expect(sentences(gap)).toEqual(['No clear difference in what it answers, leaks and volunteers.']);
  });

  it('shows that it answers more, in more words, than a terse developer', async () => {
    const gap = await gapIn(await playedBy(terse));
    // One of two questions, then the only one.
    expect(gap.figures.answers).toMatchObject({ people: { value: 0.75 }, simulator: { value: 1 } });
    expect(gap.figures.answers!.difference).toMatchObject({
      difference: 0.25,
      interval: { low: 0.25, high: 0.25 },
    });
    expect(gap.figures.words!.difference.interval!.low).toBeGreaterThan(0);
    expect(gap.figures.volunteers!.difference.difference).toBe(0);
    expect(sentences(gap)).toEqual(['Too kind: it answers more of what the agent asks than people do.']);
    const report = gapInMarkdown(gap);
    expect(report).toMatch(
      /^# People and simulator: rules\n\n- Too kind: .*\n\n## People and the simulator\n/,
    );
    expect(report).toMatch(/^\| people \|.* 75\.0 % .*\|$/m);
    expect(report).toMatch(/^\| simulator − people \| \+\d+\.\d \\\[\+/m);
  });

  it('shows that it volunteers less than a developer who tells everything', async () => {
    const gap = await gapIn(await playedBy(generous));
    // The first reply tells the third fact, too; the second tells nothing new.
    expect(gap.figures.volunteers).toMatchObject({ people: { value: 0.5 }, simulator: { value: 0 } });
    expect(gap.figures.answers!.difference.difference).toBe(0);
    expect(gap.figures.words!.difference.interval!.high).toBeLessThan(0);
    expect(sentences(gap)).toEqual(['Stricter than people: it volunteers facts less often.']);
  });

  it('shows that it answers where a developer never does', async () => {
    const gap = await gapIn(await playedBy(silent));
    expect(gap.figures.answers!.difference).toMatchObject({ difference: 1, interval: { low: 1, high: 1 } });
    expect(gap.figures.noPreference!.difference.difference).toBe(-1);
  });

  it('shows that it leaks less than a developer who shows the reference', async () => {
    const gap = await gapIn(await playedBy(leaking));
    expect(gap.figures.leaks).toMatchObject({ people: { value: 1 }, simulator: { value: 0 } });
    expect(sentences(gap)).toContain('Stricter than people: it leaks the reference less often.');
  });

  it('finds the known habits of each developer', async () => {
    const log = await openLog();
    for (const by of ['ada', 'ben', 'cleo', 'dan'] as const) await playedBy(habitOf(by), { log, by });
    const of = async (name: DeveloperName) => {
      const { figures } = await gapIn(log, { people: [name] });
      return {
        answers: figures.answers!.people.value,
        noPreference: figures.noPreference!.people.value,
        volunteers: figures.volunteers!.people.value,
      };
    };
    expect(await of('ada')).toEqual({ answers: 1, noPreference: 0, volunteers: 0 });
    // One of two questions, then a shrug.
    expect(await of('ben')).toEqual({ answers: 0.25, noPreference: 0.5, volunteers: 0 });
    const { answers, noPreference } = await of('cleo');
    expect(answers).toBeGreaterThan(0.3);
    expect(answers).toBeLessThan(0.7);
    expect(noPreference).toBeGreaterThan(0.3);
    expect((await of('dan')).volunteers).toBeGreaterThan(0);
  });

  it('is that of the given people, in the newest dialogues', async () => {
    const log = await playedBy(silent, { by: 'ada' });
    await playedBy(terse, { log, by: 'ben' });
    expect(await gapIn(log, { people: ['ada'] })).toMatchObject({ people: ['ada'], replies: 16 });
    const newest = await gapIn(log, { limit: 5 });
    expect(newest).toMatchObject({ people: ['ben'], dialogues: 5, replies: 10 });
    expect(newest.figures.answers!.difference.interval).toBeNull();
    expect(sentences(newest)).toEqual([
      'Too few dialogues to tell whether it is too kind: intervals need six.',
    ]);
  });

  it('leaves out suggestions that were sent unchanged', async () => {
    const log = await playedBy(asTheRules, { author: 'developer-sent-suggestion' });
    expect(await gapIn(log)).toMatchObject({ replies: 0, dialogues: 0, suggested: 16, figures: {} });
  });

  it('compares success of the same agents on the same tasks, by task', async () => {
    const log = await playedBy(silent);
    const all = await tasks();
    for (const [index, task] of all.entries()) {
      const fields = { task: task.id, collaborator: { kind: 'rules', name: 'rules' } } as const;
      await log.appendAll(dialogue(`with-rules-${index}`, 1, fields));
      await log.appendAll(dialogue(`again-${index}`, index < 4 ? 0 : 1, fields));
      await log.appendAll(dialogue(`other-${index}`, 0, { ...fields, agent: 'openai:another' }));
    }
    const gap = await gapIn(log);
    expect(gap.figures.success).toMatchObject({
      people: { value: 0 },
      simulator: { value: 0.75 },
      difference: { difference: 0.75, tasks: 8 },
    });
    const [sides, difference] = gapTables(gap).map((table) => linesOf(table));
    expect(sides!.map((row) => row.at(-1))).toEqual([
      'Success',
      '0.0 % [0.0, 32.4], n = 8',
      expect.stringMatching(/^75\.0 %/),
    ]);
    expect(difference![1]!.at(-1)).toMatch(/^\+75\.0 \[\+/);
  });

  it('shows answers and volunteered facts only for tasks with facts', async () => {
    const log = await openLog();
    await play(log, 'a', 1, { collaborator: kim });
    const mute: Simulator = {
      kind: 'simulator',
      name: 'mute',
      reply: () => Promise.resolve({ text: 'I see.' }),
    };
    const gap = await gapIn(log, { simulator: mute });
    expect(Object.keys(gap.figures)).toEqual(['words', 'noPreference', 'leaks']);
    expect(gap.figures.words).toMatchObject({ people: { value: 4 }, simulator: { value: 2 } });
  });

  it('counts and names the replies that fail', async () => {
    const log = await playedBy(silent);
    await play(log, 'without-facts', 1, { collaborator: kim }, doubling);
    const gap = await gapIn(log);
    expect(gap).toMatchObject({
      replies: 16,
      failures: [{ replies: [{ episode: 'without-facts', turn: 1 }] }],
    });
  });

  it('ends when a model gives no reply at all', async () => {
    const down = new Fault('model/unreachable', 'The server is away.');
    let asked = 0;
    const simulator: Simulator = {
      ...{ kind: 'simulator', name: 'away' },
      reply: () => {
        asked += 1;
        return Promise.reject(down);
      },
    };
    const log = await playedBy(silent);
    await playedBy(silent, { log, by: 'ada' });
    await expect(gapIn(log, { simulator })).rejects.toBe(down);
    expect(asked).toBeLessThan(32);
  });

  it('gives nothing when it is cancelled', async () => {
    const stop = new AbortController();
    const simulator: Simulator = {
      ...{ kind: 'simulator', name: 'slow' },
      reply: () => {
        stop.abort();
        return Promise.resolve({ text: 'Yes.' });
      },
    };
    const log = await playedBy(silent);
    await expect(gapIn(log, { simulator, signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});
