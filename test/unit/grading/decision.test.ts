import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grade } from '../../../src/core/grading/grade';
import type { Grader } from '../../../src/core/grading/grader';
import type { Call, Job, Runner } from '../../../src/core/grading/runner';
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

const squares = 'import math\ndef f(x): return x * x';

describe('a test that decides something', () => {
  it.each([
    'f(3) > 8',
    'f(3) in [9, 10]',
    'f(3) is not None and f(3) == 9',
    'abs(f(0.5) - 0.25) < 1e-9',
    'all(f(x) == x * x for x in range(4))',
    '[f(x) > 0 for x in (1, 2) if x]',
    '(lambda got: got == 9)(f(3))',
    '(got := f(3)) > 8 and got < 10',
    '"right" if f(3) == 9 else "wrong"',
    '(f(3) == 9, "f(3) should be 9")',
    'math.isclose(f(3), 9)',
    'f(\n  3\n) > 8',
    'str(f(3)).startswith("9")',
    'isinstance(f(3), (int, float)) and f(f(2)) == 16',
  ])('%s passes what an honest answer gives, also in numbers of another type', async (call) => {
    expect(await grade(squares, [call], squares)).toMatchObject({ success: true });
    expect(await grade(squares, [call], 'def f(x): return -5')).toMatchObject({ reward: 0 });
    // An answer need not import the test's modules.
    if (!call.startsWith('str'))
      expect(await grade(squares, [call], 'def f(x): return float(x) ** 2')).toMatchObject({ success: true });
  });

  it('keeps all but its questions from the interpreter of the answer', async () => {
    const pool = await WasiPool.open({ assets: sandbox.assets, workers: 1, memoryMegabytes: 256 });
    const asked: Call[] = [];
    const watched: Runner = {
      width: 1,
      version: 'watched',
      run: (job: Job, signal) => {
        if (job.source.includes('numpy  # the answer')) asked.push(...job.calls);
        return pool.run({ ...job, source: job.source.replaceAll('import numpy', 'pass') }, signal);
      },
      close: () => pool.close(),
    };
    const both = await sandbox.open({ workers: 1, native: () => Promise.resolve(watched) });
    const task = makeTask('import numpy\ndef f(x): return x + 73040', [
      'f(1) in (73041, 5)',
      'all(f(x) == y for x, y in [(2, 73042), (3, 73043)])',
    ]);
    const answer = 'import numpy  # the answer\ndef f(x): return x + 73040.0';
    expect(await both.grade(task, answer, { mode: 'fixed' })).toMatchObject({ success: true });
    expect(JSON.stringify(asked)).toContain('f(1)');
    expect(JSON.stringify(asked)).not.toContain('7304');
  });

  it('may ask again for what only the answer makes it ask', async () => {
    const calls = ['f(1) is None or f(2) > 3', 'any(f(x) == 4 for x in (2, 5, 7))'];
    const reference = 'def f(x): return {1: None, 2: 4}.get(x)';
    expect(await grade(reference, calls, reference)).toMatchObject({ success: true });
    expect(await grade(reference, calls, 'def f(x): return x - 9')).toMatchObject({
      tests: [{ status: 'wrong' }, { status: 'wrong' }],
    });
    expect(await grade(reference, calls, 'def f(x): return {1: 0, 2: 9, 7: 4}.get(x)')).toMatchObject({
      success: true,
    });
  });

  it('asks what has a state in the order of the test', async () => {
    const source = 'made = []\ndef f():\n    made.append(1)\n    return len(made)';
    const calls = ['f() < f()', '[f() for _ in range(3)] == [1, 2, 3] and f() == 4'];
    expect(await grade(source, calls, source)).toMatchObject({ success: true });
  });

  it('takes an iterator as what it gives', async () => {
    const list = 'def f(x): return list(range(x))';
    const calls = ['sum(f(4)) > 5 and 3 in f(4)', 'sorted(f(3)) in ([0, 1, 2], [])', 'set(f(2)) <= {0, 1}'];
    for (const given of [
      '(i for i in range(x))',
      'map(int, range(x))',
      'range(x)',
      '{i: i for i in range(x)}.keys()',
    ])
      expect(await grade(list, calls, `def f(x): return ${given}`)).toMatchObject({ success: true });
  });

  it.each([
    ['of its class', 'f(1) < f(2)', { reward: null }],
    ['of its class, asked for more', 'f(2).x > 1 and f(2).twice() == 4', { success: true }],
    ['of its class, by a function', 'len(f(3)) > 2', { success: true }],
    ['of its class, by its own word', 'f(3).is_three() and isinstance(f(3), A)', { success: true }],
    ['of an Enum', 'g(1) is Color.RED and g(1) == Color.RED', { success: true }],
  ])(
    'is left to a reference that returns objects %s, and to answers alike',
    async (_what, call, expected) => {
      const source = `
import enum
class Color(enum.Enum):
    RED = 1
class A:
    def __init__(self, x): self.x = x
    def twice(self): return 2 * self.x
    def is_three(self): return self.x == 3
    def __len__(self): return self.x
def f(x): return A(x)
def g(x): return Color(x)`;
      expect(await grade(source, [call], `# The same.\n${source}`)).toMatchObject(expected);
    },
  );

  it('fails by what it does with the answer’s value', async () => {
    const { tests } = await grade(squares, ['abs(f(3)) > 8'], 'def f(x): return "nine"');
    expect(tests).toMatchObject([{ status: 'error', type: 'TypeError' }]);
  });

  it('is not passed by an object of the answer’s class where the reference gives a built-in value', async () => {
    const answer =
      'class A:\n    def __abs__(self): return self\n    def __gt__(self, _): return True\ndef f(x): return A()';
    const { tests } = await grade(squares, ['abs(f(3)) > 8'], answer);
    expect(tests).toMatchObject([{ status: 'wrong', got: 'a comparison with an object of class A' }]);
  });

  it('says that an answer which waits for ever timed out', async () => {
    const { tests } = await grade(squares, ['f(3) > 8'], 'def f(x):\n    while True: pass');
    expect(tests).toMatchObject([{ status: 'timed-out' }]);
  });
});

const values = [
  'None | True | -7 | 10 ** 40 | 0.1 | float("inf") | "é\\n\\ud800" | b"a" | bytearray(b"a") | 2 + 1j',
  '[1, (2.0, {"a": {3}})] | frozenset([1]) | range(5, 1, -2) | int | list | {"b": 1, "a": 2}',
  'decimal.Decimal("1.10") | fractions.Fraction(1, 3) | datetime.timedelta(1, 2, 3)',
  'datetime.date(2024, 2, 29) | datetime.datetime(2024, 1, 1, 2, tzinfo=datetime.timezone.utc)',
  'datetime.time(1, 2) | collections.Counter("aab") | collections.deque([1])',
  'collections.OrderedDict(b=1, a=2) | collections.defaultdict(list, a=[1])',
  '{1: 2}.keys() | {1: 2}.values() | {1: 2}.items()',
].flatMap((line) => line.split(' | '));

it.each(values)('%s leaves the interpreter as the value and the type that it is', async (value) => {
  const source = `import collections, datetime, decimal, fractions\ndef f(): return ${value}`;
  const described = `(lambda got: (type(got) is type(${value}), repr(got) == repr(${value})))(f())`;
  const found = await grade(source, [described], source);
  expect(found).toMatchObject({ success: true });
  // The test checks more than the bare call's result: an answer of another type gets no reward.
  const other = await grade(source, [described], `${source.replace('return', 'return [')}]`);
  expect(other).toMatchObject({ reward: 0 });
});
