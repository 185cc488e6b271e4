import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { keep, type KeptEvaluation } from '../../../../src/core/evaluation/loop/evaluationCache';
import { parseEvent } from '../../../../src/core/training/eventFile';
import type { TrainerEvent } from '../../../../src/core/training/events';
import { RunHistory } from '../../../../src/core/training/history/history';
import type { Run } from '../../../../src/core/training/runs';
import { deletionWords, moreEpochsWords } from '../../../../src/editor/runs/runControl';
import {
  measuredWords,
  worseWords,
  resultInShort,
  reasonWords,
  runName,
  runStatus,
} from '../../../../src/editor/run/words';
import { RunResults } from '../../../../src/core/evaluation/comparison/measuredRuns';
import { toldView, unimprovedWords } from '../../../../src/editor/runs/eventMessages';
import { runView, samplesView, shownCurve } from '../../../../src/editor/runs/view';
import { played, setting } from '../../evaluation/comparison/played';

vi.mock('vscode', () => import('../vscode'));

const at = '2026-11-20T22:00:00.000Z';
const now = Date.parse('2026-11-21T00:00:00.000Z');
const event = (kind: string, fields: object): TrainerEvent =>
  parseEvent(JSON.stringify({ version: 1, at, event: kind, ...fields }))!;

const run = (fields: Partial<Run> = {}): Run => ({
  ...{ id: '20261120-215500-k3f9', folder: '/data/runs/20261120-215500-k3f9', name: 'sweet-rl #4' },
  ...{ method: 'sweet-rl', base: '/models/starter', state: 'running', isLive: true, canResume: false },
  ...{ lastLines: [], startedAt: at, changedAt: at, process: { pid: 7, host: 'here' } },
  progress: { state: 'running', stage: 'critic', step: 61, steps: 100, secondsLeft: 200, at },
  ...fields,
});

const resting = (state: Run['state'], fields: Partial<Run> = {}): Run =>
  run({ state, isLive: false, canResume: state !== 'done', ...fields });

/** The run was ended by request before its last step. */
const ended = { stage: 'policy', step: 500, steps: 1000 };
const finishedEarly = resting('done', {
  message: 'The words of the trainer.',
  progress: { state: 'done', stage: 'export', ended, at },
});

const history = (...events: readonly TrainerEvent[]): RunHistory => {
  const folded = new RunHistory();
  for (const one of events) folded.add(one);
  return folded;
};

const step = (number: number, fields: object = {}): TrainerEvent =>
  event('step', { stage: 'critic', step: number, steps: 100, loss: 1, accuracy: 0.5, ...fields });

const options = { dataFolder: '/data', restriction: '', kept: [], pinned: [] };

describe('a row of the Runs view', () => {
  it.each([
    [run(), 'critic 61 % · 3 min 20 s left'],
    [run({ progress: undefined }), 'preparing'],
    [run({ request: 'stop' }), 'pausing · writes a checkpoint'],
    [run({ request: 'finish' }), 'finishing · critic 61 %'],
    [resting('stopped'), 'paused · critic 61 %'],
    [finishedEarly, 'done · not evaluated · ended at step 500 of 1,000 · 2 h ago'],
    [resting('failed', { message: 'The disk is full.' }), 'failed · The disk is full.'],
    [resting('failed', { death: 'unknown', message: 'Words of the terminal.' }), 'failed · critic 61 %'],
  ])('says where the run stands', (one, words) => {
    expect(runStatus(one, now)).toBe(words);
  });

  it('of a run that is done says what came of it, evaluated or not', () => {
    const evaluated = '22 → 48 %, +26 points';
    expect(runStatus(resting('done'), now, undefined, evaluated)).toBe(`${evaluated} · 2 h ago`);
    expect(runStatus(resting('done'), now)).toBe('done · not evaluated · 2 h ago');
  });

  it('that waits for a queue that is halted says so, and why', () => {
    const halted = 'The disk is full.';
    const waiting = resting('queued', { progress: undefined });
    expect(reasonWords(waiting, halted)).toContain(halted);
    const view = (one: Run) => runView(one, history(), {}, { ...options, halted });
    expect([waiting, resting('stopped')].map((one) => view(one).isHalted)).toEqual([true, false]);
    expect(runStatus(resting('stopped'), now, halted)).toBe('paused · critic 61 %');
  });
});

