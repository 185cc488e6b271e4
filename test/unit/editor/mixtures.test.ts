import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { Model } from '../../../src/core/model/model';
import { Mixtures } from '../../../src/editor/engine';
import { temporaryFolder } from '../../fixtures/log';

vi.mock('vscode', () => import('./vscode'));

const opened: Mixtures[] = [];
afterEach(() => opened.splice(0).forEach((mixtures) => mixtures.dispose()));

/** A workspace with a critic in `critic`, whose graphs are never run. */
async function workspace(about: object = {}): Promise<Mixtures> {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, 'critic', 'onnx'), { recursive: true });
  const critic = {
    ...{ version: 1, score: 'log-ratio', hidden_information: false, length_normalisation: true },
    ...{ convention: 'paper', prompt: '', template_options: {} },
    ...about,
  };
  await writeFile(path.join(folder, 'critic', 'critic.json'), JSON.stringify(critic));
  for (const graph of ['critic.onnx', 'reference.onnx'])
    await writeFile(path.join(folder, 'critic', 'onnx', graph), graph);
  const mixtures = new Mixtures('dist', { resolve: (file) => path.resolve(folder, file) }, (spec) =>
    Promise.resolve<Model>({ name: spec, fingerprint: spec, generate: () => Promise.reject(new Error()) }),
  );
  opened.push(mixtures);
  return mixtures;
}

test('the critic of a mixture is found in the workspace', async () => {
  const mixtures = await workspace();
  const mixture = await mixtures.open('mixture:starter+local:mine,critic=critic');
  expect(mixture.name).toBe('mixture:starter+local:mine,critic=critic');
  expect(mixture.fingerprint).toMatch(/^starter, local:mine, [0-9a-f]{16}$/);
  expect(await mixtures.open('starter')).toMatchObject({ name: 'starter' });
});

test.each([
  [{ hidden_information: true }, 'reads the hidden information, which an agent at play must not.'],
  [{ score: 'value-head' }, 'does not score by log-ratios.'],
])('a critic that cannot score at play is refused: %j', async (about, part) => {
  const mixtures = await workspace(about);
  await expect(mixtures.open('mixture:starter,critic=critic')).rejects.toThrow(part);
});
