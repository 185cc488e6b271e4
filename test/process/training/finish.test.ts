import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, it, vi } from 'vitest';
import { resumeRun, stopRun, finishRun, mayFinish } from '../../../src/core/training/lifecycle';
import { Runs, type Run } from '../../../src/core/training/runs';
import { noRuns, playedRun, until } from '../../fixtures/runs';
import { standInTrainer, type Play } from '../../fixtures/trainer';

const trainer = standInTrainer();

let runs: Runs;
beforeEach(async () => {
  runs = await noRuns();
});

const start = (...play: readonly Play[]): Promise<Run> => playedRun(runs, play, { examined: true });

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
  await until(runs, id, mayFinish);
  const finishing = finishRun(runs, id);
  const asked = await until(runs, id, ({ request }) => request === 'finish');
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
  await until(runs, id, mayFinish);
  expect(await finishRun(runs, id)).toMatchObject({ state: 'failed', death: 'unknown' });
  expect(await resumeRun(runs, id, trainer)).toMatchObject({ request: 'finish' });
  expect(await stopRun(runs, id)).toMatchObject({ state: 'stopped', canResume: true });
  expect(existsSync(path.join(of, 'finish'))).toBe(true);
  await resumeRun(runs, id, trainer);
  expect(await until(runs, id, (run) => !run.isLive)).toMatchObject({ state: 'done', progress: { ended } });
});

it.each([
  ['critic', [running('critic'), step('critic', 3)]],
  ['policy', [running('policy')]],
  ['export', [running('policy'), step('policy', 3), running('export')]],
])('nothing is asked of a run that is at %s and has no policy to end', async (stage, play) => {
  const { id, folder: of } = await start([...play, ['wait for stop']]);
  const told = await until(runs, id, ({ progress }) => progress?.stage === stage);
  expect(mayFinish(told)).toBe(false);
  await expect(finishRun(runs, id)).rejects.toMatchObject({ code: 'training/no-policy' });
  expect(existsSync(path.join(of, 'finish'))).toBe(false);
});
