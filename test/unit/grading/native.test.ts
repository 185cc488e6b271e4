import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createNativeRunner,
  type NativeRunner,
  type Unavailable,
} from '../../../src/core/grading/native/native';
import { eventually } from '../../fixtures/eventually';
import { canonicalOf, displays, files, jobOf, openRunner, outcomes, python } from './native-runner';

describe('the native runner', () => {
  let opened: Awaited<ReturnType<typeof openRunner>>;
  let runner: NativeRunner;

  beforeAll(async () => {
    opened = await openRunner([]);
    if ('runner' in opened) runner = opened.runner;
  });
  beforeEach((context) => {
    if ('missing' in opened) context.skip(opened.missing);
  });
  afterAll(async () => {
    if ('runner' in opened) await opened.runner.close();
  });

  it('always has a system call filter and something that keeps files from the code', () => {
    expect(runner.walls).toContain('seccomp');
    expect(runner.walls.includes('landlock') || runner.walls.includes('library root')).toBe(true);
  });

  it('evaluates every call on a module of its own', async () => {
    const source = 'seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)';
    expect(await displays(runner, source, ['f(1)', 'f(2)'])).toEqual(['1', '1']);
  });

  it('leaves out the calls before the first one asked for', async () => {
    const job = jobOf('def f(x): return x * 10', ['f(1)', 'f(2)', 'f(3)'], { start: 1 });
    const { calls } = await runner.run(job);
    expect(calls.map(canonicalOf)).toEqual(['n0x14', 'n0x1e']);
  });

  it('hides top-level names from functions in paper mode', async () => {
    const job = jobOf('rate = 2\ndef f(x): return x * rate', ['f(1)']);
    const fixed = await runner.run(job);
    const paper = await runner.run({ ...job, mode: 'paper' });
    expect(fixed.calls[0]).toMatchObject({ kind: 'value', display: '2' });
    expect(paper.calls[0]).toMatchObject({ kind: 'error', type: 'NameError' });
  });

  it('says type, message and line of an error', async () => {
    expect(await outcomes(runner, 'def f(x):\n    return x / 0', ['f(1)'])).toEqual([
      { kind: 'error', type: 'ZeroDivisionError', message: 'division by zero', line: 2 },
    ]);
  });

  it('reports a syntax error at every call', async () => {
    const calls = await outcomes(runner, 'def f(x)\n    return x', ['f(1)', 'f(2)']);
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(call).toMatchObject({ kind: 'error', type: 'SyntaxError', line: 1 });
  });

  it('names a module that is not there', async () => {
    const [call] = await outcomes(runner, 'import no_such_library.part\ndef f(x): return x', ['f(1)']);
    expect(call).toMatchObject({ kind: 'error', missingModule: 'no_such_library' });
  });

  it('ends the job at the first call that takes too long and keeps what came before', async () => {
    const source = 'def f(x):\n    while x: pass\n    return x';
    const calls = await outcomes(runner, source, ['f(0)', 'f(1)', 'f(0)'], 200);
    expect(calls.map((call) => call.kind)).toEqual(['value', 'timed-out']);
  });

  it('does not count waiting as computing, but ends a call that only waits', async () => {
    const source = 'import threading, time\ndef f(x):\n    threading.Event().wait(x)\n    return x';
    expect(await outcomes(runner, source, ['f(0.3)', 'time.sleep(0.3)'], 100)).toMatchObject([
      { kind: 'value' },
      { kind: 'value' },
    ]);
    expect(await outcomes(runner, source, ['f(600)'], 100)).toEqual([{ kind: 'timed-out' }]);
    expect(await outcomes(runner, source, ['time.sleep(600)'], 100)).toEqual([{ kind: 'timed-out' }]);
  });

  it('takes the time by the clock on the wall when the caller will check a time-out again', async () => {
    const source = 'import threading\ndef f(x): threading.Event().wait(x)';
    const job = jobOf(source, ['f(0.5)'], { limitMilliseconds: 100, provisional: true });
    expect((await runner.run(job)).calls).toEqual([{ kind: 'timed-out' }]);
  });

  it('counts the compilation of the source as part of the first call', async () => {
    const source = `x = ${'('.repeat(150)}1${')'.repeat(150)}\n`.repeat(40_000);
    expect(await outcomes(runner, source, ['1'], 50)).toEqual([{ kind: 'timed-out' }]);
  });

  it('draws the same random numbers for a reference and an answer', async () => {
    const source = 'import random\ndef f(): return random.random()';
    const [first, second] = await Promise.all([
      outcomes(runner, source, ['f()']),
      outcomes(runner, source + '\n# another text', ['f()']),
    ]);
    expect(first.map(canonicalOf)).toEqual(second.map(canonicalOf));
  });

  it('has the same clock and the same randomness for a reference and an answer, whatever the day', async () => {
    const source =
      'import datetime, email.utils, logging, os, random, resource, secrets, threading, time, timeit, uuid';
    const calls = [
      'time.time()',
      '[time.time_ns(), time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time_ns()]',
      '[time.ctime(), time.asctime(), time.strftime("%c"), list(time.localtime()), list(time.gmtime())]',
      '[time.clock_gettime(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC), timeit.default_timer()]',
      '[datetime.datetime.now(), datetime.datetime.utcnow(), datetime.datetime.today(), datetime.date.today()]',
      'datetime.datetime.now(datetime.timezone.utc)',
      '[str(uuid.uuid1()), str(uuid.uuid4())]',
      '[secrets.token_hex(), secrets.choice(range(10 ** 9))]',
      '[os.urandom(9), random.Random().random(), random.SystemRandom().random(), random.seed(), random.random()]',
      'email.utils.formatdate()',
      '[os.getpid(), os.getppid(), threading.get_ident(), threading.get_native_id(), threading.current_thread().ident]',
      '[list(os.times()), list(resource.getrusage(resource.RUSAGE_SELF))]',
      '[logging.makeLogRecord({}).created, logging.LogRecord("a", 1, "b", 1, "c", (), None).process]',
      '[id(each) for each in ([], {}, int)]',
      '[hash("a"), list({"ab", "cd", "ef"})]',
    ];
    const first = await outcomes(runner, source, calls);
    const second = await outcomes(runner, source + '\nanother = 1', calls);
    expect(second.map(canonicalOf)).toEqual(first.map(canonicalOf));
    expect(first.map(canonicalOf)).not.toContain(null);
    const [day] = await displays(runner, source, ['str(datetime.datetime.now(datetime.timezone.utc))[:16]']);
    expect(day).toBe("'2025-01-01 12:00'");
  });

  it('starts the clock and the randomness anew for each call, and moves the clock by a sleep', async () => {
    const source = 'import time, os, datetime\ndef f(): return [time.time(), os.urandom(4)]';
    const [one] = (await runner.run(jobOf(source, ['f()', 'f()']))).calls.slice(1);
    const [other] = (await runner.run(jobOf(source, ['f()', 'f()'], { start: 1 }))).calls;
    expect(canonicalOf(one!)).toEqual(canonicalOf(other!));
    const slept =
      'def g():\n    start = time.time()\n    time.sleep(0.5)\n    return 0.5 <= time.time() - start < 0.6';
    expect(await displays(runner, `${source}\n${slept}`, ['g()'])).toEqual(['True']);
    expect(await displays(runner, source, ['type(datetime.datetime.now()) is datetime.datetime'])).toEqual([
      'True',
    ]);
  });

  it('puts the elements of a set in the same order in every process', async () => {
    const other = await openRunner([]);
    if ('missing' in other) throw new Error(other.missing);
    try {
      const source = 'def f(): return list({"ab", "cd", "ef", "gh", "ij", "kl"})';
      const here = await outcomes(runner, source, ['f()']);
      const there = await outcomes(other.runner, source, ['f()']);
      expect(there.map(canonicalOf)).toEqual(here.map(canonicalOf));
    } finally {
      await other.runner.close();
    }
  });

  it('takes sources longer than a pipe holds', async () => {
    const source = `text = "${'x'.repeat(300_000)}"\ndef f(): return len(text)`;
    expect(await displays(runner, source, ['f()'])).toEqual(['300000']);
  });

  it('runs many jobs at once and mixes none of them up', async () => {
    const jobs = Array.from({ length: 40 }, (_, n) => displays(runner, `def f(): return ${n}`, ['f()']));
    expect(await Promise.all(jobs)).toEqual(Array.from({ length: 40 }, (_, n) => [String(n)]));
  });

  it('stops a job whose signal is aborted, running or waiting', async () => {
    const stop = new AbortController();
    const job = jobOf('while True: pass', ['1'], { limitMilliseconds: 60_000 });
    const jobs = Array.from({ length: runner.width + 2 }, () => runner.run(job, stop.signal));
    const settled = Promise.allSettled(jobs);
    setTimeout(() => stop.abort(new Error('enough')), 100);
    for (const result of await settled) {
      expect(result).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
    }
    expect(await displays(runner, 'def f(): return 1', ['f()'])).toEqual(['1']);
  });

  it('gives a version that is the same whenever the same Python runs', async () => {
    const other = await openRunner([]);
    if ('missing' in other) throw new Error(other.missing);
    expect(other.runner.version).toBe(runner.version);
    await other.runner.close();
  });
});

