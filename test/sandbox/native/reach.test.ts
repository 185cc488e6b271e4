import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { displayOf, displays, jobOf, librariesOf, outcomes, users } from '../native-runner';
import { hostileRunner } from './hostile-runner';

const refused =
  /^(PermissionError|FileNotFoundError|ConnectionRefusedError|ProcessLookupError|OSError|BlockingIOError|RuntimeError): /;
const repository = path.resolve(import.meta.dirname, '../../..');

describe.each(users)('what a hostile answer on the native runner reaches, which %s runs:', (user) => {
  const sandbox = hostileRunner(user);
  let libraries: readonly string[];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(sandbox.folder, 'secrets-'));
    await writeFile(path.join(folder, 'secret'), 'secret', { mode: 0o644 });
    libraries = await librariesOf(sandbox.python);
  });

  /** Expects the operating system to refuse each expression. */
  async function expectRefused(source: string, calls: readonly string[]): Promise<void> {
    for (const [index, said] of (await displays(sandbox.runner, source, calls)).entries()) {
      expect(said, calls[index]).toMatch(refused);
    }
  }

  it('reads no file but the libraries', async () => {
    await expectRefused('import os', [
      'open("/etc/passwd").read()',
      `open(${JSON.stringify(path.join(folder, 'secret'))}).read()`,
      `open(${JSON.stringify(path.join(repository, 'package.json'))}).read()`,
      `open(${JSON.stringify(path.join(repository, 'src/core/grading/native/python/answer.py'))}).read()`,
      `os.listdir(${JSON.stringify(repository)})`,
    ]);
    expect(await displays(sandbox.runner, 'import wave', ['wave.__name__'])).toEqual(["'wave'"]);
  });

  it('finds in a folder nothing but the way to the libraries, wherever they are installed', async () => {
    const folders = [
      '/',
      '/dev',
      '/etc',
      '/home',
      '/root',
      '/run',
      '/tmp',
      '/usr',
      '/var',
      homedir(),
      folder,
    ];
    const listed = folders.map((name) => `" ".join(sorted(os.listdir(${JSON.stringify(name)})))`);
    for (const [index, said] of (await displays(sandbox.runner, 'import os', listed)).entries()) {
      const above = folders[index]!.replace(/\/?$/, '/');
      const below = [...libraries, '/dev/null', '/tandem/native'].filter((file) => file.startsWith(above));
      const names = new Set(below.map((file) => file.slice(above.length).split('/')[0]!));
      if (names.size === 0) expect(said, above).toMatch(refused);
      else expect(said, above).toBe(`'${[...names].sort().join(' ')}'`);
    }
  });

  it('finds nothing under /proc, of itself or of others', async () => {
    await expectRefused('import os', [
      'open("/proc/self/environ").read()',
      'open("/proc/self/mem", "rb")',
      'open("/proc/self/maps").read()',
      'open("/proc/1/cmdline").read()',
      'os.listdir("/proc/self/fd")',
      'os.readlink("/proc/self/exe")',
    ]);
  });

  it('writes, creates, renames and removes no file', async () => {
    const secret = JSON.stringify(path.join(folder, 'secret'));
    await expectRefused('import os, tempfile', [
      `open(${secret}, "w")`,
      `open(${secret}, "a")`,
      `open(${JSON.stringify(path.join(folder, 'new'))}, "x")`,
      `os.remove(${secret})`,
      `os.rename(${secret}, ${secret} + "2")`,
      `os.chmod(${secret}, 0)`,
      `os.truncate(${secret}, 0)`,
      `os.mkdir(${JSON.stringify(path.join(folder, 'new'))})`,
      `os.symlink("/etc/passwd", ${JSON.stringify(path.join(folder, 'link'))})`,
      'tempfile.TemporaryFile()',
      'os.write(os.memfd_create("x"), b"x")',
      'os.truncate(os.memfd_create("x"), 1)',
      'os.mkdir("/new")',
      'os.mkdir("/dev/new")',
      'open("/tandem/native/answer.py", "w")',
      'open(os.__file__, "r+")',
    ]);
    expect(await readdir(folder)).toEqual(['secret']);
  });

  it('sees an empty environment', async () => {
    const source = [
      'import os, ctypes',
      'def f(): return dict(os.environ)',
      'def g():',
      '    words = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")',
      '    return words[0] if words else None',
    ].join('\n');
    expect(await displays(sandbox.runner, source, ['f()', 'g()'])).toEqual(['{}', 'None']);
  });

  it('reaches no network, not even this machine', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    let reached = false;
    server.on('connection', () => (reached = true));
    const name = `tandem-${randomBytes(6).toString('hex')}`;
    const abstract = createServer((socket) => socket.end('hello')).listen(`\0${name}`);
    await new Promise((resolve) => abstract.once('listening', resolve));
    abstract.on('connection', () => (reached = true));
    await expectRefused('import socket, urllib.request', [
      `socket.create_connection(("127.0.0.1", ${port}))`,
      `socket.socket(socket.AF_UNIX).connect("\\0${name}")`,
      'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))',
      'socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)',
    ]);
    expect(
      await displays(sandbox.runner, 'import socket', ['[name for _, name in socket.if_nameindex()]']),
    ).toEqual(["['lo']"]);
    await new Promise((resolve) => abstract.close(resolve));
    const [said] = await displays(sandbox.runner, 'import urllib.request', [
      `urllib.request.urlopen("http://127.0.0.1:${port}").read()`,
    ]);
    expect(said).toMatch(/^URLError/);
    expect(reached).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });

  it('starts no process and no thread', async () => {
    await expectRefused('import os, subprocess, threading, pty', [
      'os.fork()',
      'os.forkpty()',
      'os.posix_spawn("/bin/sh", ["sh"], {})',
      'subprocess.run(["/bin/true"])',
      'os.execv("/bin/sh", ["sh"])',
      'threading.Thread(target=print).start()',
    ]);
    expect(await displays(sandbox.runner, 'import os', ['os.system("true") == 0'])).toEqual(['False']);
  });

  it('does not get far with a fork bomb', async () => {
    const source =
      'import os\ndef f():\n    while True:\n        try: os.fork()\n        except OSError: pass';
    expect(await outcomes(sandbox.runner, source, ['f()'], 200)).toEqual([{ kind: 'timed-out' }]);
  });

  it('signals nobody but itself', async () => {
    const other = displays(sandbox.runner, 'import threading\ndef f(): return threading.Event().wait(1)', [
      'f()',
    ]);
    const process = await displays(sandbox.runner, '', ['__import__("ctypes").CDLL(None).getppid()']);
    expect(process).toEqual(['1']);
    for (const call of [
      'os.kill(1, 9)',
      'os.kill(1, signal.SIGSTOP)',
      'os.kill(1, signal.SIGINT)',
      'os.kill(-1, 9)',
      'os.killpg(0, 9)',
      'signal.pidfd_send_signal(os.pidfd_open(1), 9)',
      'ctypes.CDLL(None).raise_(9)',
    ]) {
      await outcomes(sandbox.runner, 'import os, signal, ctypes', [call]);
      expect(await displays(sandbox.runner, '', ['1'])).toEqual(['1']);
    }
    expect(await other).toEqual(['False']);
  });

  it('changes nothing for the next answer: no limit, no priority, nothing that is shared', async () => {
    const source = [
      'import ctypes, os, resource',
      'libc = ctypes.CDLL(None)',
      // The limit of addresses also holds what the interpreter itself takes, which is not always the same.
      'room = lambda: resource.getrlimit(resource.RLIMIT_AS)[0] > 2**29',
      'limits = lambda: [room() if n == resource.RLIMIT_AS else resource.getrlimit(n) for n in range(16)]',
      'state = lambda: [limits(), os.getpriority(0, 0), len(os.sched_getaffinity(0)), libc.shmget(77, 0, 0), libc.msgget(77, 0)]',
      'def lower():',
      '    for number in range(16):',
      '        try: resource.prlimit(1, number, (0, 0))',
      '        except OSError: pass',
    ].join('\n');
    const calls = ['lower()', 'os.setpriority(0, 1, 19)', 'os.sched_setaffinity(1, {0})'];
    calls.push('libc.shmget(77, 4096, 0o1666)', 'libc.msgget(77, 0o1666)');
    const before = await displays(sandbox.runner, source, ['state()']);
    expect(before[0]).toContain('True'); // there is that room
    for (const call of calls) {
      await outcomes(sandbox.runner, source, [call]);
      expect(await displays(sandbox.runner, source, ['state()']), call).toEqual(before);
    }
  });

  it('is ended when it makes memory that would outlive it', async () => {
    const source = [
      'import ctypes',
      'libc = ctypes.CDLL(None)',
      'def f():',
      '    libc.shmget(0, 4096, 0o1600)',
      '    while True: pass',
    ].join('\n');
    const [outcome] = await outcomes(sandbox.runner, source, ['f()']);
    expect(displayOf(outcome!)).toBe('InterpreterCrash: The interpreter crashed (signal SIGKILL).');
  });

  it('gets no point for ending its sandbox, and is not left out', async () => {
    const source = [
      'import os, resource, sys',
      'def f():',
      '    resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))',
      '    while True: pass',
    ].join('\n');
    const { calls } = await sandbox.runner.run(jobOf(source, ['f()', '1'], { limitMilliseconds: 300 }));
    expect(
      calls.map(displayOf).filter((said) => !/^(PermissionError|InterpreterCrash): |^1$/.test(said)),
    ).toEqual([]);
  });

  it('gets nowhere with system calls of its own', async ({ skip }) => {
    if (process.arch !== 'x64') skip('The numbers are those of x86-64.');
    const source = [
      'import ctypes, os',
      'libc = ctypes.CDLL(None, use_errno=True)',
      'def f(*arguments):',
      '    words = [a if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]',
      '    result = libc.syscall(*words)',
      '    return "refused" if result == -1 and ctypes.get_errno() in (1, 22, 28, 38) else (result, ctypes.get_errno())',
      'class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]',
      'here = ctypes.create_string_buffer(8)',
      'part = Part(ctypes.addressof(here), 8)',
      'at = ctypes.addressof(part)',
    ].join('\n');
    const calls = [
      ...['f(101, 16, 1, 0, 0)', 'f(101, 0x4206, 1, 0, 0)'], // ptrace: attach, seize
      ...['f(310, 1, at, 1, at, 1, 0)', 'f(311, 1, at, 1, at, 1, 0)'], // process_vm_readv, process_vm_writev
      'f(438, libc.syscall(434, 1, 0), 0, 0)', // pidfd_getfd of a pidfd_open
      ...['f(165, b"none", b"/", b"tmpfs", 0, 0)', 'f(161, b"/")'], // mount, chroot
      ...['f(170, b"name", 4)', 'f(164, 0, 0)', 'f(169, 0, 0, 0)'], // sethostname, settimeofday, reboot
      ...['f(246, 0, 0, 0, 0)', 'f(175, 0, 0, b"")', 'f(172, 3)'], // kexec_load, init_module, iopl
      ...['f(105, 0)', 'f(106, 0)', 'f(116, 0, 0)'], // setuid, setgid, setgroups
      'f(272, 0x20000)', // unshare: mounts
    ];
    if (user === 'nobody' || process.getuid!() !== 0) calls.push('f(272, 0x10000000)'); // unshare: users
    const said = await displays(sandbox.runner, source, calls);
    expect(Object.fromEntries(calls.map((call, index) => [call, said[index]]))).toEqual(
      Object.fromEntries(calls.map((call) => [call, "'refused'"])),
    );
  });
});
