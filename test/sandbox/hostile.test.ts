import { expect, it } from 'vitest';
import { hostileGrader, secret, single, task } from '../fixtures/hostile';

const { grade, outside } = hostileGrader();

it('does not score an equal-to-everything object in paper mode either', async () => {
  const answer = 'class A:\n    def __eq__(self, other): return True\ndef f(x): return A()';
  const result = await grade(answer, task, 'paper');
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
  'a signal': 'import signal, os\ndef f(x): signal.raise_signal(signal.SIGTERM)',
  'endless recursion in C': 'class A:\n    def __repr__(self): return repr(self)\ndef f(x): return repr(A())',
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

it.each(Object.entries(endless))('stops %s', async (_name, answer) => {
  const result = await grade(answer, single);
  expect(result).toMatchObject({ reward: 0, success: false });
  expect(result.tests.every(({ status }) => status === 'timed-out' || status === 'error')).toBe(true);
});

it.each([
  ['one huge allocation', 'def f(x): return bytearray(10 ** 10)'],
  ['a huge text', 'def f(x): return "x" * 10 ** 7'],
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

it('shows no answer the environment or the process', async () => {
  process.env.TANDEM_TEST_SECRET = 'secret';
  const result = await outside(`
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
  const result = await outside(`
import subprocess
def f(x):
    try: return "out: " + repr(subprocess.run(["id"], capture_output=True))
    except OSError: return "shut in"`);
  expect(result.tests[0]).toMatchObject({ status: 'passed' });
});

it.each(['ctypes', '_ctypes', '_testcapi', '_testinternalcapi', '_testclinic', '_xxsubinterpreters'])(
  'does not offer the module %s',
  async (name) => {
    const result = await outside(`
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