describe('the processes of the native runner', () => {
  // Every process of one runner is a fork of a process with this word on its command line.
  const mark = `none_${randomBytes(6).toString('hex')}`;
  let runner: NativeRunner;

  beforeEach(async ({ skip }) => {
    const opened = await createNativeRunner({ ...files, python, required: [], optional: [mark] });
    if ('unavailable' in opened) return skip(opened.unavailable);
    runner = opened;
  });

  const processes = async (): Promise<number[]> => {
    const found: number[] = [];
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''); // it has ended meanwhile
      if (command.includes(mark)) found.push(Number(name));
    }
    return found;
  };

  it('are gone when the runner is closed, whatever they were doing', async () => {
    const job = runner.run(jobOf('while True: pass', ['1'], { limitMilliseconds: 60_000 }));
    const ended = expect(job).rejects.toThrow();
    await eventually(async () => expect((await processes()).length).toBeGreaterThan(2));
    await runner.close();
    await ended;
    await eventually(async () => expect(await processes()).toEqual([]));
  });

  it('are gone when the server is killed, and its job runs again on a new one', async () => {
    const job = runner.run(jobOf('import threading\ndef f(): threading.Event().wait(0.5)', ['f()']));
    const old = await processes();
    process.kill(Math.min(...old), 'SIGKILL'); // the first of them is the server
    expect((await job).calls).toMatchObject([{ kind: 'value', none: true }]);
    await eventually(async () => {
      const now = await processes();
      expect(old.filter((id) => now.includes(id))).toEqual([]);
    });
    await runner.close();
  });

  it('go on when a job is cancelled whose result has just come', async () => {
    const stop = new AbortController();
    // The server, the one that is forked from, and the child that waits for a job.
    await eventually(async () => expect((await processes()).length).toBe(3));
    const server = Math.min(...(await processes()));
    const job = runner.run(jobOf('def f():\n  for _ in range(20_000_000): pass', ['f()']), stop.signal);
    const cancelled = expect(job).rejects.toThrow('enough');
    // The server has taken the job when there is another child that waits for the next one.
    await eventually(async () => expect((await processes()).length).toBe(4));
    process.kill(server, 'SIGSTOP');
    stop.abort(new Error('enough'));
    const next = displays(runner, 'def f(): return 1', ['f()']);
    // The child has ended, with its result in its pipe: the server finds all three at once.
    await eventually(async () => expect((await processes()).length).toBe(3));
    process.kill(server, 'SIGCONT');
    expect(await next).toEqual(['1']);
    expect(await processes()).toContain(server);
    await cancelled;
    await runner.close();
  });
});

