import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graderVersion, type Grade, type GradingMode } from '../../../src/core/grading/grade';
import type { Grader } from '../../../src/core/grading/grader';
import type { Job, JobOutcome, Runner } from '../../../src/core/grading/runner';
import { WasiPool } from '../../../src/core/grading/wasi/pool';
import { gradeSchema } from '../../../src/core/trajectory/event';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

const double = makeTask('def f(x):\n    return x * 2', ['f(1)', 'f(2)', 'f("a")', 'f([1])']);

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open();
});
afterAll(() => sandbox.close());

function grade(answer: string, task = double, mode: GradingMode = 'fixed'): Promise<Grade> {
  return grader.grade(task, answer, { mode });
}

describe('a grade', () => {
  it('is a success when every test gives what the reference gives', async () => {
    const result = await grade('def f(x):\n    return x + x');
    expect(result).toMatchObject({ mode: 'fixed', reward: 1, success: true });
    expect(result.tests.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed', 'passed']);
    expect(result.grader).toBe(graderVersion);
    expect(gradeSchema.parse(result)).toEqual(result);
  });

  it('is the fraction of tests passed, and shows what was expected and what came', async () => {
    const result = await grade('def f(x):\n    return x + x if isinstance(x, int) else [x]');
    expect(result).toMatchObject({ reward: 0.5, success: false });
    expect(result.tests[2]).toMatchObject({ status: 'wrong', expected: "'aa'", got: "['a']" });
  });

  it('names the error and its line in the answer', async () => {
    const result = await grade(
      'def f(x):\n    if x == 1:\n        return 2\n    raise ValueError("no " + str(x))',
    );
    expect(result.tests[0]).toMatchObject({ status: 'passed' });
    expect(result.tests[1]).toEqual({ status: 'error', type: 'ValueError', message: 'no 2', line: 4 });
  });

  it('names the line of a syntax error', async () => {
    const result = await grade('def f(x):\n    return (x');
    expect(result.tests[0]).toMatchObject({ status: 'error', type: 'SyntaxError', line: 2 });
  });

  it('shortens long values', async () => {
    const result = await grade('def f(x):\n    return list(range(10000))');
    expect(result.tests[0]).toMatchObject({ status: 'wrong' });
    expect((result.tests[0] as { got: string }).got.length).toBeLessThan(500);
  });

  it('gives an answer that loops up after two tests', async () => {
    const result = await grade('def f(x):\n    while x != "a": pass\n    return "aa"');
    expect(result).toMatchObject({ reward: 0, success: false });
    expect(result.tests.map(({ status }) => status)).toEqual(Array(4).fill('timed-out'));
  });

  it('goes on after a single time-out', async () => {
    const result = await grade('def f(x):\n    while x == 2: pass\n    return x * 2');
    expect(result.reward).toBe(0.75);
    expect(result.tests[1]).toEqual({ status: 'timed-out', limitMilliseconds: 1_000 });
  });

  it('lets time.sleep take no time', async () => {
    const result = await grade('import time\ndef f(x):\n    time.sleep(0.5)\n    return x * 2');
    expect(result.success).toBe(true);
  });

  it('does not depend on what else is being graded', async () => {
    const answers = Array.from({ length: 6 }, (_, index) =>
      index % 3 === 0 ? 'def f(x):\n    while True: pass' : 'def f(x):\n    return x * 2',
    );
    const grades = await Promise.all(answers.map((answer) => grade(answer)));
    expect(grades.map(({ reward }) => reward)).toEqual(answers.map((_, index) => (index % 3 === 0 ? 0 : 1)));
  });
});

describe('fixed mode', () => {
  it.each([
    [
      'an import at the top',
      'import math\ndef f(x):\n    return math.floor(x) * 2 if isinstance(x, int) else x * 2',
    ],
    ['a helper function', 'def twice(x):\n    return x * 2\ndef f(x):\n    return twice(x)'],
    ['a constant', 'FACTOR = 2\ndef f(x):\n    return x * FACTOR'],
    ['recursion', 'def f(x, n=2):\n    return x if n == 1 else f(x, n - 1) + x'],
    [
      'a class',
      'class Doubler:\n    def go(self, x):\n        return x * 2\ndef f(x):\n    return Doubler().go(x)',
    ],
    [
      'a dataclass with postponed annotations',
      'from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Box:\n    value: object\ndef f(x):\n    return Box(x).value * 2',
    ],
    ['a main guard', 'def f(x):\n    return x * 2\nif __name__ == "__main__":\n    print(f(input()))'],
    [
      'output and any word in a comment',
      '# import os; exec(); __import__\ndef f(x):\n    print(x)\n    return x * 2',
    ],
  ])('accepts %s', async (_what, answer) => {
    expect(await grade(answer)).toMatchObject({ reward: 1, success: true });
  });

  it('lets None be a value among others', async () => {
    const task = makeTask('def f(x):\n    return x or None', ['f(0)', 'f(1)']);
    expect(await grade('def f(x):\n    return x if x else None', task)).toMatchObject({ success: true });
  });
});

describe('paper mode', () => {
  it('passes one self-contained function', async () => {
    const answer = '```python\ndef f(x):\n    import math\n    return x * 2\n```';
    expect(await grade(answer, double, 'paper')).toMatchObject({ mode: 'paper', reward: 1, success: true });
  });

  it.each([
    ['an import at the top', 'import math\ndef f(x):\n    return math.floor(2) * x'],
    ['a helper function', 'def twice(x):\n    return x * 2\ndef f(x):\n    return twice(x)'],
    ['a constant', 'FACTOR = 2\ndef f(x):\n    return x * FACTOR'],
    ['recursion', 'def f(x, n=2):\n    return x if n == 1 else f(x, n - 1) + x'],
    ['a comment that says import os', '# no need to import os here\ndef f(x):\n    return x * 2'],
  ])('scores %s 0, as the published grader does', async (_what, answer) => {
    expect(await grade(answer, double, 'paper')).toMatchObject({ reward: 0, success: false });
  });

  it('never passes a test whose reference value is None, and counts it', async () => {
    const task = makeTask('def f(x):\n    return x or None', ['f(0)', 'f(1)']);
    const result = await grade('def f(x):\n    return x or None', task, 'paper');
    expect(result).toMatchObject({ reward: 0.5, success: false, referenceFailures: 1 });
  });
});

describe('a reference that fails', () => {
  it('on some tests leaves them out of the reward', async () => {
    const task = makeTask('def f(x):\n    return 1 / x', ['f(0)', 'f(1)', 'f(2)']);
    const result = await grade('def f(x):\n    return 1 / x if x < 2 else 7', task);
    expect(result).toMatchObject({ reward: 0.5, success: false, referenceFailures: 1 });
    expect(result.tests[0]).toEqual({
      status: 'not-gradable',
      reason: 'The reference fails on this test: ZeroDivisionError: division by zero',
    });
  });

  it('on all tests makes the answer not gradable', async () => {
    const task = makeTask('def f(x):\n    while True: pass', ['f(0)', 'f(1)']);
    const strict = await sandbox.open({ workers: 1, limits: { ceilingMilliseconds: 200 } });
    expect(await strict.grade(task, 'def f(x):\n    return 1', { mode: 'fixed' })).toMatchObject({
      reward: null,
      success: null,
      notGradable: 'The reference does not finish in time on this test.',
    });
  });

  it('by returning None on every test makes the answer not gradable', async () => {
    const task = makeTask('def f(x):\n    print(x)', ['f(0)', 'f(1)']);
    expect(await grade('def f(x):\n    pass', task)).toMatchObject({
      reward: null,
      notGradable: 'The reference returns None on every test.',
    });
  });
});

describe('the code of an answer', () => {
  it('is where the lines of errors are counted', async () => {
    const answer = '```python\nDIVISOR = 0\n```\nand\n```python\ndef f(x):\n    return 1 / DIVISOR\n```';
    expect((await grade(answer)).tests[0]).toMatchObject({ type: 'ZeroDivisionError', line: 4 });
  });
});

describe('what the interpreter lacks', () => {
  const withNumpy = 'import numpy as np\ndef f(x):\n    return x * 2';

  it('makes an answer not gradable, in a sentence', async () => {
    expect(await grade(withNumpy)).toMatchObject({
      reward: null,
      success: null,
      notGradable: 'The answer imports numpy, which is not available to the grader on this machine.',
    });
  });

  it('makes a task whose reference needs it not gradable', async () => {
    expect(await grade('def f(x):\n    return x * 2', makeTask(withNumpy, ['f(1)']))).toMatchObject({
      reward: null,
      notGradable: 'The reference imports numpy, which is not available to the grader on this machine.',
    });
  });

  it('is no excuse for importing what does not exist', async () => {
    const result = await grade('import my_own_helpers\ndef f(x):\n    return x * 2');
    expect(result).toMatchObject({ reward: 0, success: false });
    expect(result.tests[0]).toMatchObject({ status: 'error', type: 'ModuleNotFoundError', line: 1 });
  });

  it('is handed to the runner that has it, reference and answer together', async () => {
    // The WASI pool stands in for a Python with numpy; imports of numpy are removed from the sources.
    const pool = await WasiPool.open({ assets: sandbox.assets, workers: 1, memoryMegabytes: 256 });
    const sources: string[] = [];
    const native: Runner = {
      width: 1,
      version: 'with-numpy',
      run: async (job: Job): Promise<JobOutcome> => {
        sources.push(job.source);
        return pool.run({ ...job, source: job.source.replace('import numpy as np\n', '') });
      },
      close: () => pool.close(),
    };
    const both = await sandbox.open({ workers: 1, native: () => Promise.resolve(native) });
    expect(await both.grade(double, withNumpy, { mode: 'fixed' })).toMatchObject({
      reward: 1,
      success: true,
    });
    // On a busy machine a job that took too long is repeated.
    expect(new Set(sources)).toEqual(new Set([double.reference, withNumpy]));
  });
});

describe('reference outputs', () => {
  let cacheFolder: string;
  let path: string;
  beforeAll(async () => {
    cacheFolder = join(sandbox.folder, 'cache');
    const first = await sandbox.open({
      workers: 1,
      cache: { folder: cacheFolder, onNotice: (sentence) => expect.fail(sentence) },
    });
    expect(await first.grade(double, double.reference, { mode: 'fixed' })).toMatchObject({ reward: 1 });
    const [shard] = await readdir(cacheFolder);
    const [file] = await readdir(join(cacheFolder, shard!));
    path = join(cacheFolder, shard!, file!);
  });

  it('are kept on disk, and a grader opened later runs no reference again', async () => {
    // The reference never returns this output, so a match shows that the file is used.
    const value = { kind: 'value', canonical: 'n0x7', none: false, display: '7', milliseconds: 1 };
    await writeFile(path, JSON.stringify({ slowestMilliseconds: 1, calls: Array(4).fill(value) }));
    const second = await sandbox.open({
      workers: 1,
      cache: { folder: cacheFolder, onNotice: (sentence) => expect.fail(sentence) },
    });
    expect(await second.grade(double, 'def f(x):\n    return 7', { mode: 'fixed' })).toMatchObject({
      reward: 1,
    });
  });

  it('are computed again when the file is damaged', async () => {
    await writeFile(path, '{"calls": [');
    const second = await sandbox.open({
      workers: 1,
      cache: { folder: cacheFolder, onNotice: (sentence) => expect.fail(sentence) },
    });
    expect(await second.grade(double, double.reference, { mode: 'fixed' })).toMatchObject({ reward: 1 });
  });
});

describe('the grading process', () => {
  it('may be killed at any moment: what it was doing is repeated and nothing is lost', async () => {
    const pool = await WasiPool.open({ assets: sandbox.assets, workers: 2, memoryMegabytes: 256 });
    const job: Job = {
      source: 'def f(x):\n    return sum(range(200000 + x))',
      calls: ['f(1)', 'f(2)'],
      start: 0,
      mode: 'fixed',
      limitMilliseconds: 5_000,
      seed: '1',
      own: [],
      imported: [],
    };
    const running = Array.from({ length: 8 }, () => pool.run(job));
    await running[0];
    process.kill(pool.processId!, 'SIGKILL');
    const outcomes = await Promise.all(running);
    const displays = outcomes.map(({ calls }) =>
      calls.map((call) => (call.kind === 'value' ? call.display : call)),
    );
    expect(displays).toEqual(Array(8).fill(['20000100000', '20000300001']));
    await pool.close();
  });

  it('is stopped in the middle of an answer when the caller gives up', async () => {
    const stop = new AbortController();
    const patient = await sandbox.open({
      workers: 1,
      limits: { floorMilliseconds: 20_000, ceilingMilliseconds: 20_000 },
    });
    await patient.grade(double, double.reference, { mode: 'fixed' });
    const looping = patient.grade(double, 'def f(x):\n    while True: pass', {
      mode: 'fixed',
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(new Error('enough')), 100);
    await expect(looping).rejects.toThrow('enough');
    expect(await patient.grade(double, double.reference, { mode: 'fixed' })).toMatchObject({ reward: 1 });
  });

  it('refuses an interpreter that is not the pinned one', async () => {
    const assets = join(sandbox.folder, 'other');
    await cp(sandbox.assets, assets, { recursive: true });
    await writeFile(join(assets, 'python.wasm'), 'something else');
    const refusing = await sandbox.open({ assets });
    await expect(refusing.grade(double, double.reference, { mode: 'fixed' })).rejects.toThrow(
      'python.wasm is not the pinned interpreter',
    );
  });

  it('says which file is missing', async () => {
    await expect(sandbox.open({ assets: join(sandbox.folder, 'nowhere') })).rejects.toThrow(
      'The grader needs python.image in',
    );
  });
});
