import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createNativeRunner, type NativeRunner } from '../../../src/core/grading/native/native';
import { messageOf } from '../../../src/core/fault';
import { eventually } from '../../fixtures/eventually';
import { canonicalOf, displays, files, jobOf, openRunner, outcomes, python } from '../native-runner';

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

  it('evaluates every call on a module of its own', async () => {
    const source = 'seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)';
    expect(await displays(runner, source, ['f(1)', 'f(2)'])).toEqual(['1', '1']);
  });

  it('hides top-level names from functions in paper mode', async () => {
    const job = jobOf('rate = 2\ndef f(x): return x * rate', ['f(1)']);
    const fixed = await runner.run(job);
    const paper = await runner.run({ ...job, mode: 'paper' });
    expect(fixed.calls[0]).toMatchObject({ kind: 'value', display: '2' });
    expect(paper.calls[0]).toMatchObject({ kind: 'error', type: 'NameError' });
  });

  it('names a module that is not there', async () => {
    const [call] = await outcomes(runner, 'import no_such_library.part\ndef f(x): return x', ['f(1)']);
    expect(call).toMatchObject({ kind: 'error', missingModule: 'no_such_library' });
  });

  it('ends the job at the first call that takes too long and keeps what came before', async () => {
    const source = 'def f(x):\n    while x: pass\n    return x';
    const calls = await outcomes(runner, source, ['f(0)', 'f(1)', 'f(0)'], 2_000);
    expect(calls.map((call) => call.kind)).toEqual(['value', 'timed-out']);
  });

  it('does not count waiting as computing, but ends a call that only waits', async () => {
    const source = 'import threading, time\ndef f(x):\n    threading.Event().wait(x)\n    return x';
    // The limits are less than the waits, and far more than what the calls compute.
    expect(await outcomes(runner, source, ['f(2.5)'], 2_000)).toMatchObject([{ kind: 'value' }]);
    expect(await outcomes(runner, source, ['time.sleep(0.9)'], 800)).toMatchObject([{ kind: 'value' }]);
    expect(await outcomes(runner, source, ['f(600)'], 100)).toEqual([{ kind: 'timed-out' }]);
    expect(await outcomes(runner, source, ['time.sleep(600)'], 100)).toEqual([{ kind: 'timed-out' }]);
  });

  it('takes the time by the clock on the wall when the caller will check a time-out again', async () => {
    const source = 'import threading\ndef f(x): threading.Event().wait(x)';
    // By the other clock it would end before the time is up.
    const job = jobOf(source, ['f(20)'], { limitMilliseconds: 3_000, provisional: true });
    expect((await runner.run(job)).calls).toEqual([{ kind: 'timed-out' }]);
  });

  it('counts the compilation of the source as part of the first call', async () => {
    const source = `x = ${'('.repeat(150)}1${')'.repeat(150)}\n`.repeat(40_000);
    expect(await outcomes(runner, source, ['1'], 50)).toEqual([{ kind: 'timed-out' }]);
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
  // The number of bytes identifies the runner's processes, because it is on their command lines.
  const memoryBytes = 2 ** 29 + randomInt(2 ** 28);
  let runner: NativeRunner;

  beforeEach(async ({ skip }) => {
    const opened = await openRunner([], { memoryBytes, width: 1 });
    if ('missing' in opened) return skip(opened.missing);
    runner = opened.runner;
  });

  const processes = async (): Promise<number[]> => {
    const found: number[] = [];
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''); // it has ended meanwhile
      if (command.includes(String(memoryBytes))) found.push(Number(name));
    }
    return found.sort((a, b) => a - b);
  };

  it('are gone when the runner is closed, whatever they were doing', async () => {
    const job = runner.run(jobOf('while True: pass', ['1'], { limitMilliseconds: 60_000 }));
    const ended = expect(job).rejects.toThrow();
    // The three processes are bubblewrap, the fork server and the child.
    await eventually(async () => expect((await processes()).length).toBe(3));
    await runner.close();
    await ended;
    await eventually(async () => expect(await processes()).toEqual([]));
  });

  it.each([0, 1])(
    'are gone when one of them is killed, and its job runs again in new ones',
    async (which) => {
      const job = runner.run(jobOf('import threading\ndef f(): threading.Event().wait(0.5)', ['f()']));
      await eventually(async () => expect((await processes()).length).toBe(3));
      const old = await processes();
      process.kill(old[which]!, 'SIGKILL');
      expect((await job).calls).toMatchObject([{ kind: 'value', none: true }]);
      await eventually(async () => {
        const now = await processes();
        expect(old.filter((id) => now.includes(id))).toEqual([]);
      });
      await runner.close();
    },
  );

  it('go on when a job is cancelled, also before it was read and when its result is about to come', async () => {
    const [first] = await processes();
    const long = `text = "${'x'.repeat(300_000)}"\ndef f(): return 1`;
    for (let turns = 0; turns < 30; turns++) {
      const stop = new AbortController();
      const job = runner.run(jobOf(long, ['f()']), stop.signal).catch(messageOf);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      stop.abort(new Error('enough'));
      if (turns === 0) expect(await job).toBe('enough');
      await job;
      expect(await displays(runner, 'def f(): return 2', ['f()'])).toEqual(['2']);
    }
    expect(await processes()).toContain(first);
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

describe('a machine whose bubblewrap keeps no promises', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tandem-'));
  });
  beforeEach(async (context) => {
    if (process.platform !== 'linux') context.skip('The native runner is for Linux only.');
    const opened = await openRunner([]);
    if ('missing' in opened) return context.skip(opened.missing);
    await opened.runner.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Returns the runner's sentence with another program in place of bubblewrap. */
  async function saidWith(name: string, script: string): Promise<string> {
    const bubblewrap = path.join(folder, name);
    await writeFile(bubblewrap, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
    const opened = await openRunner([], { bubblewrap });
    if ('runner' in opened) await opened.runner.close();
    return 'missing' in opened ? opened.missing : 'available';
  }

  it('says what to install when there is none', async () => {
    const opened = await openRunner([], { bubblewrap: path.join(folder, 'no-such-bwrap') });
    expect(opened).toEqual({
      missing: expect.stringMatching(/not installed here: install the package bubblewrap/) as string,
    });
  });

  it('says what to allow when the kernel refuses to mount', async ({ skip }) => {
    if (process.arch !== 'x64') skip('The number of the system call is that of x86-64.');
    const refuse = path.join(import.meta.dirname, 'refuse.py');
    expect(await saidWith('no-mounts', `exec ${python} ${refuse} 165 bwrap "$@"`)).toMatch(
      /cannot build its sandbox here \(bwrap: .*\): use bubblewrap 0.8 or newer, and let it make user namespaces/,
    );
  });

  it('is refused when a file, the network or the processes of the machine can be seen', async () => {
    const also = (more: string): string =>
      `options=(); for o; do [ "$o" = --remount-ro ] && options+=(${more}); options+=("$o"); done; exec bwrap "\${options[@]}"`;
    expect(await saidWith('files', also('--ro-bind /etc/passwd /etc/passwd'))).toMatch(
      /\(a process inside could read a file outside the libraries\)/,
    );
    expect(await saidWith('processes', also('--proc /proc'))).toMatch(/could look at other processes/);
  });
});
