import { chmod, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JsonLine, type JsonLinesOptions, readJsonLines } from '../../../src/core/task/jsonl';
import { goOnWithZeros, hasPipes, putDevice, putPipe } from '../../fixtures/oddFiles';
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

test.each<[string, string, JsonLine[]]>([
  [
    'one value each, numbered from 1',
    '{"a":1}\n[2]\n"three"',
    [
      { line: 1, value: { a: 1 } },
      { line: 2, value: [2] },
      { line: 3, value: 'three' },
    ],
  ],
  [
    'blank ones count and are passed over',
    '\n1\n  \t\n\n2\n\n',
    [
      { line: 2, value: 1 },
      { line: 5, value: 2 },
    ],
  ],
  ['none in an empty file', '', []],
  ['none behind a byte-order mark alone', '\uFEFF', []],
  [
    'without byte-order mark and carriage returns',
    '\uFEFF{"a":1}\r\n\r\n"é"\r\n',
    [
      { line: 1, value: { a: 1 } },
      { line: 3, value: 'é' },
    ],
  ],
])('lines: %s', async (_, content, lines) => {
  expect(await linesOf(content)).toEqual(lines);
});

test('a line that is not JSON or not UTF-8 is reported, and the next is read', async () => {
  expect(await linesOf(bytes('{"a":1\n"', [0xc3, 0x28], '"\n"é"\n'))).toEqual([
    { line: 1, reason: expect.stringMatching(/^The line is not JSON: .+\.$/) as string },
    { line: 2, reason: expect.stringContaining('not valid UTF-8') as string },
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
    const [file, deep, sub] = [
      join(folder, 'none.jsonl'),
      join(folder, 'gone', 'none.jsonl'),
      join(folder, 'sub'),
    ];
    await mkdir(sub);
    await expect(all(file)).rejects.toMatchObject({ name: 'Fault', code: 'task/no-file' });
    await expect(all(deep)).rejects.toThrow(`The folder ${join(folder, 'gone')} of ${deep} does not exist`);
    await expect(all(sub)).rejects.toMatchObject({ code: 'task/is-folder' });
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
  [
    'Parquet',
    bytes('PAR1', [0x15, 4]),
    'is Parquet or Arrow; write it as JSON lines, with pandas by to_json(FILE,',
  ],
  ['JSON', bytes('[{"problem_description":"A."}]'), 'is one JSON array; write it as JSON lines'],
  ['indented JSON', bytes('\uFEFF[\r\n  {\r\n'), 'is one JSON array; write it as JSON lines'],
  ['CSV', bytes(',problem_description,test_cases\r\n0,"A.",'), 'is CSV; write it as JSON lines'],
])('a %s file is refused as a whole, with the remedy', async (_, start, message) => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'rows.jsonl', Uint8Array.from(start));
    await expect(all(file)).rejects.toMatchObject({
      code: 'task/not-json-lines',
      message: expect.stringContaining(`${file} ${message}`) as string,
    });
  });
});

test.each(['NaN', '-Infinity'])(
  '%s, which Python writes for a missing number, is named',
  async (constant) => {
    const reason = `The line is not JSON: it has ${constant}; write null in its place.`;
    expect(await linesOf(`{"text":"NaN, it says","number": ${constant}}`)).toEqual([{ line: 1, reason }]);
  },
);

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

test('a line without an end is not read on, and the lines before it are read', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'rows.jsonl');
    await goOnWithZeros(file, '{"a":1}\n');
    const lines = readJsonLines(file);
    expect(await lines.next()).toMatchObject({ value: { line: 1, value: { a: 1 } } });
    await expect(lines.next()).rejects.toMatchObject({ code: 'file/too-large' });
  });
});

test.runIf(hasPipes)('a pipe, or a link to a device, is refused', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'rows.jsonl');
    await putPipe(file);
    await expect(all(file)).rejects.toMatchObject({ code: 'file/not-regular' });
    await putDevice(file);
    await expect(all(file)).rejects.toMatchObject({ code: 'file/not-regular' });
  });
});
