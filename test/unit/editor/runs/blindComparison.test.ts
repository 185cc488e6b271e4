import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { keep } from '../../../../src/core/evaluation/loop/evaluationCache';
import type { Run } from '../../../../src/core/training/runs';
import { temporaryFolder } from '../../../fixtures/log';
import { played, setting } from '../../evaluation/comparison/played';
import { window } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { beforeAndAfter, compareBlindly, useModel } = await import('../../../../src/editor/run/useModel');

const starter = { spec: 'starter', folder: '/tandem/starter', name: 'starter', from: 'tandem' } as const;
const trained = {
  spec: 'local:.tandem/runs/one/model',
  folder: '/project/.tandem/runs/one/model',
  name: 'one/model',
  from: 'training',
} as const;
const folder = '/project/.tandem/runs/one';
const server = { name: 'Mine', baseUrl: 'http://127.0.0.1:1/v1', model: 'Qwen/Qwen2.5-1.5B-Instruct' };
const playing = { localPlaces: [starter, trained], servers: [server] };

it('names the model that a run began with and the one that it made, or none where it left none', () => {
  const run = { folder, base: '/tandem/starter' };
  expect(beforeAndAfter(run, playing)).toEqual({ before: 'starter', after: trained.spec });
  const other = { ...run, folder: '/project/.tandem/runs/two' };
  expect(beforeAndAfter(other, playing)).toEqual({ before: 'starter', after: undefined });
});

it('refuses a run that trained a collaborator', async () => {
  const run: Partial<Run> = { name: 'Replies', folder, role: 'collaborator' };
  await expect(compareBlindly(run as Run, {} as never)).rejects.toMatchObject({
    code: 'editor/not-playable',
  });
});

it('finds a base of the hub behind a server that serves it', () => {
  expect(beforeAndAfter({ folder, base: server.model }, playing)).toMatchObject({
    before: 'openai:Qwen/Qwen2.5-1.5B-Instruct@http://127.0.0.1:1/v1',
  });
  expect(beforeAndAfter({ folder, base: 'Qwen/another' }, playing)).toMatchObject({ before: undefined });
});

it('takes the folder of a base only when it has a graph to play from', async () => {
  const base = await temporaryFolder();
  expect(beforeAndAfter({ folder, base }, playing)).toMatchObject({ before: undefined });
  await mkdir(path.join(base, 'onnx'));
  expect(beforeAndAfter({ folder, base }, playing)).toMatchObject({ before: `local:${base}` });
});

it('makes a model whose habits got worse the agent only after a question', async () => {
  const run = { name: 'Questions', folder: await temporaryFolder() } as Run;
  const set = vi.fn();
  const engine = { localPlaces: [], configuration: { agent: 'starter', set } } as never;
  const result = (turnLimitRate: number) => {
    const { figures, by_task } = played('a', [1, 1, 1, 1, 1, 1]);
    return { figures, by_task: by_task.map((one) => ({ ...one, turnLimitRate })) };
  };
  await keep(run.folder, setting('k'), [], { start: result(0), model: result(1) });
  await useModel(run, 'play', engine);
  expect(set).not.toHaveBeenCalled();
  const [question, options] = window.showWarningMessage.mock.lastCall!;
  expect(question).toBe('Training made Questions worse at something. Use it as the agent?');
  expect(options).toHaveProperty('detail', expect.stringContaining('exhausted their turns'));

  window.showWarningMessage.mockResolvedValueOnce('Play Anyway');
  await useModel(run, 'play', engine);
  expect(set).toHaveBeenCalledOnce();

  await keep(run.folder, setting('k'), [], { start: result(0), model: result(0) });
  await useModel(run, 'play', engine);
  expect(set).toHaveBeenCalledTimes(2);
  expect(window.showWarningMessage).toHaveBeenCalledTimes(2);
});
