import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grade } from '../../../src/core/grading/grade';
import type { Grader } from '../../../src/core/grading/grader';
import type { Runner } from '../../../src/core/grading/runner';
import { WasiPool } from '../../../src/core/grading/wasi/pool';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

function grade(reference: string, calls: readonly string[], answer: string): Promise<Grade> {
  return grader.grade(makeTask(reference, calls), answer, { mode: 'fixed' });
}

const agreeable = `
class Agreeable:
    def __eq__(self, other): return True
    def __ne__(self, other): return True
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return hash(4)
    def __contains__(self, one): return True
def f(x): return Agreeable()`;

const squares = 'def f(x): return x * x';

describe('a test that compares', () => {
  it.each([
    'f(2) == 4',
    '4 == f(2)',
    'f(2) != 5',
    'f(2) < 5',
    'f(2) in (4, 5)',
    '0 < f(2) < 5',
    'not f(2) == 5',
  ])('%s passes a right answer and no object that claims to be equal to everything', async (call) => {
    expect(await grade(squares, [call], 'def f(x): return x ** 2.0')).toMatchObject({ success: true });
    expect(await grade(squares, [call], agreeable)).toMatchObject({ reward: 0, success: false });
  });

  it('shows the value that was expected, and what came', async () => {
    const { tests } = await grade(squares, ['f(2) == 4'], 'def f(x): return 5');
    expect(tests).toMatchObject([{ status: 'wrong', expected: '4', got: '5' }]);
  });

  it('that its own reference does not fulfil passes what the reference does, other values included', async () => {
    expect(await grade(squares, ['f(2) == 5'], 'def f(x): return 4')).toMatchObject({ success: true });
    expect(await grade(squares, ['f(2) == 5'], 'def f(x): return 5')).toMatchObject({ reward: 0 });
    expect(await grade(squares, ['f(2) == 5'], agreeable)).toMatchObject({ reward: 0 });
  });

  it('may compare two values of the answer, and members of an Enum', async () => {
    const answer =
      'import enum\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 2\ndef f(x): return Color.RED\ndef g(x): return [x]';
    const calls = ['g(1) == g(1.0)', 'f(1) == Color.RED', 'f(1) is Color.RED', 'g(1) == g(2)'];
    expect(await grade(answer, calls, answer)).toMatchObject({ success: true });
  });
});

describe('the built-ins of a test', () => {
  const list = 'def f(x): return [x, x]';
  const calls = ['isinstance(f(1), list) and len(f(1)) == 2', 'all(isinstance(each, int) for each in f(1))'];

  it('are Python’s, whatever the answer patches', async () => {
    expect(await grade(list, calls, list)).toMatchObject({ success: true });
    const patches = `
import builtins
def f(x):
    builtins.isinstance = builtins.all = lambda *_: True
    builtins.len = lambda _: 2
    return 7`;
    expect(await grade(list, calls, patches)).toMatchObject({ reward: 0 });
  });

  it('know the real class of an object', async () => {
    const posing =
      'class Fake:\n    __class__ = list\n    def __len__(self): return 2\ndef f(x): return Fake()';
    expect((await grade(list, ['isinstance(f(1), list)'], posing)).reward).toBe(0);
  });

  it('give way to a function of that name which the reference defines', async () => {
    const reference = 'def sum(a, b): return [a, b]';
    expect(await grade(reference, ['sum(1, 2)'], 'def sum(a, b): return list((a, b))')).toMatchObject({
      success: true,
    });
  });
});

