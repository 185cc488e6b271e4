import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Run } from '../../../../src/core/training/runs';
import { temporaryFolder } from '../../../fixtures/log';

vi.mock('vscode', () => import('../vscode'));

const { beforeAndAfter, compareBlindly } = await import('../../../../src/editor/run/useModel');

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
