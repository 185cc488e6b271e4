import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfiguration } from '../../../src/core/training/configuration';
import { resumeRun, stopRun } from '../../../src/core/training/lifecycle';
import { finishRun, mayFinish } from '../../../src/core/training/finish';
import { Runs, type Run } from '../../../src/core/training/runs';
import { startRun } from '../../../src/core/training/start';
import { standInTrainer, standInValue, type Play } from '../../fixtures/trainer';
import { temporaryFolder } from '../../fixtures/log';

const trainer = standInTrainer();

let folder: string;
let runs: Runs;

beforeEach(async () => {
  folder = await temporaryFolder();
  runs = new Runs(path.join(folder, '.tandem'));
});

async function start(...play: readonly Play[]): Promise<Run> {
  const value = standInValue(play);
  const configuration = await parseConfiguration(value, { from: 'mine.json', folder });
  const prompts = path.resolve('trainer/tandem_trainer/data/prompts');
  const run = await startRun(runs, { configuration, trainer, prompts, examined: true });
  onTestFinished(() =>
    stopRun(runs, run.id, { atOnce: true }).then(
      () => undefined,
      () => undefined,
    ),
  );
  return run;
}

async function until(id: string, is: (run: Run) => boolean): Promise<Run> {
  for (;;) {
    const run = await runs.find(id);
    if (is(run)) return run;
    await wait(20);
  }
}

const state = (name: string, stage: string): unknown[] => ['event', { event: 'state', state: name, stage }];
const running = (stage: string): unknown[] => state('running', stage);
const step = (stage: string, number: number): unknown[] => [
  'event',
  { event: 'step', stage, step: number, steps: 9, loss: 1 },
];
const ended = { stage: 'policy', step: 4, steps: 9 };
const result = ['event', { event: 'result', model: 'model', ended }];

it('a run is asked for its policy as it is, finishes, and then says where it was ended', async () => {
  const { id, folder: of } = await start([
    ...[running('policy'), step('policy', 3), ['wait for finish'], ['wait for', 'go'], step('policy', 4)],
    ...[running('export'), result, state('done', 'export')],
  ]);
  await until(id, mayFinish);
  const finishing = finishRun(runs, id);
  const asked = await until(id, ({ state }) => state === 'finishing');
  expect(asked).toMatchObject({ isLive: true, canResume: false });
  expect(mayFinish(asked)).toBe(false);
  // A second request, from another window, waits for the same end after it has read the run again.
  const others = new Runs(runs.dataFolder);
  const looks = vi.spyOn(others, 'read');
  const asking = finishRun(others, id);
  while (looks.mock.calls.length < 2) await wait(20);
  await writeFile(path.join(of, 'go'), '');
  const [run, again] = await Promise.all([finishing, asking]);
  expect(run).toMatchObject({ state: 'done', isLive: false, progress: { ended } });
  expect(again).toEqual(run);
});

it('the request stands when the trainer is killed or paused before, until the run is done', async () => {
  const asked: Play = [running('policy'), step('policy', 3), ['wait for finish']];
  const { id, folder: of } = await start(
    [...asked, ['die']],
    [...asked, ['wait for stop'], state('stopped', 'policy')],
    [...asked, result, state('done', 'export')],
  );
  await until(id, mayFinish);
  expect(await finishRun(runs, id)).toMatchObject({ state: 'died', canResume: true });
  expect(await resumeRun(runs, id, trainer)).toMatchObject({ state: 'finishing' });
  expect(await stopRun(runs, id)).toMatchObject({ state: 'stopped', canResume: true });
  expect(existsSync(path.join(of, 'finish'))).toBe(true);
  await resumeRun(runs, id, trainer);
  expect(await until(id, (run) => !run.isLive)).toMatchObject({ state: 'done', progress: { ended } });
});

it.each([
  [
    'critic',
    [running('critic'), step('critic', 3)],
    /no policy yet.*running, at critic\. Wait for the first/,
  ],
  ['policy', [running('policy')], /no policy yet that could be kept: it is running, at policy\./],
  ['candidates-2', [running('candidates-2')], /no policy yet.*at candidates-2/],
  ['export', [running('policy'), step('policy', 3), running('export')], /is writing its model already/],
])('nothing is asked of a run that is at %s and has no policy to end', async (stage, play, sentence) => {
  const { id, folder: of } = await start([...play, ['wait for stop']]);
  const told = await until(id, ({ progress }) => progress?.stage === stage);
  expect(mayFinish(told)).toBe(false);
  await expect(finishRun(runs, id)).rejects.toMatchObject({
    code: 'training/no-policy',
    message: expect.stringMatching(sentence) as string,
  });
  expect(existsSync(path.join(of, 'finish'))).toBe(false);
});

it('nor of one that is not at work', async () => {
  const { id } = await start([running('policy'), step('policy', 3), state('stopped', 'policy')]);
  await until(id, ({ isLive }) => !isLive);
  await expect(finishRun(runs, id)).rejects.toThrow(`The run ${id} is not running; it is stopped.`);
});