describe('an error that poses as something missing is an error of the answer', () => {
  const raising = `raise ModuleNotFoundError("No module named 'torch'", name="torch")`;
  it.each([
    [
      'one that is raised after an import that really failed',
      `try: import torch\nexcept ImportError: pass\ndef f(x): ${raising}`,
      'ModuleNotFoundError',
    ],
    [
      'a thread that was never started',
      'import threading\ndef f(x): raise RuntimeError("can\'t start new thread")',
      'RuntimeError',
    ],
    [
      'a class with the name of the error of time zones',
      'import zoneinfo\nclass ZoneInfoNotFoundError(Exception): pass\ndef f(x): raise ZoneInfoNotFoundError("x")',
      'ZoneInfoNotFoundError',
    ],
  ])('%s', async (_what, answer, type) => {
    const result = await grade(squares, ['f(1)', 'f(2)'], answer);
    expect(result).toMatchObject({ reward: 0, success: false, tests: [{ status: 'error', type }, {}] });
  });

  it('and so is a module that only this answer cannot import', async () => {
    // The pool stands in for a Python with numpy: the module exists unless the source removes it.
    const pool = await WasiPool.open({ assets: sandbox.assets, workers: 1, memoryMegabytes: 256 });
    const has = 'import sys, types\nsys.modules["numpy"] = types.ModuleType("numpy")\n';
    const native: Runner = {
      width: 1,
      version: 'with-numpy',
      run: (job) => pool.run({ ...job, source: has + job.source }),
      close: () => pool.close(),
    };
    const both = await sandbox.open({ workers: 1, native: () => Promise.resolve(native) });
    const task = makeTask(squares, ['f(1)']);
    const honest = 'import numpy\ndef f(x): return x * x';
    expect(await both.grade(task, honest, { mode: 'fixed' })).toMatchObject({ success: true });
    const thief = 'import sys\ndel sys.modules["numpy"]\nimport numpy\ndef f(x): return 0';
    expect(await both.grade(task, thief, { mode: 'fixed' })).toMatchObject({ reward: 0 });
  });
});

it.each([
  ['time.time()', 'import time'],
  ['[time.time_ns(), time.perf_counter(), time.monotonic_ns(), time.process_time()]', 'import time'],
  ['[datetime.now(), datetime.utcnow(), datetime.today()]', 'from datetime import datetime'],
  ['[str(uuid.uuid1()), str(uuid.uuid4())]', 'import uuid'],
  [
    '[os.getpid(), os.times(), threading.get_ident(), threading.current_thread().ident]',
    'import os, threading',
  ],
  ['[[id(each) for each in ([], {}, x)], id(f) == id(f)]', 'import os'],
  ['[hash("a"), list({"ab", "cd", "ef"})]', 'import os'],
  ['[random.Random().random(), random.SystemRandom().random(), os.urandom(9)]', 'import os, random'],
])('an answer that is its reference passes with %s', async (value, line) => {
  const source = `${line}\ndef f(x): return ${value}`;
  expect(await grade(source, ['f(1)', 'f(2)'], `# The same, later.\n${source}`)).toMatchObject({
    success: true,
  });
});

const keepsFile = `
import os, tempfile
def f(x):
    os.mkdir("folder")
    os.chdir("folder")
    with tempfile.NamedTemporaryFile("w", delete=False) as file: file.write(str(x * x))
    os.rename(file.name, "/tmp/result")
    assert os.listdir("/tmp") == ["result"]
    with open("/tmp/result", "a+") as file:
        file.seek(0)
        return int(file.read())`;

it('an answer may write files, which are gone in the next test', async () => {
  expect(await grade(squares, ['f(1)', 'f(2)', 'f(3)'], keepsFile)).toMatchObject({ success: true });
  const endless = 'def f(x):\n    with open("x", "w") as file:\n        while True: file.write("x" * 9999)';
  expect(await grade(squares, ['f(1)'], endless)).toMatchObject({ tests: [{ type: 'OSError' }] });
});

it.each([
  ['processes', 'import subprocess\ndef f(x): return subprocess.run(["true"])'],
  ['processes', 'import os\ndef f(x): return os.system("true")'],
  ['sockets', 'import socket\ndef f(x): return socket.socket()'],
  ['signals', 'import signal\ndef f(x): return signal.alarm(1)'],
])('an answer that needs %s is not gradable, unless it fails by itself', async (what, answer) => {
  const result = await grade(squares, ['f(1)', 'f(2)'], answer);
  expect(result).toMatchObject({ success: null, reward: null });
  expect(result.notGradable).toContain(`The answer uses ${what}`);
  const failing = answer.replace('def f(x): return', 'def f(x): return 0 if x == 2 else');
  expect(await grade(squares, ['f(1)', 'f(2)'], failing)).toMatchObject({ success: false, reward: 0 });
});

it('a slow answer beside a quick reference passes', async () => {
  const slow = 'def f(x):\n    for _ in range(1_500_000): pass\n    return x * x';
  expect(await grade(squares, ['f(1)', 'f(2)'], slow)).toMatchObject({ success: true });
});
