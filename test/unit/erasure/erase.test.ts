import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { cell, markdownTable } from '../../../src/core/markdown';
import { prepareData } from '../../../src/core/training/data/prepare';
import { eraseDeveloper, madeFrom } from '../../../src/core/erasure/erase';
import { checkLog, repairLog } from '../../../src/core/trajectory/check';
import { claimIn } from '../../../src/core/trajectory/claim';
import { beginOf } from '../../../src/core/trajectory/heartbeat';
import type { Collaborator, NewEvent } from '../../../src/core/trajectory/event';
import { Drafts } from '../../../src/editor/session/drafts';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  openLog,
  play,
  reply,
  started,
  temporaryFolder,
} from '../../fixtures/log';

/** A pseudonym that JSON must escape; it occurs nowhere else. */
const zoe: Collaborator = { kind: 'developer', name: 'zebulon "zö" \\' };
const lee: Collaborator = { kind: 'developer', name: 'lee' };

/** Makes every kind of data that a person can leave in an episode; every text contains "kestrel". */
function ofZoe(episode: string): NewEvent[] {
  return [
    started(episode, { collaborator: zoe }),
    agentTurn(episode, 1),
    {
      ...{ event: 'reply', episode, turn: 1, author: 'developer-edited-suggestion', by: zoe.name },
      ...{ text: 'kestrel said', suggestion: 'kestrel drafted', fullText: 'kestrel said and cut off' },
      milliseconds: 51,
    },
    agentTurn(episode, 2, 'OUTPUT: I WANT TO ANSWER: code'),
    answered(episode, 2, 'code'),
    graded(episode, 0.5),
    { event: 'rating', episode, stars: 4, comment: 'kestrel remarked', by: zoe.name },
    { event: 'outcome', episode, outcome: 'edited', code: 'def kestrel(): return 1', by: zoe.name },
  ];
}

async function fill(data: string): Promise<void> {
  // Small segments make many files; two logs stand for two windows.
  for (const window of ['one', 'two']) {
    const log = await openLog(data, { segmentBytes: 4_000 });
    await log.recordTask(doubling);
    const claim = await log.claim(`episode-zoe-${window}`, 'This dialogue');
    for (const { name } of [zoe, lee]) {
      const purpose = name === 'lee' ? 'research' : 'kestrel studies';
      await log.append({ event: 'consent', pseudonym: name, purpose, level: 'export' });
    }
    await log.appendAll(ofZoe(`zoe-${window}`));
    await play(log, `lee-${window}`, 1, { collaborator: lee });
    await log.appendAll([
      started(`skipped-${window}`, { collaborator: zoe }),
      agentTurn(`skipped-${window}`, 1),
    ]);
    await log.append({
      ...{ event: 'abandoned', episode: `skipped-${window}`, reason: 'skipped', message: 'kestrel tired' },
    });
    await log.append({ event: 'rating', episode: `lee-${window}`, comment: 'kestrel of lee', by: zoe.name });
    await log.appendAll([
      started(`shared-${window}`, { collaborator: lee }),
      agentTurn(`shared-${window}`, 1),
    ]);
    await log.append(reply(`shared-${window}`, 1, zoe));
    await play(log, `simulated-${window}`, 0.5);
    await claim.release();
    await log.close();
  }
}

/** Reads every file below a folder. */
async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file)] as const)));
}

const traces = /zebulon|kestrel|zoe-|skipped-|shared-/;

/** Returns the lines of the log without those about segments, which erasing rewrites. */
function linesOf(files: Map<string, Buffer>): string[] {
  const segments = [...files].filter(
    ([file]) => file.endsWith('.jsonl') && path.basename(path.dirname(file)) === 'log',
  );
  const lines = segments.sort().flatMap(([, bytes]) => bytes.toString('latin1').split('\n'));
  return lines.filter((line) => line !== '' && !line.includes('"event":"segment"'));
}

