import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { publicationOf } from '../../../src/core/publish/publication';
import { prepareData } from '../../../src/core/training/data/prepare';
import { doubling, kim, openLog, play, temporaryFolder } from '../../fixtures/log';

const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;

async function rows(...lines: readonly object[]): Promise<string> {
  const file = path.join(await temporaryFolder(), 'rows.jsonl');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await writeFile(`${file}.md`, '# rows.jsonl\n');
  return file;
}

/** Writes the model of a run. */
async function model(files: Readonly<Record<string, string | Buffer>>, keptLocal?: number): Promise<string> {
  const run = await temporaryFolder();
  const all = Object.entries(files).map(([name, text]) => [path.join(run, 'model', name), text] as const);
  for (const [file, text] of all) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  if (keptLocal !== undefined) {
    const counts = { trajectories: 9, tasks: 3, successes: 2, other_prompts: 0, with_token_ids: 9 };
    const report = { log: 'log', at: '2026-01-01T00:00:00Z', ...counts, left_out: {}, kept_local: keptLocal };
    await mkdir(path.join(run, 'data'));
    await writeFile(path.join(run, 'data', 'selection.json'), JSON.stringify(report));
  }
  return path.join(run, 'model');
}

it('publishes exported rows as a dataset, with their card as its own', async () => {
  const file = await rows({ messages: ['one'] }, { messages: ['two'] });
  const { kind, files, bytes, findings } = await publicationOf(file);
  expect({ kind, findings }).toEqual({ kind: 'dataset', findings: [] });
  expect(files.map((each) => each.path)).toEqual(['rows.jsonl', 'README.md']);
  expect(bytes).toBe(files[0]!.bytes + files[1]!.bytes);
});

it('finds a secret that was put into a row after the export, and does not repeat it', async () => {
  const file = await rows({ messages: [] }, { messages: [`my key\n${SECRET}`, `again ${SECRET}`] });
  const { findings } = await publicationOf(file);
  expect(findings).toMatchObject([
    { path: 'rows.jsonl', line: 2, what: expect.stringMatching(/github/) as string },
  ]);
  expect(JSON.stringify(findings)).not.toContain(SECRET);
});

it('finds a secret in a log that is one JSON file, however long it is', async () => {
  const file = path.join(await temporaryFolder(), 'inspect.json');
  await writeFile(file, JSON.stringify({ samples: ['x'.repeat(2_000_000), `my key\n${SECRET}`] }));
  await writeFile(`${file}.md`, '# inspect.json\n');
  expect((await publicationOf(file)).findings).toEqual([
    {
      ...{ path: 'inspect.json', line: 1 },
      what: expect.stringMatching(/github/) as string,
      excerpt: expect.any(String) as string,
    },
  ]);
});

it.each(['export', 'rows.data', 'rows.txt', 'rows.json'])(
  'finds a secret in rows whose file is called %s',
  async (name) => {
    const file = path.join(await temporaryFolder(), name);
    await writeFile(file, `${JSON.stringify({ text: 'x'.repeat(2_000_000) })}\n{"text":"my\\n${SECRET}"}\n`);
    await writeFile(`${file}.md`, `# ${name}\n`);
    expect((await publicationOf(file)).findings).toMatchObject([{ path: name, line: 2 }]);
  },
);

it('publishes a model with everything in its folder except what is hidden', async () => {
  const folder = await model({
    ...{ 'config.json': '{}', 'README.md': '# Model\n', 'model.safetensors': 'weights' },
    ...{ 'onnx/model.onnx': 'graph', '.cache/lock': '', '.DS_Store': '' },
  });
  const { kind, files, keptLocal } = await publicationOf(folder);
  expect({ kind, keptLocal }).toEqual({ kind: 'model', keptLocal: 0 });
  expect(files.map((each) => each.path)).toEqual([
    ...['README.md', 'config.json', 'model.safetensors', 'onnx/model.onnx'],
  ]);
});

it('finds an address in the card of a model', async () => {
  const folder = await model({ 'config.json': '{}', 'README.md': '# Model\n\nAsk ada@lab.org.\n' });
  expect((await publicationOf(folder)).findings).toMatchObject([{ path: 'README.md', line: 3 }]);
});

