import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SHIPPED_MODELS } from '../../../src/core/model/shippedModels';
import { localPlaces, runOf, type LocalSettings } from '../../../src/editor/localModels';

const shipped = path.resolve('media');
const starter = path.join(shipped, 'starter');
const workspace = path.resolve('/home/me/space');
const resolve = (file: string): string => path.resolve(workspace, file);
const settings = (some: Partial<LocalSettings>): LocalSettings => ({
  agent: 'starter',
  secondAgent: '',
  simulator: 'rules',
  modelFolders: [],
  dataFolder: undefined,
  resolve,
  ...some,
});

/** Makes a folder that is removed after the test. */
function temporary(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-trained-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('the local models', () => {
  it('are the starter models and the folders of the setting', () => {
    const places = localPlaces(settings({ modelFolders: ['models/tiny', '/models/qwen'] }), shipped);
    expect(places).toEqual([
      { spec: 'starter', folder: starter, name: 'starter', from: 'tandem' },
      {
        spec: 'starter-pages',
        folder: path.join(shipped, 'starter-pages'),
        name: 'starter-pages',
        from: 'tandem',
      },
      {
        spec: 'starter-questions',
        folder: path.join(shipped, 'starter-questions'),
        name: 'starter-questions',
        from: 'tandem',
      },
      { spec: 'local:models/tiny', folder: `${workspace}/models/tiny`, name: 'tiny', from: 'list' },
      { spec: 'local:/models/qwen', folder: '/models/qwen', name: 'qwen', from: 'list' },
    ]);
  });

  it('include an agent that the setting does not list, and nothing twice', () => {
    const some = settings({ agent: 'local:models/tiny/', modelFolders: ['models/tiny', './models/tiny'] });
    expect(localPlaces(some, shipped).map(({ name }) => name)).toEqual([
      'starter',
      'starter-pages',
      'starter-questions',
      'tiny',
    ]);
    const unlisted = localPlaces(settings({ agent: 'local:models/tiny' }), shipped);
    expect(unlisted.map(({ name, from }) => [name, from])).toEqual([
      ['starter', 'tandem'],
      ['starter-pages', 'tandem'],
      ['starter-questions', 'tandem'],
      ['tiny', 'use'],
    ]);
  });

  it('include what was trained here and can play, called as its run', () => {
    const folder = temporary();
    const dataFolder = path.join(folder, '.tandem');
    mkdirSync(path.join(dataFolder, 'loops', 'quick', 'model', 'onnx'), { recursive: true });
    mkdirSync(path.join(dataFolder, 'runs', 'sweet-rl-4', 'model'), { recursive: true });
    const there = settings({ dataFolder, resolve: (file) => path.resolve(folder, file) });
    expect(localPlaces(there, shipped).slice(SHIPPED_MODELS.length)).toEqual([
      {
        spec: 'local:.tandem/loops/quick/model',
        folder: path.join(dataFolder, 'loops', 'quick', 'model'),
        name: 'quick/model',
        from: 'training',
      },
    ]);
  });

  it('of runs are called as these, which are told apart by their ids', () => {
    const folder = temporary();
    const runs: readonly (readonly [string, string | undefined])[] = [
      ['20261120-220501-k3f9', '{"name": "first try"}'],
      ['20261120-220502-a1b2', '{"name": "first try"}'],
      ['20261120-220503-c3d4', '{"name": "other"}'],
      ['20261120-220505-g7h8', '{'],
      ['20261120-220506-i9j0', undefined],
    ];
    for (const [id, configuration] of runs) {
      const run = path.join(folder, 'runs', id);
      mkdirSync(path.join(run, 'model', 'onnx'), { recursive: true });
      if (configuration !== undefined) writeFileSync(path.join(run, 'run.json'), configuration);
    }
    const there = settings({ dataFolder: folder, resolve: (file) => path.resolve(folder, file) });
    expect(
      localPlaces(there, shipped)
        .slice(SHIPPED_MODELS.length)
        .map(({ name }) => name),
    ).toEqual([
      ...['first try (k3f9)', 'first try (a1b2)', 'other'],
      ...['20261120-220505-g7h8/model', '20261120-220506-i9j0/model'],
    ]);
  });

  it('of runs tell which run trained them, also one that was deleted', () => {
    const folder = temporary();
    const model = path.join(folder, 'runs', 'a-0001', 'model');
    const copied = path.join(folder, 'copied', 'model');
    for (const one of [model, copied]) mkdirSync(one, { recursive: true });
    writeFileSync(path.join(folder, 'copied', 'run.json'), '{"name": "first try"}');
    expect(runOf(model)).toEqual({ id: 'a-0001', name: 'a-0001' });
    writeFileSync(path.join(folder, 'runs', 'a-0001', 'notes.json'), '{"name": "Night run"}');
    expect(runOf(model)).toEqual({ id: 'a-0001', name: 'Night run' });
    expect(runOf(copied)).toEqual({ id: 'copied', name: 'first try' });
    expect(runOf(path.join(folder, 'runs', 'gone', 'model'))).toEqual({ id: 'gone', name: 'gone' });
    for (const other of [
      '',
      shipped,
      path.join(folder, 'model'),
      path.join(folder, 'runs', 'a-0001', 'critic'),
    ])
      expect(runOf(other)).toBeUndefined();
  });

  it('of a run that a person renames have the new name at once, and the old one when it is taken back', () => {
    const folder = temporary();
    const run = path.join(folder, 'runs', '20261120-220501-k3f9');
    mkdirSync(path.join(run, 'model', 'onnx'), { recursive: true });
    writeFileSync(path.join(run, 'run.json'), '{"name": "as configured"}');
    const there = settings({ dataFolder: folder, resolve: (file) => path.resolve(folder, file) });
    const name = (): string | undefined => localPlaces(there, shipped)[SHIPPED_MODELS.length]?.name;
    expect(name()).toBe('as configured');
    const notes = path.join(run, 'notes.json');
    writeFileSync(notes, '{"name": "renamed", "tags": [], "note": ""}');
    expect(name()).toBe('renamed');
    writeFileSync(notes, '{"name": "", "tags": ["kept"], "note": ""}');
    utimesSync(notes, 1, 1); // a clock may be too coarse for two writes
    expect(name()).toBe('as configured');
  });
});