describe('the view of a run', () => {
  it('has its stages in order, each with how far it is', () => {
    const folded = history(
      event('state', { state: 'preparing', stage: 'prepare' }),
      event('plan', { seconds: { critic: 1, candidates: 1, policy: 1, export: 1 } }),
      event('state', { state: 'running', stage: 'critic' }),
      step(61),
    );
    const { stages, left, stage, figure } = runView(run(), folded, {}, options);
    expect(stages.map(({ label, state, fraction }) => [label, state, fraction])).toEqual([
      ['data', 'done', undefined],
      ['critic', 'now', 0.61],
      ['candidates', 'waiting', undefined],
      ['policy', 'waiting', undefined],
      ['export', 'waiting', undefined],
    ]);
    expect([left, stage, figure]).toEqual(['', 'critic', 'accuracy']);
    const done = runView(resting('done'), folded, {}, options);
    expect(done.stages.every(({ state }) => state === 'done')).toBe(true);
  });

  it('shows the curves of the stage at work unless a person has chosen others that are there', () => {
    const folded = history(step(1), step(2, { stage: 'policy' }), step(3, { stage: 'policy' }));
    expect(shownCurve(folded, {})).toEqual({ stage: 'policy', figure: 'accuracy' });
    expect(shownCurve(folded, { stage: 'critic', figure: 'loss' })).toEqual({
      stage: 'critic',
      figure: 'loss',
    });
    expect(shownCurve(folded, { stage: 'gone', figure: 'mfu' })).toEqual({
      stage: 'policy',
      figure: 'accuracy',
    });
  });

  it('has the pinned charts that it has, in their order, with the untrained score of each', () => {
    const control = event('control', { stage: 'critic', accuracy: 0.55, examples: 40 });
    const folded = history(control, step(1), step(2, { stage: 'policy' }));
    const pinned = [
      { stage: 'policy', figure: 'loss' },
      { stage: 'sft', figure: 'loss' },
      { stage: 'critic', figure: 'accuracy' },
    ] as const;
    const { pinned: charts, figures } = runView(run(), folded, { stage: 'critic' }, { ...options, pinned });
    expect(charts).toEqual([pinned[0], { ...pinned[2], untrained: 0.55 }]);
    expect(figures.map(({ name, untrained }) => [name, untrained])).toEqual([
      ['accuracy', 0.55],
      ['loss', undefined],
    ]);
  });

  it('has the nodes of a cluster as they were at the last start of its workers, and none on one machine', () => {
    expect(runView(run(), history(step(1)), {}, options)).toMatchObject({ nodes: [], workers: '' });
    const node = (host: string, count: number, state = 'works'): object => ({
      ...{ host, state, workers: count, gpus: Array.from({ length: count }, () => 'NVIDIA H100') },
    });
    const begun = event('nodes', { nodes: [node('a', 2), node('b', 1)], asked: 3 });
    const lost = event('nodes', { nodes: [node('a', 2), node('b', 0, 'lost')], asked: 3 });
    const { workers, nodes } = runView(run(), history(begun, step(1), lost), {}, options);
    expect(workers).toBe('2 of 3 workers');
    expect(nodes).toEqual([
      { host: 'a', state: 'works', stateLabel: 'works', workers: 2, gpus: '2 × NVIDIA H100' },
      { host: 'b', state: 'lost', stateLabel: 'lost', workers: 0, gpus: '' },
    ]);
  });

  it('shows the latest samples and events first', () => {
    const sample = (text: string): TrainerEvent =>
      event('sample', { group: 'a/1', candidates: [{ text, times: 2, score: 0.1, untrained: null }] });
    const folded = history(
      sample('Why?'),
      sample('Which?'),
      event('state', { state: 'running', stage: 'critic' }),
      event('evaluation', { stage: 'critic', step: 25, accuracy: 0.78, loss: 0.4, best: true }),
    );
    expect(samplesView(folded).groups.map(({ candidates }) => candidates)).toEqual([
      [{ text: 'Which?', times: 2, score: 0.1 }],
      [{ text: 'Why?', times: 2, score: 0.1 }],
    ]);
    expect(toldView(folded, 'en').lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^critic, step 25: .* 78\.0 %, loss 0\.400/),
      'critic started',
    ]);
  });

  it('shows what sampled turns answer as far as the run tells it, without what only the agent was told', () => {
    const told = { role: 'system', content: 'Ask before you write.' };
    const asked = { role: 'user', content: 'x'.repeat(2001) };
    const folded = history(
      event('sample', { group: 'a/0', candidates: [] }),
      event('sample', {
        group: 'a/1',
        history: [told, asked, { role: 'assistant', content: 'Why?' }],
        candidates: [],
      }),
    );
    expect(samplesView(folded).groups.map((group) => group.history)).toEqual([
      [
        { isAgent: false, text: `${'x'.repeat(2000)} …` },
        { isAgent: true, text: 'Why?' },
      ],
      [],
    ]);
  });

  it('shows what matters beside the latest looks, and says how much more there was', () => {
    const folded = history(event('state', { state: 'running', stage: 'critic' }));
    folded.add(event('plan', {}));
    for (let number = 1; number <= 3000; number += 1)
      folded.add(event('evaluation', { stage: 'policy', step: 25 * number, loss: 0.4 }));
    const { lines, more } = toldView(folded, 'en');
    expect(lines).toHaveLength(40);
    expect(lines[0]!.text).toBe('policy, step 75,000: held-out loss 0.400');
    expect(lines.at(-1)!.text).toBe('critic started');
    expect(more).toContain('2,961');
    for (let number = 1; number <= 300; number += 1)
      folded.add(event('notice', { message: `notice ${number}` }));
    const full = toldView(folded, 'en');
    expect(full.lines.slice(0, 2).map(({ text }) => text)).toEqual(['notice 300', 'notice 299']);
    expect(full.lines.filter(({ text }) => text.startsWith('policy'))).toHaveLength(10);
    expect(full.lines).toHaveLength(40);
  });
});

