import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { beforeAndAfter } from '../../../../src/editor/runs/beforeAndAfter';

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

let base: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(os.tmpdir(), 'tandem-base-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

it('names the model that a run began with and the one that it made', () => {
  expect(beforeAndAfter({ folder, base: '/tandem/starter' }, playing)).toEqual({
    before: 'starter',
    after: 'local:.tandem/runs/one/model',
  });
});

it('finds a base of the hub behind a server that serves it', () => {
  expect(beforeAndAfter({ folder, base: server.model }, playing)).toMatchObject({
    before: 'openai:Qwen/Qwen2.5-1.5B-Instruct@http://127.0.0.1:1/v1',
  });
  expect(beforeAndAfter({ folder, base: 'Qwen/another' }, playing)).toMatchObject({ before: undefined });
});

it('takes the folder of a base only when it has a graph to play from', async () => {
  expect(beforeAndAfter({ folder, base }, playing)).toMatchObject({ before: undefined });
  await mkdir(path.join(base, 'onnx'));
  expect(beforeAndAfter({ folder, base }, playing)).toMatchObject({ before: `local:${base}` });
});

it('knows no model of a run that left none', () => {
  const other = { folder: '/project/.tandem/runs/two', base: '/tandem/starter' };
  expect(beforeAndAfter(other, playing)).toEqual({ before: 'starter', after: undefined });
});
