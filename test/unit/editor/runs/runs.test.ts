import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keep, keptOf, type KeptEvaluation } from '../../../../src/core/evaluation/loop/kept';
import { parseEvent } from '../../../../src/core/training/eventFile';
import type { TrainerEvent } from '../../../../src/core/training/events';
import { RunHistory, type ReadCurves } from '../../../../src/core/training/history/history';
import type { Run } from '../../../../src/core/training/runs';
import {
  besideWords,
  deletionWords,
  finishWords,
  liveWords,
  moreEpochsWords,
  takeOverWords,
} from '../../../../src/editor/runs/asked';
import { measuredWords, resultInShort } from '../../../../src/editor/runs/measured';
import { RunResults } from '../../../../src/core/evaluation/comparison/latestResults';
import { resultWords, toldView } from '../../../../src/editor/runs/told';
import { curvesView, runView, samplesView, shownCurve } from '../../../../src/editor/runs/view';
import {
  reasonWords,
  runDetails,
  spokenRun,
  runStatus,
  statusWords,
  tagWords,
} from '../../../../src/editor/runs/words';
import { played, setting } from '../../evaluation/comparison/played';
import { english } from '../translate';

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

const options = { t: english, dataFolder: '/data', restriction: '', kept: [], pinned: [] };

describe('a row of the Runs view', () => {
  it.each([
    [run(), 'critic 61 % · 3 min 20 s left'],
    [run({ state: 'preparing', progress: undefined }), 'preparing'],
    [run({ state: 'stopping' }), 'pausing · writes a checkpoint'],
    [run({ state: 'finishing' }), 'finishing · critic 61 %'],
    [resting('stopped'), 'paused · critic 61 %'],
    [resting('queued', { progress: undefined }), 'queued'],
    [resting('done'), 'done · 2 h ago'],
    [finishedEarly, 'done · ended at step 500 of 1,000 · 2 h ago'],
    [resting('failed', { message: 'The disk is full.' }), 'failed · The disk is full.'],
    [resting('died'), 'died · critic 61 %'],
  ])('says where the run stands', (one, words) => {
    expect(runStatus(one, now, english)).toBe(words);
  });

  it('of a run that is done says what came of it, evaluated or not', () => {
    const evaluated = '22 → 48 %, +26 points';
    expect(runStatus(resting('done'), now, english, undefined, evaluated)).toBe(`${evaluated} · 2 h ago`);
    expect(spokenRun(resting('done'), now, english, undefined, evaluated)).toBe(
      `sweet-rl #4, done, ${evaluated}, 2 h ago`,
    );
    const { progress } = run();
    const heldOut = {
      ...{ event: 'evaluation', at: '', stage: 'critic', step: 5 },
      accuracy: 0.666,
    } as never;
    const looked = resting('done', { progress: { ...progress!, heldOut } });
    expect(runStatus(looked, now, english)).toBe('done · 67 % held-out pair accuracy · 2 h ago');
  });

  it('is heard with its state, which the eye has from the icon', () => {
    expect(spokenRun(run(), now, english)).toBe('sweet-rl #4, running, critic 61 %, 3 min 20 s left');
    expect(spokenRun(resting('stopped'), now, english)).toBe('sweet-rl #4, paused, critic 61 %');
  });

  it('has its tags after that, and its note where the pointer rests; the status bar has neither', () => {
    const noted = resting('done', { tags: ['baseline', 'seed 2'], note: 'Half the rate.' });
    expect(tagWords(noted)).toEqual(['#baseline', '#seed 2']);
    expect(tagWords(resting('done'))).toEqual([]);
    expect(spokenRun(noted, now, english)).toBe('sweet-rl #4, done, 2 h ago, tags: baseline, seed 2');
    expect(runDetails(noted, english).slice(0, 2)).toEqual(['Half the rate.', '#baseline · #seed 2']);
    expect(statusWords(noted, english).text).not.toContain('baseline');
  });

  it('that waits for a queue that is halted says so, and why', () => {
    const waiting = resting('queued', { progress: undefined });
    expect(runStatus(waiting, now, english, 'The disk is full.')).toBe('queued · the queue is halted');
    expect(reasonWords(waiting, english, 'The disk is full.')).toBe(
      'The queue is halted and no run starts: The disk is full. “Try again” resumes it.',
    );
    const view = (one: Run) => runView(one, history(), {}, { ...options, halted: 'The disk is full.' });
    expect(view(waiting)).toMatchObject({
      isHalted: true,
      sentence: expect.stringContaining('disk') as string,
    });
    expect(view(resting('stopped'))).toMatchObject({ isHalted: false, sentence: '' });
    expect(runStatus(resting('stopped'), now, english, 'The disk is full.')).toBe('paused · critic 61 %');
  });

  it('that is lost says on which machine it was, and is resumed or deleted after a question that says so', () => {
    const lost = resting('lost', { silentSince: '2026-11-20T23:30:00.000Z' });
    expect(runStatus(lost, now, english)).toBe('lost · it ran on here, last heard from 30 min ago');
    const why = /^.*It ran on here\. Its trainer was last heard from at 2026-11-20 23:30 UTC\./s;
    expect(reasonWords(lost, english)).toMatch(why);
    expect(takeOverWords(lost, english).detail).toMatch(why);
    expect(deletionWords([lost], [7], false, english).detail).toMatch(why);
    expect(deletionWords([lost, run()], [7, 8], false, english).detail).toMatch(why);
  });

  it('that waits on another machine says what there is to do when that has another name now', () => {
    const waits = (host: string) => reasonWords(resting('queued', { queued: { at, host } }), english);
    expect(waits('elsewhere')).toMatch(/^It is queued on elsewhere .* resume it: then it is queued here\.$/);
    expect(waits(hostname())).toMatch(/^It is queued: one run/);
  });

  it('explains a death without the words of the command line', () => {
    const died = resting('died', { message: '`tandem resume x` goes on with it.' });
    expect(reasonWords(died, english)).toContain('process 7');
    expect(runDetails(died, english).join(' ')).not.toContain('tandem resume');
  });

  it('says of a run that was finished early where that was, in the words of the editor', () => {
    expect(reasonWords(finishedEarly, english)).toBe(
      'Its training was finished early, at step 500 of 1,000 (policy): the best step until then is the model.',
    );
    expect(resultWords(history(event('result', { stages: {}, ended })), english)).toBe(
      `The trained model is ready. ${reasonWords(finishedEarly, english)}`,
    );
  });

  it('names a full disk as what may explain a silence', () => {
    expect(reasonWords(resting('died', { isDiskFull: true }), english)).toMatch(
      /process 7.* The disk is full, which may be why: free some space, then resume it\.$/,
    );
  });

  it('says how far a paused run has come, which its last event does not', () => {
    const { progress } = history(
      event('state', { state: 'running', stage: 'critic' }),
      step(12),
      event('state', { state: 'stopped', stage: 'critic' }),
    );
    expect(runStatus(resting('stopped', { progress }), now, english)).toBe('paused · critic 12 %');
  });

  it('is one line in the status bar', () => {
    expect(statusWords(run(), english)).toMatchObject({ text: 'Tandem: critic 61 % · 3 min 20 s left' });
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
    const noted = { ...run(), tags: ['paper'], note: 'Half the rate.' };
    expect(runView(noted, folded, {}, options)).toMatchObject({ tags: ['#paper'], note: 'Half the rate.' });
    const { stages, left, stage, figure } = runView(run(), folded, {}, options);
    expect(stages.map(({ label, state, fraction }) => [label, state, fraction])).toEqual([
      ['data', 'done', undefined],
      ['critic', 'now', 0.61],
      ['candidates', 'waiting', undefined],
      ['policy', 'waiting', undefined],
      ['export', 'waiting', undefined],
    ]);
    expect([left, stage, figure]).toEqual(['', 'critic', 'accuracy']);
    const timed = history(step(61, { seconds_left: 200 }));
    expect(runView(run(), timed, {}, options).left).not.toBe('');
    for (const state of ['finishing', 'stopping'] as const) {
      expect(runView({ ...run(), state }, timed, {}, options).left).toBe('');
    }
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
      { stage: 'policy', figure: 'entropy' },
      { stage: 'sft', figure: 'loss' },
      { stage: 'critic', figure: 'accuracy' },
    ] as const;
    const view = runView(run(), folded, {}, { ...options, pinned });
    expect(view.pinned).toEqual([pinned[0], { ...pinned[3], untrained: 0.55 }]);
  });

  it('tells the curves of the chosen chart and of the pinned ones once, then their new ends only', () => {
    const folded = history(step(1), step(2, { stage: 'policy' }));
    const read = new Map<string, ReadCurves>();
    const loss = { stage: 'policy', figure: 'loss' } as const;
    const shown = { ...loss, pinned: [loss, { stage: 'critic', figure: 'accuracy' } as const] };
    const named = (of: typeof shown) =>
      curvesView(folded, of, read)?.charts.map(({ stage, figure, training }) => [
        ...[stage, figure, training.from, training.points[0]],
      ]);
    expect(named(shown)).toEqual([
      ['policy', 'loss', 0, 2],
      ['critic', 'accuracy', 0, 1],
    ]);
    expect(named(shown)).toBeUndefined();
    folded.add(step(3, { stage: 'policy' }));
    folded.add(step(4, { stage: 'policy' }));
    expect(named(shown)).toEqual([['policy', 'loss', 0, 2]]);
    folded.add(step(5, { stage: 'policy' }));
    expect(named(shown)).toEqual([['policy', 'loss', 2, 4]]);
  });

  it('has the nodes of a cluster as they were at the last start of its workers, and none on one machine', () => {
    const { nodes, workers } = runView(run(), history(step(1)), {}, options);
    expect([nodes, workers]).toEqual([[], '']);
    const node = (host: string, count: number, state = 'works'): object => ({
      ...{ host, state, workers: count, gpus: Array.from({ length: count }, () => 'NVIDIA H100') },
    });
    const begun = event('nodes', { nodes: [node('a', 2), node('b', 1)], asked: 3 });
    expect(runView(run(), history(begun), {}, options).workers).toBe('3 workers');
    const lost = event('nodes', { nodes: [node('a', 2), node('b', 0, 'lost')], asked: 3 });
    const view = runView(run(), history(begun, step(1), lost), {}, options);
    expect(view.workers).toBe('2 of 3 workers');
    const paused = runView(resting('stopped'), history(begun), {}, options);
    expect(paused.nodes.map(({ stateLabel }) => stateLabel)).toEqual(['worked', 'worked']);
    expect(view.nodes).toEqual([
      { host: 'a', state: 'works', stateLabel: 'works', workers: 2, gpus: '2 × NVIDIA H100' },
      { host: 'b', state: 'lost', stateLabel: 'lost', workers: 0, gpus: '' },
    ]);
  });

  it('names the commit of a model of the hub, on its page and in its hover', () => {
    const of = run({ base: 'owner/model', commit: '0123456789abcdef0123456789abcdef01234567' });
    const { subject } = runView(of, history(), {}, options);
    expect(subject).toBe('SWEET-RL on model at commit 0123456');
    expect(runDetails(of, english)[0]).toBe('SWEET-RL on owner/model at commit 0123456');
  });

  it('shows the latest samples and events first', () => {
    const sample = (text: string): TrainerEvent =>
      event('sample', { group: 'a/1', candidates: [{ text, times: 2, score: 0.1, untrained: null }] });
    const folded = history(
      sample('Why?'),
      sample('Which?'),
      event('state', { state: 'running', stage: 'critic' }),
      event('evaluation', { stage: 'critic', step: 25, accuracy: 0.78, loss: 0.4, best: true }),
      event('notice', { message: 'Out of memory: half as many from now on.' }),
    );
    expect(samplesView(folded).groups.map(({ candidates }) => candidates)).toEqual([
      [{ text: 'Which?', times: 2, score: 0.1 }],
      [{ text: 'Why?', times: 2, score: 0.1 }],
    ]);
    expect(toldView(folded, 'en', english).lines.map(({ text }) => text)).toEqual([
      'Out of memory: half as many from now on.',
      'critic, step 25: held-out pair accuracy 78.0 %, loss 0.400; the best so far',
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
    const few = toldView(folded, 'en', english);
    expect(few).toMatchObject({ lines: [{ text: 'critic started' }], more: '' });
    folded.add(event('plan', {}));
    for (let number = 1; number <= 3000; number += 1)
      folded.add(event('evaluation', { stage: 'policy', step: 25 * number, loss: 0.4 }));
    const { lines, more } = toldView(folded, 'en', english);
    expect(lines).toHaveLength(40);
    expect(lines[0]!.text).toBe('policy, step 75,000: held-out loss 0.400');
    expect(lines.at(-1)!.text).toBe('critic started');
    expect(more).toBe('2,961 more events are in the event file, 2,961 of them held-out evaluations.');
    for (let number = 1; number <= 300; number += 1)
      folded.add(event('notice', { message: `notice ${number}` }));
    const full = toldView(folded, 'en', english);
    expect(full.lines.slice(0, 2).map(({ text }) => text)).toEqual(['notice 300', 'notice 299']);
    expect(full.lines.filter(({ text }) => text.startsWith('policy'))).toHaveLength(10);
    expect(full.lines).toHaveLength(40);
    const notices = Array.from({ length: 50 }, () => event('notice', { message: 'Hm.' }));
    expect(toldView(history(...notices), 'en', english).more).toBe('10 more events are in the event file.');
  });

  it('has the untrained score beside the accuracy of the critic, where the run tells it', () => {
    const control = event('control', { stage: 'critic', accuracy: 0.55, examples: 40 });
    const untrained = (one: RunHistory, choice: object) =>
      runView(run(), one, choice, options).figures.map((figure) => [figure.name, figure.untrained]);
    const folded = history(control, step(1), step(2, { stage: 'policy' }));
    expect(untrained(folded, { stage: 'critic' })).toEqual([
      ['accuracy', 0.55],
      ['loss', undefined],
    ]);
    expect(untrained(folded, { stage: 'policy' })[0]).toEqual(['accuracy', undefined]);
    expect(untrained(history(step(1)), {})[0]).toEqual(['accuracy', undefined]);
    expect(toldView(folded, 'en', english).lines.map(({ text }) => text)).toEqual([
      'critic: the untrained baseline ranks 55.0 % of 40 held-out pairs correctly',
    ]);
  });

  it('says in one sentence what came of it', () => {
    const result = event('result', {
      model: 'x',
      stages: { critic: { held_out_accuracy: 0.784 }, ranking: { spread: 1 }, policy: {} },
    });
    expect(resultWords(history(result), english)).toBe(
      'The trained model is ready. Held-out pair accuracy: critic 78 %.',
    );
    const critic = { held_out_accuracy: 0.784, held_out_untrained_accuracy: 0.551 };
    expect(resultWords(history(event('result', { stages: { critic } })), english)).toContain(
      'Held-out pair accuracy: critic 78 % (untrained 55 %).',
    );
  });
});

describe('before runs are deleted', () => {
  const runs = ['first', 'second', 'third'].map((name) => resting('done', { name, folder: `/data/${name}` }));

  it('of several the sum of what they take is told, and what each takes', () => {
    const { question, detail } = deletionWords(runs, [1.5e9, 2e6, 3e8], false, english);
    expect(question).toBe('Delete 3 runs (1.8 GB)?');
    expect(detail).toContain('first (1.5 GB)\nsecond (2.0 MB)\nthird (300 MB)');
    expect(detail).toContain('The dialogues that they were trained on stay.');
  });

  it('one is told with its folder', () => {
    const { question, detail } = deletionWords(runs.slice(0, 1), [7.2e6], true, english);
    expect(question).toBe('Delete the run “first” (7.2 MB)?');
    expect(detail).toContain('/data/first');
  });

  it('of very many some are named and the others counted', () => {
    const many = Array.from({ length: 30 }, () => runs[0]!);
    const { detail } = deletionWords(
      many,
      many.map(() => 1e6),
      true,
      english,
    );
    expect(detail.split('\n').at(-1)).toBe('20 more');
  });

  it('those at work are named, and refused', () => {
    const live = [run({ name: 'first' }), run({ name: 'second' })];
    expect(liveWords(live.slice(0, 1), 1, english)).toBe('first is running. Pause it first, then delete it.');
    expect(liveWords(live.slice(0, 1), 3, english)).toMatch(/^Nothing is deleted: “first” is running\./);
    expect(liveWords(live, 3, english)).toMatch(/“first”, “second” are running\. Pause them first/);
  });
});

describe('before the policy of a run is ended', () => {
  const progress = { state: 'running', stage: 'policy-2', step: 500, steps: 1000, at } as const;

  it('it is told what becomes of it', () => {
    const { question, detail } = finishWords(run({ progress }), english);
    expect(question).toBe('Finish “sweet-rl #4” now?');
    expect(detail).toMatch(
      /^It has made 500 of 1,000 steps \(policy, round 2\) and ends after the current one\./,
    );
  });

  it('that is offered from its first step on, and not of a critic', () => {
    const offered = (fields: Partial<Run>): boolean => runView(run(fields), history(), {}, options).canFinish;
    expect(offered({ progress })).toBe(true);
    expect(offered({})).toBe(false);
    expect(offered({ progress: { ...progress, step: undefined } })).toBe(false);
    expect(offered({ progress, state: 'finishing' })).toBe(false);
    expect(offered({ progress, state: 'done', isLive: false })).toBe(false);
  });
});

describe('before a run is continued', () => {
  it('one that was finished early is told to have the rest of its steps first', () => {
    expect(moreEpochsWords(resting('done'), english)).toMatchObject({ least: '1' });
    const { prompt, least } = moreEpochsWords(finishedEarly, english);
    expect(prompt).toMatch(/^It was ended at step 500 of 1,000\. The remaining steps are trained first/);
    expect(least).toBe('0');
  });

  it('so is one that got no better on held-out examples, and one that made all its steps is not', () => {
    const after = (step: number) => {
      const latest = { version: 1, event: 'step', at, stage: 'policy', step, steps: 400 } as const;
      return moreEpochsWords({ progress: { state: 'done', stage: 'export', at, latest } }, english);
    };
    expect(after(100)).toMatchObject({ least: '0' });
    expect(after(100).prompt).toMatch(/^It ended early, at step 100 of 400, because it got no better/);
    expect(after(400)).toMatchObject({ least: '1' });
  });
});

describe('before a run starts beside another', () => {
  const asked = (fits: boolean, usable: number | null, processes = 1): string =>
    besideWords(
      run({ name: 'second' }),
      [run({ name: 'first' })],
      { needed: 9e9, fits, machine: { usable, processes } },
      english,
    ).detail;

  it('it is said what that means for the memory', () => {
    expect(asked(true, 14e9)).toMatch(/^It needs about 9\.0 GB of memory, and 14\.0 GB are free\. .*slower/);
    expect(asked(false, 3e9)).toMatch(/only 3\.0 GB are free\. When memory runs out, one of them stops\./);
    expect(asked(true, null)).toMatch(/^It needs about 9\.0 GB of memory\. When memory runs out/);
  });

  it('of several processes it is said of each', () => {
    const each = 'It needs about 9.0 GB of memory for each of 2 processes';
    expect(asked(true, 14e9, 2)).toContain(
      `${each}, and 14.0 GB are free for each. Each of them gets slower`,
    );
    expect(asked(false, 3e9, 2)).toContain(
      `${each}, and only 3.0 GB are free for each. When memory runs out`,
    );
    expect(asked(true, null, 2)).toContain(`${each}. When memory runs out`);
  });
});

describe('how a run does on tasks that it never saw', () => {
  const kept = (start: readonly number[] | undefined, model: readonly number[], day = '20') => ({
    ...{ version: 1 as const, at: `2026-11-${day}T22:00:00.000Z`, setting: setting(day) },
    model: played('trained', model),
    ...(start && { start: played('starter', start) }),
  });

  it('is how far it came from its start, with the interval', () => {
    expect(measuredWords([kept([0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 1, 1, 1, 1])], english)).toMatch(
      /^Success 13 % → 88 % on 8 held-out tasks, \+75 points vs\. the base model \(95 % interval \+\d+ to \+\d+\)\.$/,
    );
  });

  it('stands behind its name in short, and adds up as it is shown', () => {
    const rate = (mean: number) => ({ figures: { success: { mean } } }) as unknown as KeptEvaluation['model'];
    const of = (after: number, before?: number) =>
      resultInShort(
        { ...kept([], []), model: rate(after), start: before === undefined ? undefined : rate(before) },
        english,
      );
    expect(of(0.235, 0.29)).toBe('29 → 24 %, −5 points');
    expect(of(0.48, 0.22)).toBe('22 → 48 %, +26 points');
    expect(of(0.304, 0.296)).toBe('30 → 30 %, 0 points');
    expect(of(0.5)).toBe('50 % success');
    const low = {
      ...kept([], []),
      model: rate(0.48),
      start: rate(0.22),
      interval: { low: -0.02, high: 0.54 },
    };
    expect(resultInShort(low, english)).toBe('22 → 48 %, +26 points (−2 to +54)');
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
    const start = played('starter', [0, 0, 0, 0, 0, 0, 1, 0]);
    await keep(folder, setting('22'), [], { model: played('trained', [1, 1, 1, 0, 1, 1, 1, 1]), start });
    await results.read([done]);
    // The row has the interval of the run's page.
    const page = measuredWords(await keptOf(folder), english);
    const [, low, high] = /interval (\S+) to (\S+)\)/.exec(page)!;
    expect(resultInShort(results.of(done)!, english)).toBe(`13 → 88 %, +75 points (${low} to ${high})`);
  });

  it('is told of the last time, and of the model alone where its start cannot play', () => {
    const both = [kept([0, 0], [0, 1], '19'), kept(undefined, [1, 1, 0, 0], '21')];
    expect(measuredWords(both, english)).toBe('Success 50 % on 8 held-out tasks.');
    expect(measuredWords([kept([0, 0], [0, 1])], english)).toBe('Success 0 % → 50 % on 8 held-out tasks.');
  });

  it('is said to be unknown until it is measured', () => {
    expect(measuredWords([], english)).toContain('Not evaluated yet');
    expect(runView(resting('done'), history(), {}, options).measured).toContain('Not evaluated yet');
    expect(runView(run(), history(), {}, options).measured).toBe('');
  });
});
