import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { displayOf, displays, outcomes, users } from '../native-runner';
import { hostileRunner } from './hostile-runner';

describe.each(users)('a hostile answer on the native runner, which %s runs', (user) => {
  const sandbox = hostileRunner(user);

  it('loses only its own calls when it ends the interpreter', async () => {
    const calls = await outcomes(sandbox.runner, 'import os', ['1', 'os._exit(0)', '3']);
    expect(calls.map(displayOf)).toEqual([
      '1',
      'SystemExit: The code ended its interpreter (exit status 0).',
    ]);
    const [crash] = await outcomes(sandbox.runner, 'import ctypes', ['ctypes.string_at(0)']);
    expect(displayOf(crash!)).toBe('InterpreterCrash: The interpreter crashed (signal SIGSEGV).');
    const [abort] = await outcomes(sandbox.runner, 'import os', ['os.abort()']);
    expect(displayOf(abort!)).toMatch(/^InterpreterCrash: /);
    const exits = ['exec("raise SystemExit")', 'exit(0)', 'quit()'];
    for (const said of await displays(sandbox.runner, '', exits))
      expect(said).toMatch(/^(SystemExit|NameError): /);
  });

  it('is stopped when it catches everything and goes on', async () => {
    const source = [
      'import signal',
      'for number in range(1, 64):',
      '    try: signal.signal(number, lambda *_: None)',
      '    except Exception: pass',
      'def f():',
      '    while True:',
      '        try:',
      '            while True: pass',
      '        except BaseException: pass',
    ].join('\n');
    expect(await outcomes(sandbox.runner, source, ['f()'], 200)).toEqual([{ kind: 'timed-out' }]);
  });

  it('is stopped inside one long operation of C code', async () => {
    const calls = ['pow(7, 10**10**7)', '__import__("re").match("(a*)*b", "a" * 40)'];
    for (const call of calls)
      expect(await outcomes(sandbox.runner, '', [call], 200)).toEqual([{ kind: 'timed-out' }]);
  });

  it('cannot hide a loop in the destructor of a value', async () => {
    const source = [
      'class Bomb:',
      '    def __del__(self):',
      '        while True: pass',
      'def f(): return Bomb()',
    ].join('\n');
    const calls = await outcomes(sandbox.runner, source, ['f()', '1'], 200);
    expect(calls.at(-1)).toEqual({ kind: 'timed-out' });
  });

  it('gets no more memory than it is given', async () => {
    expect(await displays(sandbox.runner, '', ['len(bytes(1 << 40))', 'len([0] * (1 << 30))'])).toEqual([
      'MemoryError: ',
      'MemoryError: ',
    ]);
    const source = 'def f():\n    kept = []\n    while True: kept.append(bytearray(10_000_000))';
    expect(await displays(sandbox.runner, source, ['f()'])).toEqual(['MemoryError: ']);
  });

  it('survives no recursion without end', async () => {
    const deep = 'def f(x): return f(x + 1)';
    expect((await displays(sandbox.runner, deep, ['f(0)']))[0]).toMatch(/^RecursionError/);
    const deeper = 'import sys\nsys.setrecursionlimit(10**9)\n' + deep;
    const [outcome] = await outcomes(sandbox.runner, deeper, ['f(0)'], 500);
    expect(displayOf(outcome!)).toMatch(/^(InterpreterCrash|RecursionError|MemoryError|timed-out)/);
  });

  it('prints as much as it likes, to nobody', async () => {
    const source = [
      'import os, sys',
      'def f():',
      '    for _ in range(100): print("x" * 1_000_000)',
      '    sys.stderr.write("x" * 10_000_000)',
      '    os.write(1, b"x" * 10_000_000); os.write(2, b"x" * 10_000_000)',
      '    return "done"',
    ].join('\n');
    expect(await displays(sandbox.runner, source, ['f()', 'input()'])).toEqual([
      "'done'",
      'EOFError: EOF when reading a line',
    ]);
  });

  it('loses the whole job when it writes to the pipe of results', async () => {
    const source = [
      'import os',
      'def f():',
      '    for descriptor in range(3, 64):',
      '        try: os.write(descriptor, b"x" * 100)',
      '        except OSError: pass',
      '    return 1',
    ].join('\n');
    const said = await displays(sandbox.runner, source, ['1', 'f()', '3']);
    expect(said).toEqual(Array(3).fill('InterpreterCrash: The code has tampered with its interpreter.'));
  });

  // Code that searches the stack frames finds the function that sends results, and all its variables.
  const finds = [
    'import sys, struct',
    'def sender():',
    '    frame = sys._getframe()',
    '    while frame:',
    '        if "nonce" in frame.f_locals: return frame.f_locals',
    '        frame = frame.f_back',
  ];

  it('can say with a stolen nonce only what it could have returned', async () => {
    const source = [
      ...finds,
      'def f(text):',
      '    found = sender()',
      '    found["send"](b"r", 0, 0.0, text)',
      '    __import__("os")._exit(0)',
    ].join('\n');
    const value = '{"kind":"value","canonical":"n0x7","none":false,"display":"7"}';
    const [honest] = await outcomes(sandbox.runner, source, [`f(b'${value}')`]);
    expect(honest).toMatchObject({ kind: 'value', canonical: 'n0x7' });
    // A text cannot pose as a value that equals everything: it is compared as text or rejected.
    const [odd] = await outcomes(sandbox.runner, source, [`f(b'{"kind":"passed"}')`]);
    expect(odd).toMatchObject({ kind: 'error', type: 'InterpreterCrash' });
  });

  it('cannot answer a call twice, or out of order, or one that it was not given', async () => {
    for (const index of [0, 2, 9]) {
      const source = [
        ...finds,
        'def f():',
        `    sender()["send"](b"r", ${index}, 0.0, b'{"kind":"value","canonical":"n0x7","none":false,"display":"7"}')`,
        '    return 1',
      ].join('\n');
      const said = await displays(sandbox.runner, source, ['1', 'f()', '3']);
      expect(said).toEqual(Array(3).fill('InterpreterCrash: The code has tampered with its interpreter.'));
    }
  });

  it('does not gain time by saying that a call begins again', async () => {
    const source = [...finds, 'def f():', '    while True: sender()["send"](b"b", 0, 0.0)'].join('\n');
    const [outcome] = await outcomes(sandbox.runner, source, ['f()'], 200);
    expect(outcome).toMatchObject({ kind: 'error', type: 'InterpreterCrash' });
  });

  it('finds no other job in its memory', async ({ skip }) => {
    if (process.arch !== 'x64')
      skip('The system call that asks whether a page is readable has its x86-64 number.');
    const halves = () => [randomBytes(9).toString('hex'), randomBytes(9).toString('hex')] as const;
    const [other, own] = [halves(), halves()];
    await displays(sandbox.runner, `def f(): return "${other.join('')}"`, ['f()']);
    const source = [
      `mine = "${own.join('')}"`,
      'import ctypes',
      'libc = ctypes.CDLL(None, use_errno=True)',
      'def readable(page):', // rt_sigprocmask copies the set before it finds that it knows no such action
      '    libc.syscall(14, 99, ctypes.c_void_p(page), None, 8)',
      '    return ctypes.get_errno() != 14',
      'def found(first, second):',
      '    middle, times = int(repr(object()).split("0x")[1][:-1], 16) & ~4095, 0',
      '    for page in range(middle - 2**25, middle + 2**25, 4096):',
      '        data = ctypes.string_at(page, 4096) if readable(page) else b""',
      '        at = data.find(first)',
      '        while at >= 0:',
      '            times += data.startswith(second, at + len(first))',
      '            at = data.find(first, at + 1)',
      '    return times > 0',
    ].join('\n');
    const call = ([first, second]: readonly [string, string]) => `found(b"${first}", b"${second}")`;
    expect(await displays(sandbox.runner, source, [call(own), call(other)])).toEqual(['True', 'False']);
  });

  it('leaves no patched library behind', async () => {
    const source = [
      'import builtins, json, math, os, random, sys',
      'builtins.len = lambda x: 42',
      'math.sqrt = json.dumps = os.write = random.seed = None',
      'sys.modules["math"] = sys.modules["json"] = None',
      'def f(): return 1',
    ].join('\n');
    await outcomes(sandbox.runner, source, ['f()', 'f()']);
    const calls = ['len([1])', '__import__("math").sqrt(4)', '__import__("json").dumps(1)'];
    expect(await displays(sandbox.runner, '', calls)).toEqual(['1', '2.0', "'1'"]);
  });
});
