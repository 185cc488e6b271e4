import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

/** Correct programs whose recursion passes through C code of the interpreter at every level. */
const recursions: Record<string, string> = {
  'a cached function': `
from functools import lru_cache
@lru_cache(None)
def f(x): return 0 if x == 0 else 1 + f(x - 1)`,
  'a context manager': `
import contextlib, sys
sys.setrecursionlimit(20000)
@contextlib.contextmanager
def inside(x):
    if x == 0: yield 0
    else:
        with inside(x - 1) as depth: yield depth + 1
def f(x):
    with inside(x) as depth: return depth`,
  'a data class': `
import dataclasses, sys
sys.setrecursionlimit(20000)
@dataclasses.dataclass(frozen=True)
class Node: child: object
def f(x):
    one = other = None
    for _ in range(x): one, other = Node(one), Node(other)
    return x if one == other and hash(one) == hash(other) and repr(one) == repr(other) else -1`,
  'a class that builds its child': `
class Node:
    def __init__(self, depth): self.child = Node(depth - 1) if depth else None
def f(x):
    node, depth = Node(x), 0
    while node.child: node, depth = node.child, depth + 1
    return depth`,
  'a key of sorted':
    'def f(x): return x if x == 0 else 1 + f(sorted([x - 1], key=f)[0]) if x % 50 == 0 else x',
  __eq__: `
class Node:
    def __init__(self, child): self.child = child
    def __eq__(self, other): return self.child == other.child
def f(x):
    one = other = None
    for _ in range(x): one, other = Node(one), Node(other)
    return x if one == other else -1`,
};

/** Programs that recurse without end and expect Python's error. */
const endless: Record<string, string> = {
  'a function': 'def g(): return g()',
  'a key of sorted': 'def h(x): return sorted([x], key=h)\ndef g(): return h(0)',
  'a class that builds its child': 'class A:\n    def __init__(self): self.child = A()\ndef g(): return A()',
  'a repr': 'class A:\n    def __repr__(self): return repr(self)\ndef g(): return repr(A())',
};

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

const depths = makeTask('def f(x): return x', ['f(10)', 'f(300)', 'f(900)']);

it.each(Object.entries(recursions))('runs a deep recursion through %s', async (_name, answer) => {
  expect(await grader.grade(depths, answer, { mode: 'fixed' })).toMatchObject({ reward: 1, success: true });
});

it.each(Object.entries(endless))(
  'raises RecursionError in an endless recursion of %s',
  async (_name, code) => {
    const task = makeTask('def f(x): return "too deep"', ['f(1)', 'f(2)']);
    const caught = `${code}\ndef f(x):\n    try: return g()\n    except RecursionError: return "too deep"`;
    expect(await grader.grade(task, caught, { mode: 'fixed' })).toMatchObject({ success: true });
    const uncaught = await grader.grade(task, `${code}\ndef f(x): return g()`, { mode: 'fixed' });
    expect(uncaught.tests[0]).toMatchObject({ status: 'error', type: 'RecursionError' });
  },
);

it('leaves nothing of a deep stack for the next answer', async () => {
  const task = makeTask('def f(x): return 0', ['f(1)']);
  const deep =
    'import functools\n@functools.lru_cache(None)\ndef g(x): return g(x + 1)\ndef f(x):\n    try: return g(0)\n    except RecursionError: return 0';
  await grader.grade(task, deep, { mode: 'fixed' });
  // The answer inspects the host's stack object; only its end, where the answer runs, is in use.
  const look = `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__code__.co_filename == "tandem/driver.py":
            stack = one.__globals__["stack"]
            unused = len(stack) - 500_000
            return unused - stack.count(0, 0, unused)`;
  expect(await grader.grade(task, look, { mode: 'fixed' })).toMatchObject({ success: true });
});