/** Bytes that look like weights, with no printable run in them. */
const noise = (length: number): Buffer => Buffer.alloc(length, Buffer.from([0x3c, 0x80, 0x00, 0xbd]));

const MIB = 1024 * 1024;

it.each<[string, string, Buffer | string]>([
  ['a text of another name', 'notes', `my key is ${SECRET}`],
  ['a long vocabulary', 'vocab.txt', `${'word\n'.repeat(400_000)}${SECRET}\n`],
  ['an escape of JSON', 'extra.json', JSON.stringify({ text: `one\n${SECRET}` })],
  ['JSON in JSON', 'extra.json', JSON.stringify({ text: JSON.stringify({ text: `one\n${SECRET}` }) })],
  ['a key of JSON', 'added_tokens.json', JSON.stringify({ [SECRET]: 1 })],
  ['two bytes a character', 'notes.txt', Buffer.from(`\ufeffmy key is ${SECRET}`, 'utf16le')],
  ['the header of weights', 'model.safetensors', Buffer.concat([noise(8), Buffer.from(SECRET), noise(64)])],
  ['the end of weights', 'model.gguf', Buffer.concat([noise(2 * MIB), Buffer.from(SECRET), noise(64)])],
  ['the border of two pieces', 'x.bin', Buffer.concat([noise(MIB - 20), Buffer.from(SECRET), noise(64)])],
  ['the border of two pieces of text', 'x.txt', `${' '.repeat(MIB - 20)}${SECRET} ${' '.repeat(MIB)}`],
  ['an escape at the border', 'x.json', `${' '.repeat(MIB - 1)}\\n${SECRET}"`],
  ['entries that are stored', 'model.pt', zip(0, Buffer.from(SECRET))],
  ['bytes of the other order', 'notes.txt', Buffer.from(`my key is ${SECRET}`, 'utf16le').swap16()],
  ['an escape in weights', 'a.safetensors', Buffer.concat([noise(8), Buffer.from(`{"a":"\\n${SECRET}"}`)])],
  [
    'an escape at the border of weights',
    'a.gguf',
    Buffer.concat([noise(MIB - 32), Buffer.from(`${'\\n'.repeat(16)}${SECRET}`), noise(64)]),
  ],
  [
    'a pickle',
    'model.pt',
    Buffer.concat([noise(9), Buffer.from(`X${String.fromCharCode(SECRET.length)}\0\0\0${SECRET}q\x01`)]),
  ],
  ['a text that begins as an archive does', 'notes', `BZh ${SECRET}`],
  ['a path', `of-${SECRET}/notes.txt`, ''],
])('finds a secret in %s, once', async (_, name, content) => {
  const folder = await model({ 'config.json': '{}', 'README.md': '', [name]: content });
  const { findings } = await publicationOf(folder);
  expect(findings).toMatchObject([{ path: name, what: expect.stringMatching(/github/) as string }]);
  expect(findings[0]!.excerpt).not.toContain(SECRET.slice(8));
});

/** The beginning of a ZIP archive with one entry. */
function zip(method: number, content: Buffer): Buffer {
  const head = Buffer.alloc(30);
  head.write('PK\x03\x04', 'latin1');
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(method, 8);
  return Buffer.concat([head, content]);
}

it('says which files it cannot search, whatever their names', async () => {
  const text = Buffer.from(SECRET.repeat(9));
  const folder = await model({
    ...{
      'config.json': '{}',
      'README.md': '',
      'a.json': gzipSync(text),
      'b.pt': zip(8, deflateRawSync(text)),
      'd.bin': deflateSync(text, { level: 1 }),
      'e.bin': deflateSync(text, { level: 4 }),
    },
    'c.zip': Buffer.concat([zip(0, Buffer.from('mimetype')), zip(8, deflateRawSync(text))]),
  });
  expect((await publicationOf(folder)).findings.map(({ path: file, what }) => [file, what])).toEqual(
    ['a.json', 'b.pt', 'c.zip', 'd.bin', 'e.bin'].map((file) => [file, 'cannot be searched']),
  );
});