describe('before runs are deleted', () => {
  const named = (count: number): Run[] =>
    Array.from({ length: count }, (_, number) => resting('done', { name: `run ${number}` }));

  it('the sum of what they take is told, and what each takes', () => {
    const { question, detail } = deletionWords(named(3), [1.5e9, 2e6, 3e8], false);
    expect(question).toContain('3 runs (1.8 GB)');
    expect(detail).toContain('run 0 (1.5 GB)\nrun 1 (2.0 MB)\nrun 2 (300 MB)');
  });
});

it('the end of a policy is offered from its first step on, and not of a critic', () => {
  const progress = { state: 'running', stage: 'policy-2', step: 500, steps: 1000, at } as const;
  const offered = (fields: Partial<Run>): boolean => runView(run(fields), history(), {}, options).canFinish;
  expect(offered({ progress })).toBe(true);
  expect(offered({})).toBe(false);
  expect(offered({ progress: { ...progress, step: undefined } })).toBe(false);
  expect(offered({ progress, request: 'finish' })).toBe(false);
  expect(offered({ progress, state: 'done', isLive: false })).toBe(false);
});

it('a run that ended before its last step can be continued without more epochs', () => {
  const after = (step: number): Pick<Run, 'progress'> => {
    const latest = { version: 1, event: 'step', at, stage: 'policy', step, steps: 400 } as const;
    return { progress: { state: 'done', stage: 'export', at, latest } };
  };
  const least = [resting('done'), finishedEarly, after(100), after(400)].map(
    (one) => moreEpochsWords(one).least,
  );
  expect(least).toEqual(['1', '0', '0', '1']);
});

describe('held-out figures that did not improve', () => {
  const look = (step: number, figures: object, stage = 'critic', best = step > 0): TrainerEvent =>
    event('evaluation', { stage, step, best, ...figures });
  const words = (...events: readonly TrainerEvent[]) => unimprovedWords(history(...events));

  it('are said with the first one and that of the weights that are kept', () => {
    expect(
      words(look(0, { loss: 0.6931 }), look(5, { loss: 0.7012 }), look(9, { loss: 0.81 }, 'critic', false)),
    ).toMatch(/^Held-out loss did not improve \(critic\): 0\.693 at first, 0\.701 in the result\./);
    expect(words(look(0, { accuracy: 0.6 }), look(5, { accuracy: 0.6 }))).toContain(
      '60.0 % at first, 60.0 %',
    );
  });

  it('are said of the earliest stage, because later ones depend on it', () => {
    const both = ['critic', 'policy'].flatMap((stage) => [
      look(0, { loss: 1 }, stage),
      look(5, { loss: 2 }, stage),
    ]);
    expect(words(...both)).toContain('(critic)');
    expect(words(look(0, { loss: 3 }), look(5, { loss: 2 }), ...both.slice(2))).toContain('(policy)');
  });

  it.each([
    ['after one measurement', [look(0, { loss: 1 })]],
    [
      'when the kept step is better, whatever came later',
      [look(0, { loss: 1 }), look(5, { loss: 0.9 }), look(9, { loss: 2 }, 'critic', false)],
    ],
    [
      'when the loss is better and the accuracy is not',
      [look(0, { loss: 1, accuracy: 0.6 }), look(5, { loss: 0.9, accuracy: 0.5 })],
    ],
  ])('are not said %s', (_, events) => {
    expect(words(...events)).toBeUndefined();
  });
});

