import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNativeRunner } from '../../src/core/grading/native/native';
import { ScoringProcess } from '../../src/core/model/local/critic/process';
import { InferenceProcess } from '../../src/core/model/local/process';
import { findPython } from '../../src/core/training/environment/findPython';
import { runInstaller } from '../../src/core/training/environment/environment';
import { launch } from '../../src/core/training/launch';
import { Planner } from '../../src/core/training/planner';
import { ask, type Trainer } from '../../src/core/training/trainer';
import { eventually } from '../fixtures/eventually';
import { temporaryFolder } from '../fixtures/log';

let folder: string;
/** File into which the child processes write the names of their variables. */
let seen: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  seen = path.join(folder, 'seen');
  vi.stubEnv('OPENAI_API_KEY', 'sk-secret');
  vi.stubEnv('LAB_LOGIN', 'sk-secret');
  vi.stubEnv('HF_TOKEN', 'hf-secret');
  vi.stubEnv('PIP_INDEX_URL', 'http://127.0.0.1:9/simple');
  vi.stubEnv('CUDA_VISIBLE_DEVICES', '');
  vi.stubEnv('NODE_OPTIONS', '--no-deprecation');
});

afterEach(() => vi.unstubAllEnvs());

async function file(name: string, text: string): Promise<string> {
  const target = path.join(folder, name);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, text, { mode: 0o755 });
  return target;
}

const variables = (): Promise<string[]> =>
  eventually(async () => {
    const text = await readFile(seen, 'utf8');
    expect(text).toMatch(/\.$/);
    return text.slice(0, -1).split(',');
  });

/** Selects the names above that a child must not see. */
const secrets = (names: readonly string[]): string[] =>
  names.filter((name) =>
    ['OPENAI_API_KEY', 'LAB_LOGIN', 'HF_TOKEN', 'PIP_INDEX_URL', 'NODE_OPTIONS'].includes(name),
  );

const nodeScript = (): Promise<string> =>
  file(
    'child.js',
    `require('node:fs').writeFileSync(${JSON.stringify(seen)}, Object.keys(process.env).join() + '.');`,
  );

const pythonLines = (): string =>
  ['import os', `open(${JSON.stringify(seen)}, "w").write(",".join(os.environ) + ".")`].join('\n');

describe('what a child process sees of the environment', () => {
  it('which computes a model: graphics cards, but no key', async () => {
    const child = new InferenceProcess(await nodeScript(), { folder, graph: '', memoryBytes: 1 });
    await expect(child.load()).rejects.toThrow('ended');
    expect(await variables()).toContain('CUDA_VISIBLE_DEVICES');
    expect(secrets(await variables())).toEqual([]);
  });

  it('in which a critic reads: the same', async () => {
    const child = new ScoringProcess(await nodeScript(), folder);
    await expect(child.ask({ messages: [], turns: [] })).rejects.toThrow('ended');
    expect(await variables()).toContain('CUDA_VISIBLE_DEVICES');
    expect(secrets(await variables())).toEqual([]);
    await child.close();
  });

  it('that grades with numpy: no key', async () => {
    const python = await file('python', `#!/bin/sh\nexec python3 -c '${pythonLines()}'\n`);
    const runner = await createNativeRunner({ python, scripts: folder, evaluation: folder });
    expect(runner).toHaveProperty('unavailable');
    expect(secrets(await variables())).toEqual([]);
  });

  it('that might be a Python: no key', async () => {
    const python = await file('python', `#!/bin/sh\npython3 -c '${pythonLines()}'\nexec python3 "$@"\n`);
    await findPython({ file: python, by: 'This test' }, true);
    expect(secrets(await variables())).toEqual([]);
  });

  it('that installs packages: where the packages are, but no key', async () => {
    await runInstaller(['python3', '-c', pythonLines()], { log: path.join(folder, 'log') });
    expect(secrets(await variables())).toEqual(['PIP_INDEX_URL']);
  });

  describe('that trains', () => {
    let trainer: Trainer;

    beforeEach(async () => {
      await file('source/tandem_trainer/__main__.py', pythonLines());
      trainer = { python: 'python3', source: path.join(folder, 'source') };
    });

    const expected = async (): Promise<void> => {
      expect(await variables()).toContain('CUDA_VISIBLE_DEVICES');
      expect(secrets(await variables())).toEqual(['HF_TOKEN']);
    };

    it('for a moment: the token of the hub, but no key', async () => {
      await ask(trainer, ['plan'], { cwd: folder });
      await expected();
    });

    it('in the background: the same', async () => {
      await file('run.json', '{}');
      await launch(trainer, folder);
      await expected();
    });

    it('and only plans: the same', async () => {
      await expect(new Planner(trainer).plan(folder, 'This test')).rejects.toThrow();
      await expected();
    });
  });
});