it('finds addresses in metadata of weights', async () => {
  const header = Buffer.concat([
    noise(8),
    Buffer.from('ada@lab.org'),
    noise(8),
    Buffer.from('By Ada, Ada@Lab.Org, of LAB'),
  ]);
  const folder = await model({ 'config.json': '{}', 'README.md': '', 'a.gguf': header });
  expect((await publicationOf(folder)).findings.map(({ what }) => what)).toEqual(
    Array.from({ length: 2 }, () => 'e-mail address'),
  );
});

it('counts lines across the pieces of a long text, and lists a bounded number of findings', async () => {
  const folder = await model({
    ...{ 'config.json': '{}', 'README.md': '' },
    'long.txt': `${'wörd\n'.repeat(500_000)}${SECRET}\n`,
    'people.csv': Array.from({ length: 3000 }, (_, number) => `p${number}@lab.org\n`).join(''),
  });
  const { findings } = await publicationOf(folder);
  expect(findings[0]).toMatchObject({ path: 'long.txt', line: 500_001 });
  expect(findings).toHaveLength(1 + 1000 + 1);
});

it('takes neither random bytes nor the vocabulary of the starter for secrets', async () => {
  let seed = 1;
  const random = Buffer.from(
    Array.from({ length: 3 * MIB }, () => (seed = (seed * 48_271) % 2_147_483_647) >> 8),
  );
  const folder = await model({ 'README.md': '', 'model.safetensors': random });
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    await copyFile(path.resolve('media/starter', name), path.join(folder, name));
  expect((await publicationOf(folder)).findings).toEqual([]);
});

it('refuses a card that is a link, whose target would go up', async () => {
  const file = await rows({ messages: [] });
  await rm(`${file}.md`);
  await symlink(file, `${file}.md`);
  await expect(publicationOf(file)).rejects.toMatchObject({ code: 'publish/nothing' });
});

it.each(['the target of a link', 'a linked folder'])('refuses %s, which would not go up', async (what) => {
  const folder = await model({ 'config.json': '{}', 'README.md': '' });
  const outside = await temporaryFolder();
  await writeFile(path.join(outside, 'weights'), 'weights');
  await symlink(what === 'a linked folder' ? outside : path.join(outside, 'weights'), path.join(folder, 'w'));
  await expect(publicationOf(folder)).rejects.toMatchObject({
    code: 'publish/nothing',
    message: expect.stringMatching(/w is a link/) as string,
  });
});

it('counts the dialogues of a run whose people keep them on their machine', async () => {
  const folder = await model({ 'config.json': '{}', 'README.md': '' }, 4);
  expect((await publicationOf(folder)).keptLocal).toBe(4);
});

it.each([
  ['no folder', async () => path.join(await temporaryFolder(), 'nowhere'), /There is no .*nowhere/],
  ['no model', () => model({ 'notes.txt': '' }), /holds no model \(config\.json is missing\)/],
  ['no card of a model', () => model({ 'config.json': '{}' }), /has no README\.md/],
])('refuses %s in a sentence', async (_, make, sentence) => {
  await expect(publicationOf(await make())).rejects.toMatchObject({
    code: 'publish/nothing',
    message: sentence,
  });
});

it('refuses the rows that a run learned from, also where they were copied to', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await log.recordTask(doubling);
  await log.append({ event: 'consent', pseudonym: kim.name, purpose: 'research', level: 'local' });
  await play(log, 'of-kim', 1, { collaborator: kim });
  const run = path.join(data, 'runs', 'one');
  const prompts = path.resolve('trainer/tandem_trainer/data/prompts');
  expect((await prepareData({ log: data }, run, { prompts })).kept_local).toBe(1);
  const file = path.join(run, 'data', 'trajectories.jsonl');
  const copy = path.join(data, 'mine.jsonl');
  for (const end of ['', '.md']) await copyFile(`${file}${end}`, `${copy}${end}`);
  for (const each of [file, copy])
    await expect(publicationOf(each)).rejects.toMatchObject({
      code: 'publish/nothing',
      message: expect.stringMatching(/holds rows that a run learned from, .* "tandem export"/) as string,
    });
});