it('a run without a name is called by its method', () => {
  expect(runName(run({ name: '', method: 'rft' }))).toBe('Rejection fine-tuning');
});

describe('how a run does on tasks that it never saw', () => {
  const kept = (start: readonly number[] | undefined, model: readonly number[], day = '20') => ({
    ...{ version: 1 as const, at: `2026-11-${day}T22:00:00.000Z`, setting: setting(day) },
    model: played('trained', model),
    ...(start && { start: played('starter', start) }),
  });

  it('is how far it came from its start, with the interval', () => {
    expect(measuredWords([kept([0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 1, 1, 1, 1])])).toMatch(
      / 13 % → 88 % on 8 .* \+75 points .*\(95 % interval \+\d+ to \+\d+\)\.$/,
    );
  });

  it('names the habits that got worse, for each evaluation, and none where nothing did', () => {
    const asking = (needlessQuestions: number, day: string, leakRate = 0) => {
      const of = (needless: number, leaks: number) =>
        played('a', Array<number>(8).fill(0)).by_task.map((task) => ({
          ...{ ...task, needlessQuestions: needless, leakRate: leaks },
        }));
      const one = kept([], [], day);
      return {
        ...one,
        start: { ...one.model, by_task: of(1, 0) },
        model: { ...one.model, by_task: of(needlessQuestions, leakRate) },
      };
    };
    const none = [0, 0, 0, 0, 0, 0, 0, 0];
    expect(worseWords([])).toEqual([]);
    expect(worseWords([kept(undefined, none), kept(none, none), asking(1, '20')])).toEqual([]);
    expect(worseWords([asking(1.5, '20'), asking(2, '21', 0.25)])).toEqual([
      'Worse than the base model on mine, 8 tasks, greedy: needless questions per dialogue +1.00 (95 % interval +1.00 to +1.00); dialogues with a leak +25 points (95 % interval +25 to +25).',
      'Worse than the base model on mine, 8 tasks, greedy: needless questions per dialogue +0.50 (95 % interval +0.50 to +0.50).',
    ]);
  });

  it('stands behind its name in short, and adds up as it is shown', () => {
    const rate = (mean: number) => ({ figures: { success: { mean } } }) as unknown as KeptEvaluation['model'];
    const of = (after: number, before?: number) =>
      resultInShort({
        ...kept([], []),
        model: rate(after),
        start: before === undefined ? undefined : rate(before),
      });
    expect(of(0.235, 0.29)).toBe('29 → 24 %, −5 points, greedy');
    expect(of(0.48, 0.22)).toBe('22 → 48 %, +26 points, greedy');
    expect(of(0.5)).toBe('50 % success, greedy');
    const low = {
      ...kept([], []),
      setting: { ...setting('20'), temperature: 1 },
      ...{ model: rate(0.48), start: rate(0.22) },
      interval: { low: -0.02, high: 0.54 },
    };
    expect(resultInShort(low)).toBe('22 → 48 %, +26 points (−2 to +54)');
  });

  it('is read from its folder once, and again when it was evaluated again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tandem-results-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const done = resting('done', { folder });
    const results = new RunResults();
    expect(await results.read([done])).toBe(false);
    await keep(folder, setting('20'), [], { model: played('trained', [1, 0]) });
    expect(await results.read([done, run()])).toBe(true);
    expect(results.of(done)?.setting).toEqual(setting('20'));
    expect(await results.read([done])).toBe(false);
    await keep(folder, setting('21'), [], { model: played('trained', [1, 1]) });
    expect(await results.read([done])).toBe(true);
    expect(results.of(done)?.setting).toEqual(setting('21'));
  });
});