/** Creates a run with its rows and a model. @param base the model folder that it started from */
async function prepared(
  data: string,
  run: string,
  { filter = {}, base = '', log = data }: { filter?: object; base?: string; log?: string } = {},
): Promise<void> {
  const folder = path.join(data, 'runs', run);
  await prepareData({ log, filter }, folder, {
    prompts: path.resolve('trainer/tandem_trainer/data/prompts'),
  });
  await writeFile(path.join(folder, 'run.json'), JSON.stringify({ model: { base } }));
  await mkdir(path.join(folder, 'model'));
  await writeFile(path.join(folder, 'model', 'weights'), 'what was learned from kestrel');
}

/** Rows for a chat template, which name nobody, and their card. */
async function exportOf(data: string, name: string, person: string, episode: string): Promise<void> {
  await writeFile(path.join(data, name), `${JSON.stringify({ messages: [`simulated by ${episode}`] })}\n`);
  const table = markdownTable(['', ''], [[cell(person), 'research']]);
  await writeFile(path.join(data, `${name}.md`), `# ${name}\n\n${table}\n`);
}

/** Creates the files of a loop in a data folder. */
async function loop(folder: string): Promise<void> {
  await fill(folder);
  await prepared(folder, 'trained');
  await mkdir(path.join(folder, 'model'));
  await writeFile(path.join(folder, 'model', 'weights'), 'also learned from kestrel');
  await writeFile(path.join(folder, 'report.md'), 'an example with a kestrel');
  await writeFile(path.join(folder, 'loop.json'), '{"collect":{"result":{"dialogues":12}}}');
}

/** Creates the files of a scoreboard: data folders, one of them without runs, one without a log. */
async function scoreboard(folder: string): Promise<void> {
  await fill(path.join(folder, 'offline'));
  await prepared(folder, 'trained', { log: path.join(folder, 'offline') });
  await mkdir(path.join(folder, 'credit'));
  await writeFile(path.join(folder, 'credit', 'states.jsonl'), '{"messages":["kestrel"]}\n');
  await writeFile(path.join(folder, 'scoreboard.md'), 'figures');
}

it('leaves not a byte of the developer in the data folder and in the drafts, and not a byte of others changed', async () => {
  const root = await temporaryFolder();
  const data = path.join(root, 'data');
  const drafts = new Drafts(path.join(root, 'drafts'), (error) => expect.unreachable(String(error)));
  await fill(data);
  await prepared(data, 'with-zoe');
  const ofLee = { collaborator: 'lee' };
  await prepared(data, 'without-zoe', { filter: ofLee });
  await writeFile(path.join(data, 'runs', 'without-zoe', 'model', 'weights'), 'of others');
  const from = (run: string): string => path.join(data, 'runs', run, 'model');
  await prepared(data, 'from-zoe', { filter: ofLee, base: from('with-zoe') });
  await prepared(data, 'from-that', { filter: ofLee, base: from('from-zoe') });
  await loop(path.join(data, 'loops', 'full'));
  await mkdir(path.join(data, 'loops', 'simulated', 'log'), { recursive: true });
  await writeFile(path.join(data, 'loops', 'simulated', 'report.md'), 'of others');
  await scoreboard(path.join(data, 'scoreboards', 'small'));
  await exportOf(data, 'of-zoe.jsonl', zoe.name, 'zoe-one');
  await exportOf(data, 'of-lee.jsonl', 'lee', 'simulated');
  await drafts.write('zoe-one', { text: 'kestrel begun' });
  await drafts.write('simulated-one', { text: 'somebody else' });

  const before = await filesOf(root);
  expect([...before.keys()].filter((file) => file.includes(`${path.sep}index${path.sep}`))).toHaveLength(3);
  const kept = linesOf(before).filter((line) => !traces.test(line));
  const made = {
    runs: ['from-that', 'from-zoe', 'with-zoe'],
    experiments: [path.join('loops', 'full'), path.join('scoreboards', 'small')],
    exports: ['of-zoe.jsonl', 'of-zoe.jsonl.md'],
  };
  expect(await madeFrom(data, zoe.name)).toEqual(made);

  const log = await openLog(data);
  const erased = await eraseDeveloper(log, data, zoe.name);
  expect(erased).toMatchObject({ episodes: 3 * 6, ...made });
  expect(await eraseDeveloper(log, data, zoe.name)).toEqual({
    episodes: 0,
    lines: 0,
    ...{ runs: [], experiments: [], exports: [] },
  });
  await drafts.remove((episode) => log.summary(episode) !== undefined);
  await log.close();

  const after = await filesOf(root);
  for (const [file, bytes] of after) {
    expect(file).not.toMatch(traces);
    expect(bytes.toString('latin1'), file).not.toMatch(traces);
    expect(bytes.toString('utf16le'), file).not.toMatch(traces);
  }
  expect(linesOf(after)).toEqual(kept);
  const others = [...before].filter(([file]) => /without-zoe|simulated/.test(file));
  expect(others.length).toBeGreaterThan(3);
  for (const [file, bytes] of others) expect(after.get(file)?.equals(bytes), file).toBe(true);
});

