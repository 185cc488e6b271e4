import { chmod, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JsonLine, type JsonLinesOptions, readJsonLines } from '../../../src/core/task/jsonl';
import { inFolder, written } from '../../fixtures/tasks';

async function linesOf(content: string | Uint8Array, options?: JsonLinesOptions): Promise<JsonLine[]> {
  return inFolder(async (folder) => all(await written(folder, 'rows.jsonl', content), options));
}

async function all(file: string, options?: JsonLinesOptions): Promise<JsonLine[]> {
  const lines: JsonLine[] = [];
  for await (const line of readJsonLines(file, options)) lines.push(line);
  return lines;
}

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

test('each line is one value, numbered from 1, and the last needs no line feed', async () => {
  expect(await linesOf('{"a":1}\n[2]\n"three"')).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 2, value: [2] },
    { line: 3, value: 'three' },
  ]);
});

test('blank lines are passed over and still counted', async () => {
  expect(await linesOf('\n1\n  \t\n\n2\n\n')).toEqual([
    { line: 2, value: 1 },
    { line: 5, value: 2 },
  ]);
});

test('an empty file has no lines', async () => {
  expect(await linesOf('')).toEqual([]);
});

test('a byte-order mark and carriage returns are no part of a line', async () => {
  expect(await linesOf('\uFEFF{"a":1}\r\n\r\n{"b":"é"}\r\n')).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 3, value: { b: 'é' } },
  ]);
});

test('a file that is only a byte-order mark has no lines', async () => {
  expect(await linesOf('\uFEFF')).toEqual([]);
});

test('a line that is not JSON is reported with what the parser says, and the next is read', async () => {
  const [bad, good] = await linesOf('{"a":1\n{"b":2}\n');
  expect(bad).toMatchObject({
    line: 1,
    reason: expect.stringMatching(/^The line is not JSON: .+\.$/) as string,
  });
  expect(good).toEqual({ line: 2, value: { b: 2 } });
});

test('invalid UTF-8 is reported for its line only', async () => {
  expect(await linesOf(bytes('"ok"\n"', [0xc3, 0x28], '"\n"é"\n'))).toEqual([
    { line: 1, value: 'ok' },
    { line: 2, reason: 'The line is not valid UTF-8; save the file as UTF-8.' },
    { line: 3, value: 'é' },
  ]);
});

test('a character or a line that two reads share arrives whole', async () => {
  const long = 'é'.repeat(300_000); // 600,000 bytes; with one byte in front every read ends inside a character
  expect(await linesOf(`"a"\n${JSON.stringify(long)}\n"b"`)).toEqual([
    { line: 1, value: 'a' },
    { line: 2, value: long },
    { line: 3, value: 'b' },
  ]);
});

test('the limit counts the bytes of a line without its line feed', async () => {
  expect(await linesOf('"123"\n"1234"\n"é1"\n"1234"', { maxLineBytes: 5 })).toEqual([
    { line: 1, value: '123' },
    { line: 2, reason: 'The line is 6 bytes long, over the limit of 5 bytes, and is left out.' },
    { line: 3, value: 'é1' },
    { line: 4, reason: 'The line is 6 bytes long, over the limit of 5 bytes, and is left out.' },
  ]);
});

test('a line of 50 MB is reported, is never held, and does not stop the lines around it', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'rows.jsonl');
    const handle = await open(file, 'w');
    const piece = Buffer.alloc(1024 * 1024, 'x');
    await handle.write('1\n');
    for (let megabytes = 0; megabytes < 50; megabytes += 1) await handle.write(piece);
    await handle.write('\n2\n');
    await handle.close();
    // Memory of earlier test files in this process does not count.
    const before = process.memoryUsage().arrayBuffers;
    let held = 0;
    const lines: JsonLine[] = [];
    for await (const line of readJsonLines(file)) {
      lines.push(line);
      held = Math.max(held, process.memoryUsage().arrayBuffers - before);
    }
    expect(lines).toEqual([
      { line: 1, value: 1 },
      {
        line: 2,
        reason: 'The line is 52,428,800 bytes long, over the limit of 16,777,216 bytes, and is left out.',
      },
      { line: 3, value: 2 },
    ]);
    expect(held).toBeLessThan(40 * 1024 * 1024);
  });
});

test('a missing file, a missing folder and a folder are told apart', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'none.jsonl');
    await expect(all(file)).rejects.toMatchObject({
      name: 'Fault',
      code: 'task/no-file',
      message: `${file} does not exist; check the path.`,
    });
    const deep = join(folder, 'gone', 'none.jsonl');
    await expect(all(deep)).rejects.toMatchObject({
      code: 'task/no-file',
      message: `The folder ${join(folder, 'gone')} of ${deep} does not exist; check the path.`,
    });
    await mkdir(join(folder, 'sub'));
    await expect(all(join(folder, 'sub'))).rejects.toMatchObject({
      code: 'task/is-folder',
      message: `${join(folder, 'sub')} is a folder; name a JSON-lines file in it.`,
    });
  });
});

test('a file without permission to read says so', async () => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'secret.jsonl', '1\n');
    await chmod(file, 0);
    await chmod(folder, 0o755);
    await asOrdinaryUser(async () => {
      await expect(all(file)).rejects.toMatchObject({
        code: 'task/no-permission',
        message: `${file} may not be read; give yourself permission to read it.`,
      });
    });
  });
});

/** Runs a check as the user `nobody`, because root may read everything. */
async function asOrdinaryUser(check: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return check();
  process.seteuid?.(65534);
  try {
    await check();
  } finally {
    process.seteuid?.(0);
  }
}

test.each([
  ['UTF-16', [0xff, 0xfe, 0x31, 0], 'is in UTF-16; save it as UTF-8.'],
  ['gzip', [0x1f, 0x8b, 8, 0], 'is compressed; unpack it first.'],
])('a %s file is refused as a whole, with the remedy', async (_, start, message) => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'rows.jsonl', Uint8Array.from(start));
    await expect(all(file)).rejects.toMatchObject({
      code: 'task/not-json-lines',
      message: `${file} ${message}`,
    });
  });
});

test('an aborted signal ends the reading with its reason', async () => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'rows.jsonl', '1\n'.repeat(500_000));
    const controller = new AbortController();
    const reason = new Error('enough');
    let read = 0;
    const reading = async (): Promise<void> => {
      for await (const { line } of readJsonLines(file, { signal: controller.signal })) {
        read = line;
        if (line === 10) controller.abort(reason);
      }
    };
    await expect(reading()).rejects.toBe(reason);
    expect(read).toBeLessThan(500_000);
    await expect(all(file, { signal: controller.signal })).rejects.toBe(reason);
  });
});
