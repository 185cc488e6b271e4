import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { root } from '../../scripts/setup/project.mjs';
import { inspectInterpreter, installPytest } from '../../src/core/testing/interpreter';
import { compareRuns, runTests, type TestRun, type TestRunOptions } from '../../src/core/testing/run';
import { bareEnvironment, pytestWheels } from '../fixtures/pytestWheels';
import { realTrainer } from '../fixtures/trainer';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-own-tests-'));
  await write('shop.py', 'def price(kg):\n    return 5\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

let printed = '';
function run(
  files: readonly string[],
  text: string,
  options: Partial<TestRunOptions> = {},
): Promise<TestRun> {
  printed = '';
  return runTests({
    ...{ python: realTrainer().python, folder, limitMilliseconds: 300_000 },
    script: path.join(root, 'src/core/testing/python/run_tests.py'),
    files: files.map((name) => path.join(folder, name)),
    module: { file: path.join(folder, 'shop.py'), text },
    signal: new AbortController().signal,
    print: (more) => {
      printed += more;
    },
    ...options,
  });
}

const asIs = 'def price(kg):\n    return 5\n';
const wrong = 'def price(kg):\n    print("asked")\n    return kg\n';

it('runs the tests of pytest on a text that is in no file, and writes nothing', async () => {
  await write(
    'tests/test_shop.py',
    'import pytest\nfrom shop import price\n\n\ndef test_light():\n    assert price(1) == 5\n\n\n@pytest.mark.parametrize("kg", [4, 5])\ndef test_more(kg):\n    assert price(kg) == 5\n\n\n@pytest.mark.skip\ndef test_later():\n    assert False\n',
  );
  const before = await run(['tests/test_shop.py'], asIs);
  expect(before).toMatchObject({ runner: 'pytest', imported: true, isTimedOut: false });
  expect(before.tests.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['test_light', 'passed'],
    ['test_more[4]', 'passed'],
    ['test_more[5]', 'passed'],
    ['test_later', 'skipped'],
  ]);
  const after = await run(['tests/test_shop.py'], wrong);
  const compared = compareRuns(before, after);
  expect(compared).toMatchObject({ before: { passed: 3, all: 3 }, after: { passed: 1, all: 3 } });
  expect(compared.broken.map(({ name, file, line }) => [name, file, line])).toEqual([
    ['test_light', path.join(folder, 'tests/test_shop.py'), 5],
    ['test_more[4]', path.join(folder, 'tests/test_shop.py'), 10],
  ]);
  expect(printed).toContain('asked');
  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual([
    'shop.py',
    'tests',
    path.join('tests', 'test_shop.py'),
  ]);
});

it('runs the tests of unittest where the interpreter has no pytest', async () => {
  await write(
    'test_shop.py',
    'import unittest\nfrom shop import price\n\n\nclass Prices(unittest.TestCase):\n    def test_light(self):\n        self.assertEqual(price(1), 5)\n\n    def test_heavy(self):\n        self.assertEqual(price(30), 30)\n',
  );
  // Without its own packages the interpreter has no pytest.
  const bare = await write('python', `#!/bin/sh\nexec ${realTrainer().python} -S "$@"\n`);
  await chmod(bare, 0o755);
  const [before, after] = [
    await run(['test_shop.py'], asIs, { python: bare }),
    await run(['test_shop.py'], wrong, { python: bare }),
  ];
  expect(before).toMatchObject({ runner: 'unittest', imported: true });
  expect(compareRuns(before, after)).toMatchObject({
    before: { passed: 1, all: 2 },
    after: { passed: 1, all: 2 },
    broken: [{ name: 'Prices.test_light', file: path.join(folder, 'test_shop.py'), line: 5 }],
  });
});

it('says that tests break whose file cannot be imported with the answer', async () => {
  await write('test_shop.py', 'from shop import price\n\n\ndef test_light():\n    assert price(1) == 5\n');
  const before = await run(['test_shop.py'], asIs);
  const after = await run(['test_shop.py'], 'def cost(kg):\n    return 5\n');
  expect(compareRuns(before, after).broken).toMatchObject([{ name: 'test_light' }]);
});

it('ends tests at the limit, whatever they do', async () => {
  await write(
    'test_shop.py',
    'from shop import price\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    price(1)\n',
  );
  const endless = 'def price(kg):\n    while True:\n        pass\n';
  const ended = await run(['test_shop.py'], endless, { limitMilliseconds: 1_000 });
  expect(ended).toMatchObject({ isTimedOut: true });
  expect(ended).not.toHaveProperty('runner');
});

it('ends with its signal', async () => {
  await write(
    'test_shop.py',
    'import time\nfrom shop import price\n\n\ndef test_b():\n    print("begun", flush=True)\n    time.sleep(1000)\n',
  );
  const controller = new AbortController();
  await write('pytest.ini', '[pytest]\naddopts = -s\n');
  const running = run(['test_shop.py'], asIs, {
    signal: controller.signal,
    print: (text) => {
      if (text.includes('begun')) controller.abort(new Error('No more.'));
    },
  });
  await expect(running).rejects.toThrow('No more.');
});

describe('an interpreter without pytest', () => {
  afterEach(() => vi.unstubAllEnvs());

  const install = (python: string): Promise<void> =>
    installPytest({
      commands: [[python, '-m', 'pip', 'install', 'pytest']],
      folder,
      signal: new AbortController().signal,
      print: (text) => {
        printed += text;
      },
    });

  it('is found out by tests that only pytest can run, and gets it from pip, or a sentence that says why not', async () => {
    await write('test_shop.py', 'from shop import price\n\n\ndef test_light():\n    assert price(1) == 5\n');
    await write('test_import.py', 'import pytest\n\n\ndef test_price():\n    pass\n');
    const python = await bareEnvironment(path.join(folder, '.venv'));
    expect(await inspectInterpreter(python)).toMatchObject({
      ...{ file: python, hasPytest: false, hasPip: true, isManaged: false },
    });
    expect(await run(['test_shop.py'], asIs, { python })).toMatchObject({ needsPytest: true });
    expect(await run(['test_import.py'], asIs, { python })).toMatchObject({ needsPytest: true });
    vi.stubEnv('PIP_NO_INDEX', '1');
    const why = 'pytest could not be installed: No matching distribution found for pytest.';
    await expect(install(python)).rejects.toThrow(why);
    for (const [name, value] of Object.entries(await pytestWheels(folder))) vi.stubEnv(name, value);
    await install(python);
    expect(printed).toContain('Successfully installed');
    expect(await inspectInterpreter(python)).toMatchObject({ hasPytest: true });
    expect(await run(['test_shop.py'], asIs, { python })).toMatchObject({
      ...{ runner: 'pytest', needsPytest: false, tests: [{ name: 'test_light', outcome: 'passed' }] },
    });
  });

  it('is no Python when the file is something else', async () => {
    expect(await inspectInterpreter(path.join(folder, 'shop.py'))).toBeUndefined();
  });
});