describe('a machine without what the native runner needs', () => {
  const unavailable = async (options: { python?: string; required?: readonly string[] }) => {
    const runner = await createNativeRunner({ ...files, ...options, optional: [] });
    return 'unavailable' in runner ? runner.unavailable : 'available';
  };

  it('says that there is no interpreter of that name', async ({ skip }) => {
    if (process.platform !== 'linux') skip('The native runner is for Linux only.');
    expect(await unavailable({ python: 'no-such-python' })).toMatch(/no-such-python could not be started/);
  });

  it('says which module is missing and for which interpreter to install it', async ({ skip }) => {
    if (process.platform !== 'linux') skip('The native runner is for Linux only.');
    expect(await unavailable({ python, required: ['no_such_library'] })).toMatch(
      /cannot import no_such_library .*: install no_such_library for it\.$/,
    );
  });
});

describe('the native runner on a kernel that refuses some of its walls', () => {
  // Numbers of the system calls: x86-64, aarch64.
  const calls = { unshare: [272, 97], mount: [165, 40], landlock: [444, 444] } as const;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tandem-'));
  });
  beforeEach(({ skip }) => {
    if (process.platform !== 'linux') skip('The native runner is for Linux only.');
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Opens the runner with an interpreter to which the system calls are refused. */
  async function openWithout(...names: (keyof typeof calls)[]): Promise<NativeRunner | Unavailable> {
    const numbers = names.map((name) => calls[name][process.arch === 'x64' ? 0 : 1]);
    const wrapper = path.join(folder, names.join('-'));
    const refuse = path.join(import.meta.dirname, 'native-refuse.py');
    await writeFile(wrapper, `#!/bin/sh\nexec ${python} ${refuse} ${numbers.join()} ${python} "$@"\n`, {
      mode: 0o755,
    });
    return createNativeRunner({ ...files, python: wrapper, required: [], optional: [] });
  }

  for (const refused of [['unshare'], ['mount'], ['landlock']] as const) {
    it(`still keeps answers from files, processes and the network without ${refused[0]}`, async ({
      skip,
    }) => {
      const runner = await openWithout(...refused);
      if ('unavailable' in runner) return skip(runner.unavailable);
      try {
        expect(runner.walls).not.toContain(refused[0] === 'landlock' ? 'landlock' : 'library root');
        const source = 'import os, socket\ndef f(): return 1';
        const said = await displays(runner, source, [
          'f()',
          'open("/etc/passwd")',
          'open("/tmp/answer", "w")',
          'os.fork()',
          'os.kill(os.getppid(), 9)',
          'socket.socket()',
        ]);
        expect(said[0]).toBe('1');
        for (const refusal of said.slice(1))
          expect(refusal).toMatch(/^(PermissionError|FileNotFoundError|OSError): /);
      } finally {
        await runner.close();
      }
    });
  }

  it('is not there when nothing would keep answers from files', async () => {
    const runner = await openWithout('unshare', 'landlock');
    expect(runner).toMatchObject({
      unavailable: expect.stringMatching(
        /^Neither landlock nor a private root folder .* Use a Linux kernel/,
      ) as string,
    });
  });
});