it('is refused while a run goes on that is trained with it; nothing is deleted then', async () => {
  const data = path.join(await temporaryFolder(), 'data');
  await fill(data);
  await prepared(data, 'going-on');
  const { pid } = process;
  const launch = {
    pid,
    host: hostname(),
    started: new Date().toISOString(),
    began: await beginOf(pid),
    command: [],
  };
  await writeFile(path.join(data, 'runs', 'going-on', 'launch.json'), JSON.stringify(launch));
  const log = await openLog(data);
  await expect(eraseDeveloper(log, data, zoe.name)).rejects.toThrow(
    'The run going-on is being trained with dialogues of zebulon "zö" \\. Stop it (`tandem stop going-on`) and try again.',
  );
  expect(log.summary('zoe-one')).toBeDefined();
});

it('is refused while a loop goes on that holds some of it; nothing is deleted then', async () => {
  const data = path.join(await temporaryFolder(), 'data');
  const folder = path.join(data, 'loops', 'full');
  await fill(data);
  await loop(folder);
  const claim = await claimIn(path.join(folder, 'claims'), 'loop', 'The loop');
  const log = await openLog(data);
  await expect(eraseDeveloper(log, data, zoe.name)).rejects.toThrow(`The loop in ${folder} is `);
  expect(log.summary('zoe-one')).toBeDefined();
  expect(await readFile(path.join(folder, 'report.md'), 'utf8')).toContain('kestrel');
  await claim.release();
  expect(await eraseDeveloper(log, data, zoe.name)).toMatchObject({
    experiments: [path.join('loops', 'full')],
  });
});

it('finds a run by its dialogues where the rows do not say the name, or spell it otherwise', async () => {
  const data = path.join(await temporaryFolder(), 'data');
  const log = await openLog(data);
  await log.recordTask(doubling);
  const asked: Collaborator = { kind: 'developer', name: 'zö/e' };
  await log.appendAll([
    started('only-ended'),
    { event: 'hand-over', episode: 'only-ended', turn: 1, to: asked },
  ]);
  const rows: Readonly<Record<string, string>> = {
    'by-id': '{"tandem": {"episode": "only-ended"}}',
    'by-python': String.raw`{"reply_by": "z\u00f6/e"}`,
    'by-pandas': String.raw`{"reply_by":"z\u00f6\/e"}`,
    'of-others': '{"tandem": {"episode": "another"}}',
  };
  for (const [name, row] of Object.entries(rows)) {
    await mkdir(path.join(data, 'runs', name, 'data'), { recursive: true });
    await writeFile(path.join(data, 'runs', name, 'data', 'trajectories.jsonl.1234.unfinished'), `${row}\n`);
  }
  expect((await madeFrom(data, asked.name)).runs).toEqual(['by-id', 'by-pandas', 'by-python']);
});

it('erases from the repaired log beside the data folder, too', async () => {
  const data = path.join(await temporaryFolder(), 'data');
  await fill(data);
  const { folder } = await repairLog(data, await checkLog(data));
  const log = await openLog(data);
  await eraseDeveloper(log, data, zoe.name);
  await log.close();
  for (const [file, bytes] of await filesOf(folder))
    expect(bytes.toString('latin1'), file).not.toMatch(traces);
});
