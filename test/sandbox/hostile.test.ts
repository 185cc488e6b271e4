import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Grade } from '../../src/core/grading/grade';
import type { Grader } from '../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../fixtures/sandbox';

const secret = 'expected-value-that-only-the-reference-knows';
const task = makeTask(`def f(x):\n    return ["${secret}", x, x * x + 1]`, ['f(1)', 'f(2)', 'f(3)', 'f(4)']);
const right = `def f(x):\n    return ["${secret}", x, x * x + 1]`;

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  // With one worker, the next answer runs in the interpreter of the hostile one.
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

function grade(answer: string): Promise<Grade> {
  return grader.grade(task, answer, { mode: 'fixed' });
}

afterEach(async () => {
  expect(await grade(right), 'the next honest answer grades right').toMatchObject({
    reward: 1,
    success: true,
  });
});

const forgeries: Record<string, string> = {
  'an object that equals everything': `
class Everything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def f(x): return Everything()`,
  'a list that equals everything, with a lying repr': `
class Everything(list):
    def __eq__(self, other): return True
    def __repr__(self): return "['${secret}', 1, 2]"
    __hash__ = None
def f(x): return Everything()`,
  'a list of subclasses of int and str that lie about equality and hash': `
class Number(int):
    def __eq__(self, other): return True
    def __hash__(self): return 1
class Text(str):
    def __eq__(self, other): return True
    def __hash__(self): return 1
def f(x): return [Text("?"), Number(0), Number(0)]`,
  'a metaclass that lies about the class': `
class Meta(type):
    def __eq__(cls, other): return True
    def __hash__(cls): return hash(list)
    def __getattribute__(cls, name): return getattr(list, name)
    def mro(cls): return [cls, object]
class Fake(metaclass=Meta):
    __class__ = list
    def __eq__(self, other): return True
def f(x): return Fake()`,
  'a generator that never gives anything': 'def f(x):\n    while True:\n        yield 1',
};

it.each(Object.entries(forgeries))('does not score %s', async (_name, answer) => {
  expect(await grade(answer)).toMatchObject({ reward: 0, success: false });
});

it('does not score an equal-to-everything object in paper mode either', async () => {
  const result = await grader.grade(task, forgeries['an object that equals everything']!, { mode: 'paper' });
  expect(result).toMatchObject({ reward: 0, success: false });
});

it('lets an answer that takes the evaluation apart make no test pass whose value it does not know', async () => {
  const result = await grade(`
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__code__.co_filename.startswith("tandem/"):
            one.__code__ = (lambda *_, **__: b'{"kind":"value","canonical":"n0x1","none":false,"display":"1"}').__code__
    return 1`);
  expect(result).toMatchObject({ reward: 0, success: false });
});

it('lets nothing that an answer patches outlive it', async () => {
  await grade(`
import builtins, sys, math, json, collections, random, os
builtins.len = lambda x: 0
builtins.__build_class__ = None
math.floor = lambda x: 0
collections.OrderedDict = None
sys.modules["re"] = sys.modules["json"] = None
sys.setrecursionlimit(50)
os.environ["LEFT"] = "over"
def f(x): return x`);
  const probe = `
import math, re, json, collections, sys, os
def f(x):
    class Works: pass
    healthy = len([1, 2]) == 2 and math.floor(2.5) == 2 and collections.OrderedDict(a=1) and sys.getrecursionlimit() > 500
    return ["${secret}", x, x * x + 1] if healthy and "LEFT" not in os.environ and "builtins_left" not in globals() else None`;
  expect(await grade(probe)).toMatchObject({ success: true });
});

const endings: Record<string, string> = {
  SystemExit: 'def f(x): raise SystemExit(0)',
  'SystemExit at the top': 'raise SystemExit(0)',
  'os.abort': 'import os\ndef f(x): os.abort()',
  KeyboardInterrupt: 'def f(x): raise KeyboardInterrupt',
  'a signal': 'import signal, os\ndef f(x): signal.raise_signal(signal.SIGTERM)',
  'endless recursion in C': 'class A:\n    def __repr__(self): return repr(self)\ndef f(x): return repr(A())',
  'deeply nested source': `x = ${'('.repeat(5000)}1${')'.repeat(5000)}\ndef f(x): return 1`,
  'crafted bytecode': `
import types
def f(x):
    code = f.__code__.replace(co_code=bytes([100, 255, 83, 0] * 30), co_consts=(), co_stacksize=1)
    return types.FunctionType(code, {})(x)`,
};

it.each(Object.entries(endings))('survives %s', async (_name, answer) => {
  const result = await grade(answer);
  expect(result).toMatchObject({ reward: 0, success: false });
});

