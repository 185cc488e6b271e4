import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hostileGrader, secret, single } from '../../fixtures/hostile';
import { temporaryFolder } from '../../fixtures/log';

const { grade, outside } = hostileGrader();

const forgeries: Record<string, string> = {
  'an object that equals everything': `
class Everything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def f(x): return Everything()`,
  'reading the expected value from callers': `
import sys
def f(x):
    frame, found = sys._getframe(), []
    while frame is not None:
        for values in (frame.f_locals, frame.f_globals):
            found += [value for value in values.values() if isinstance(value, list) and "${secret.slice(0, 8)}" in str(value)]
        frame = frame.f_back
    return found[0]`,
  'looking for the expected value among all objects': `
import gc
def f(x):
    for one in gc.get_objects():
        for found in (one, gc.get_referrers(one)):
            if type(found) is list and len(found) == 3 and found[0:1] == ["expected" + "-value-that-only-the-reference-knows"]:
                return found
    return None`,
  'writing results to every file descriptor': `
import os
def f(x):
    forged = b'{"kind":"value","canonical":"[s\\\\"${secret}\\\\",n0x1,n0x2]","none":false,"display":"1"}'
    for descriptor in range(64):
        for line in (forged, b'[0,"V","n0x1"]\\n'):
            try: os.write(descriptor, line)
            except OSError: pass
    return None`,
  'a patched len, repr, sorted and hash': `
import builtins
def f(x):
    for name in ("len", "repr", "sorted", "hash", "type", "isinstance", "hex", "map", "set", "zip", "str", "int"):
        setattr(builtins, name, lambda *_, **__: "${secret}")
    return 5`,
};

it.each(Object.entries(forgeries))('does not score %s', async (_name, answer) => {
  expect(await grade(answer)).toMatchObject({ reward: 0, success: false });
});

const endings: Record<string, string> = {
  'os._exit': 'import os\ndef f(x): os._exit(0)',
  'an exception whose description fails': `
class Bad(BaseException):
    def __str__(self): raise Bad()
    __traceback__ = property(lambda self: 1 / 0)
def f(x): raise Bad()`,
  'endless recursion': 'def f(x): return f(x)',
  'crafted bytecode that writes past the stack': `
def g(): pass
def f(x):
    g.__code__ = g.__code__.replace(co_code=bytes([124, 200, 125, 250] * 2000 + [83, 0]), co_stacksize=1, co_nlocals=0, co_varnames=())
    return g()`,
};

it.each(Object.entries(endings))('survives %s', async (_name, answer) => {
  const result = await grade(answer);
  expect(result).toMatchObject({ reward: 0, success: false });
});

const endless: Record<string, string> = {
  'a loop': 'def f(x):\n    while True: pass',
  'a loop that catches everything': `
def f(x):
    while True:
        try:
            while True: pass
        except BaseException: pass`,
  'a regular expression that backtracks for ever':
    'import re\ndef f(x): return re.match(r"(a+)+$", "a" * 50 + "b")',
};

it.each(Object.entries(endless))('stops %s', async (_name, answer) => {
  const result = await grade(answer, single);
  expect(result).toMatchObject({ reward: 0, success: false });
  expect(result.tests.every(({ status }) => status === 'timed-out' || status === 'error')).toBe(true);
});

it('survives memory bombs', async () => {
  const bomb = 'def f(x):\n    hoard = []\n    while True: hoard.append(bytearray(10 ** 7))';
  expect(await grade(bomb)).toMatchObject({ reward: 0, success: false });
});

it('lets no answer read or write files of the machine', async () => {
  const file = join(await temporaryFolder(), 'secret.txt');
  await writeFile(file, 'secret');
  const path = JSON.stringify(file);
  const result = await outside(`
import os, glob, pathlib, io
def f(x):
    for attempt in (
        lambda: open(${path}).read(), lambda: open("/etc/passwd").read(), lambda: open("/proc/self/environ").read(),
        lambda: os.listdir("/etc"), lambda: os.listdir("/home"), lambda: pathlib.Path(${path}).read_text(),
        lambda: open("/../../etc/passwd").read(), lambda: os.listdir("/tmp/../../home"),
        lambda: io.FileIO(3).read(), lambda: io.FileIO(4).read(), lambda: os.rmdir("/"), lambda: os.rename("/", "/tmp/x"),
        lambda: os.symlink("/etc/passwd", "/link"), lambda: os.rename(${path}, "/moved"),
    ):
        try: return "out: " + repr(attempt())
        except OSError: pass
    os.mkdir("/tmp/made-by-an-answer")
    open("/tmp/written-by-an-answer", "w").write("x")
    return "shut in"`);
  expect(result.tests[0]).toMatchObject({ status: 'passed' });
  expect(existsSync('/tmp/made-by-an-answer') || existsSync('/tmp/written-by-an-answer')).toBe(false);
});

it('lets no answer reach the network, not even this machine', async () => {
  let requests = 0;
  const server: Server = createServer((_request, response) => {
    requests++;
    response.end('out');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  await outside(`
import socket, urllib.request
def f(x):
    try: return urllib.request.urlopen("http://127.0.0.1:${port}/").read()
    except Exception: pass
    try: return socket.create_connection(("127.0.0.1", ${port}), 1)
    except Exception: return "shut in"`);
  await new Promise((closed) => server.close(closed));
  expect(requests).toBe(0);
});
