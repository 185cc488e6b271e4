import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grader } from '../../../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../../../fixtures/sandbox';

const task = makeTask('def f(x): return x', ['f(1)', 'f(2)']);

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

describe('an answer may use', () => {
  it.each([
    [
      'asyncio.run with sleeps, which take no time',
      'import asyncio\nasync def g(x):\n    await asyncio.sleep(0.3)\n    return x\nasync def all(x):\n    return (await asyncio.gather(g(x), g(x)))[0]\ndef f(x): return asyncio.run(all(x))',
    ],
    [
      'a limit of time of asyncio',
      'import asyncio\nasync def g(x):\n    try: await asyncio.wait_for(asyncio.sleep(9), 0.2)\n    except asyncio.TimeoutError: return x\ndef f(x): return asyncio.run(g(x))',
    ],
    [
      'an event loop of its own',
      'import asyncio\nasync def g(x): return x\ndef f(x):\n    loop = asyncio.new_event_loop()\n    try: return loop.run_until_complete(g(x))\n    finally: loop.close()',
    ],
    [
      'standard output as a text stream over bytes',
      'import sys\nsys.stdout.reconfigure(line_buffering=True)\ndef f(x):\n    sys.stdout.buffer.write(b"x")\n    print("é", file=sys.stderr, flush=True)\n    return x',
    ],
  ])('%s', async (_what, answer) => {
    expect(await grader.grade(task, answer, { mode: 'fixed' })).toMatchObject({ reward: 1 });
  });
});

it('stops an event loop that waits for what never comes', async () => {
  const answer =
    'import asyncio\nasync def g(): await asyncio.Event().wait()\ndef f(x): return asyncio.run(g())';
  const { tests } = await grader.grade(task, answer, { mode: 'fixed' });
  expect(tests[0]).toMatchObject({ status: 'timed-out' });
});

it.each([
  ['a pool of threads', 'threads', 'from concurrent.futures import ThreadPoolExecutor\ndef f(x): return x'],
  ['time zones', 'tzdata', 'from zoneinfo import ZoneInfo\ndef f(x): return ZoneInfo("Europe/Berlin") and x'],
])('does not score an answer that needs %s', async (_what, name, answer) => {
  const { reward, notGradable } = await grader.grade(task, answer, { mode: 'fixed' });
  expect(reward).toBeNull();
  expect(notGradable).toContain(name);
});

describe('values', () => {
  it.each([
    [
      'huge ranges',
      'def f(x): return [range(10 ** 100), range(0, 2 ** 62, 3), range(5, 0, -10 ** 30)]',
      true,
    ],
    [
      'an object whose metaclass has an equality of its own',
      'class Meta(type):\n    def __eq__(cls, other): raise ValueError\n    def __hash__(cls): raise ValueError\nclass A(metaclass=Meta): pass\ndef f(x): return [A(), A()]',
      false,
    ],
    [
      'a time in a zone whose repr fails',
      'import datetime\nclass Zone(datetime.tzinfo):\n    def utcoffset(self, when): return datetime.timedelta(0)\n    def __repr__(self): raise ValueError\ndef f(x): return datetime.time(1, tzinfo=Zone())',
      true,
    ],
  ])('include %s', async (_what, source, equal) => {
    const one = await grader.grade({ ...task, reference: source }, source, { mode: 'fixed' });
    expect(one.reward).toBe(equal ? 1 : null);
  });

  it('shorten an error message of megabytes', async () => {
    const answer = 'def f(x): raise ValueError("x" * 10 ** 7)';
    const { tests } = await grader.grade(task, answer, { mode: 'fixed' });
    expect(tests[0]).toMatchObject({ status: 'error', type: 'ValueError' });
    expect((tests[0] as { message: string }).message.length).toBeLessThan(400);
  });
});