const endless: Record<string, string> = {
  'a loop at the top': 'while True: pass',
  'a huge power': 'def f(x): return 10 ** 10 ** 8',
  'a huge power that is a constant': 'POWER = 7 ** 7 ** 9\ndef f(x): return POWER',
  'a huge integer as text': 'import sys\nsys.set_int_max_str_digits(0)\ndef f(x): return str(1 << 10 ** 8)',
  'a sleep of a day': 'import time\ndef f(x): time.sleep(86400)',
  'a comparison that never ends': `
class Slow(dict):
    def items(self):
        while True: pass
    def __iter__(self):
        while True: pass
    __repr__ = __len__ = __getattribute__ = __iter__
def f(x):
    while True: hash(frozenset(range(10 ** 6)))`,
  'a trace function that loops': `
import sys
def trace(*_):
    while True: pass
def f(x):
    sys.settrace(trace)
    return (lambda: ["${secret}", x])()`,
};

/** A task with one call, because every call is stopped in the same way. */
const single = { ...task, testCases: task.testCases.slice(0, 1) };

it.each(Object.entries(endless))('stops %s', async (_name, answer) => {
  const result = await grader.grade(single, answer, { mode: 'fixed' });
  expect(result).toMatchObject({ reward: 0, success: false });
  expect(result.tests.every(({ status }) => status === 'timed-out' || status === 'error')).toBe(true);
});

it.each([
  ['one huge allocation', 'def f(x): return bytearray(10 ** 10)'],
  ['a huge result', 'def f(x): return list(range(10 ** 6))'],
  ['a huge text', 'def f(x): return "x" * 10 ** 7'],
  ['a result that contains itself', 'def f(x):\n    loop = []\n    loop.append(loop)\n    return loop'],
  [
    'a deeply nested result',
    'def f(x):\n    nest = []\n    for _ in range(100000): nest = [nest]\n    return nest',
  ],
])('survives %s', async (_name, answer) => {
  expect(await grade(answer)).toMatchObject({ reward: 0, success: false });
});

it('takes megabytes of output without harm', async () => {
  const noisy = `
import sys, os
def f(x):
    for _ in range(50):
        print("x" * 10 ** 6)
        sys.stderr.write("y" * 10 ** 6)
        os.write(1, b"z" * 10 ** 6)
    return ["${secret}", x, x * x + 1]`;
  expect(await grade(noisy)).toMatchObject({ success: true });
});

it('runs nothing of an answer after its last test', async () => {
  await grade(`
import atexit, builtins, threading, gc
class Late:
    def __del__(self): builtins.print = None
def f(x):
    f.late = Late()
    atexit.register(f.late.__del__)
    gc.callbacks.append(lambda *_: f.late.__del__())
    return f.late`);
  expect(await grade(`def f(x):\n    print(x)\n    return ["${secret}", x, x * x + 1]`)).toMatchObject({
    success: true,
  });
});

/** Makes a task whose answer returns "out" when it reaches the machine. */
function outsideTask(code: string) {
  return grader.grade(makeTask('def f(x): return "shut in"', ['f(1)']), code, { mode: 'fixed' });
}

it('shows no answer the environment or the process', async () => {
  process.env.TANDEM_TEST_SECRET = 'secret';
  const result = await outsideTask(`
import os, sys
def f(x):
    if dict(os.environ): return "out: " + repr(dict(os.environ))
    for name in ("fork", "system", "kill", "popen", "execv", "spawnv", "posix_spawn"):
        call = getattr(os, name, None)
        try:
            if call: return "out: " + repr(call("id"))
        except Exception: pass
    return "shut in"`);
  delete process.env.TANDEM_TEST_SECRET;
  expect(result.tests[0]).toMatchObject({ status: 'passed' });
});

it('lets no answer start a process', async () => {
  const result = await outsideTask(`
import subprocess
def f(x):
    try: return "out: " + repr(subprocess.run(["id"], capture_output=True))
    except OSError: return "shut in"`);
  expect(result.tests[0]).toMatchObject({ status: 'passed' });
});

it.each(['ctypes', '_ctypes', '_testcapi', '_testinternalcapi', '_testclinic', '_xxsubinterpreters'])(
  'does not offer the module %s',
  async (name) => {
    const result = await outsideTask(`
import sys
sys.modules.pop("${name}", None)
def f(x):
    sys.path_importer_cache.clear()
    __import__("${name}")
    return "out"`);
    expect(result.tests[0]).toMatchObject({ status: 'error', type: 'ModuleNotFoundError' });
  },
);

it('lets a test not learn from the one before it through the namespace', async () => {
  const result = await grade(`
try: count
except NameError: count = 0
count += 1
def f(x): return ["${secret}", count, count * count + 1]`);
  expect(result.reward).toBe(0.25);
});
