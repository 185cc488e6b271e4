import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLog, repairLog } from '../../../src/core/trajectory/check';
import { importTrajectories } from '../../../src/core/trajectory/import';
import { taskToRow } from '../../../src/core/task/row';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { ownTask } from '../../../src/core/task/own';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  doubling,
  kim,
  openLog,
  play,
  reply,
  started,
  segmentFiles,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';
import { kill, printed, program } from './processes/start';

const lee = { kind: 'developer', name: 'lee' } as const;

async function filesOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')));
  return files.map((file, index) => `${file.name}\n${texts[index]!}`).join('\n');
}

/** Logs dialogues of two developers and a simulator in several segments of two processes. */
async function fill(folder: string): Promise<void> {
  const log = await openLog(folder, { segmentBytes: 6_000 });
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research' });
  await log.append({ event: 'consent', pseudonym: 'lee', purpose: 'research' });
  for (let number = 0; number < 6; number += 1) {
    await play(log, `kim-${number}`, 1, { collaborator: kim });
    await play(log, `lee-${number}`, 1, { collaborator: lee });
    await play(log, `simulated-${number}`, 0.5);
  }
  // This dialogue is handed over to kim and continues in another process, whose lines do not name kim.
  await log.appendAll([
    started('shared'),
    agentTurn('shared', 1),
    { event: 'hand-over', episode: 'shared', turn: 1, to: kim },
    reply('shared', 1, kim),
  ]);
  // In this dialogue of a simulator, kim only chose between candidates.
  await log.appendAll([started('chosen'), candidates('chosen', 1), choice('chosen', 1, 0)]);
  // In this one kim played the agent.
  await log.appendAll([
    started('as-agent', { agent: 'person' }),
    {
      ...{ event: 'agent-turn', episode: 'as-agent', turn: 1, by: 'kim', text: 'OUTPUT: My secret question' },
      ...{ finishReason: 'other', model: 'person' },
    },
  ]);
  await log.append({ event: 'rating', episode: 'lee-0', by: 'kim', comment: 'My secret remark.' });
  await log.append({ event: 'rating', episode: 'lee-0', by: 'lee', stars: 5 });
  await log.append({ event: 'turn-rating', episode: 'lee-0', turn: 1, by: 'kim', comment: 'My secret too.' });
  await log.close();
  const other = await openLog(folder);
  await other.appendAll([
    agentTurn('shared', 2, 'OUTPUT: the code for her'),
    answered('shared', 2, 'her code'),
  ]);
  await play(other, 'about-kim', 1, { collaborator: lee, pack: 'kim' });
  await other.close();
}

function ids(log: TrajectoryLog): string[] {
  return log
    .list({ offset: 0, limit: 1000 })
    .rows.map(({ id }) => id)
    .sort();
}

const kept = [
  ...[0, 1, 2, 3, 4, 5].flatMap((number) => [`lee-${number}`, `simulated-${number}`]),
  'about-kim',
].sort();

async function expectErased(folder: string): Promise<void> {
  const log = await openLog(folder);
  expect(ids(log)).toEqual(kept);
  expect(log.problems).toEqual([]);
  expect(new Set(log.consents.map(({ pseudonym }) => pseudonym))).toEqual(new Set(['lee']));
  expect((await log.trajectory('lee-0'))?.rating).toMatchObject({ by: 'lee', stars: 5 });
  expect((await log.trajectory('about-kim'))?.task).toEqual(doubling);
  await log.close();
  const everything = await filesOf(folder);
  expect(everything).not.toMatch(
    /"kim-\d"|"by":"kim"|"name":"kim"|"pseudonym":"kim"|My secret|her code|"shared"|"chosen"/,
  );
}

describe('erasing a developer', () => {
  const erase = program('erase');

  it('leaves none of it in the data folder, and everything else as it was', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const log = await openLog(folder);
    const before = await log.trajectory('lee-3');
    const erased = await log.eraseDeveloper('kim');
    expect(erased.episodes).toBe(9);
    expect(ids(log)).toEqual(kept);
    expect(await log.trajectory('lee-3')).toEqual(before);
    // The log can be continued as before.
    await play(log, 'afterwards', 1);
    await log.delete(['afterwards']);
    await log.close();
    await expectErased(folder);
    expect(await (await openLog(folder)).eraseDeveloper('kim')).toEqual({ episodes: 0, lines: 0 });
  });

  it('keeps lines of kinds and versions that it does not know, byte for byte', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    await takeSealsAway(folder);
    const [first] = (await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.jsonl')).sort();
    const at = '2030-01-01T00:00:00.000Z';
    const lines = [
      `{"version": 9,  "event":"reply","episode":"lee-1","at":"${at}","text":"später"}`,
      `{"version":1,"event":"applause","at":"${at}"}`,
      `{"version":1,"event":"applause","episode":"kim-1","at":"${at}"}`,
      `{"version":9,"event":"consent","who":"kim","at":"${at}"}`,
    ];
    await appendFile(join(folder, 'log', first!), `${lines.join('\n')}\n`);
    await (await openLog(folder)).eraseDeveloper('kim');
    const text = await readFile(join(folder, 'log', first!), 'utf8');
    expect(lines.map((line) => text.includes(`\n${line}\n`))).toEqual([true, true, false, false]);
  });

  it('takes a torn last line away, because nobody can tell whose it is', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const last = (await readdir(join(folder, 'log')))
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .at(-1);
    await appendFile(join(folder, 'log', last!), '{"version":1,"event":"rating","comment":"My secret ri');
    await (await openLog(folder)).eraseDeveloper('kim');
    await expectErased(folder);
  });

  it('is refused while another process writes to the log, and says which', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const writer = await openLog(folder);
    await play(writer, 'more', 1);
    const log = await openLog(folder);
    await expect(log.eraseDeveloper('kim')).rejects.toThrow(
      new RegExp(
        `^Process ${process.pid} on .* is writing to .*jsonl\\. Close that Tandem and run the command again`,
      ),
    );
    expect(log.summary('kim-0')).toBeDefined();
    await writer.close();
    expect(await log.eraseDeveloper('kim')).toMatchObject({ episodes: 9 });
  });

  it('is not held up by a process that was killed while it wrote', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const child = append(folder, 'killed');
    await printed(child, /^0 1$/m);
    await kill(child);
    await expect((await openLog(folder)).eraseDeveloper('kim')).resolves.toMatchObject({ episodes: 9 });
  });
  const append = program('append');

  it('may be killed at any moment and run again', async () => {
    const filled = await temporaryFolder();
    await fill(filled);
    for (let round = 0; round < 12; round += 1) {
      const folder = await temporaryFolder();
      await cp(filled, folder, { recursive: true });
      const child = erase(folder, 'kim');
      await printed(child, /open/);
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      await kill(child);
      const between = await openLog(folder);
      expect(ids(between)).toEqual(expect.arrayContaining(kept));
      await between.eraseDeveloper('kim');
      await between.close();
      await expectErased(folder);
    }
  });

  it('takes the request for an own function with it; the same may be asked again afterwards', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const own = ownTask('Sort my secret diary.', 'def sort(pages):');
    await log.recordTask(own);
    await log.appendAll([started('own', { task: own.id, collaborator: kim }), agentTurn('own', 1)]);
    await play(log, 'lee-0', 1, { collaborator: lee });
    expect(await log.eraseDeveloper('kim')).toMatchObject({ episodes: 1 });
    expect(await filesOf(folder)).not.toContain('secret diary');
    expect((await log.trajectory('lee-0'))?.task).toEqual(doubling);
    await log.appendAll([started('own-2', { task: own.id, collaborator: kim }), agentTurn('own-2', 1)]);
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'again' });
    expect((await log.trajectory('own-2'))?.task).toEqual(own);
    expect(log.consents).toMatchObject([{ purpose: 'again' }]);
    expect(await log.eraseDeveloper('kim')).toMatchObject({ episodes: 1 });
    expect(await filesOf(folder)).not.toContain('secret diary');
  });

  it('keeps the request while a dialogue of another person is about it', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const own = ownTask('Sort it.', 'def sort(pages):');
    await log.recordTask(own);
    for (const collaborator of [kim, lee])
      await log.appendAll([started(collaborator.name, { task: own.id, collaborator })]);
    await log.eraseDeveloper('kim');
    expect((await log.trajectory('lee'))?.task).toEqual(own);
  });

  it('finds a name that another program has spelled with other escapes', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    await takeSealsAway(folder);
    for (const file of await segmentFiles(folder)) {
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replaceAll('"kim"', '"\\u006bim"'));
    }
    await (await openLog(folder)).eraseDeveloper('kim');
    expect(await filesOf(folder)).not.toMatch(/reply 1 of kim|My secret|her code/);
  });

  describe('and a copied file with what was erased', () => {
    /** An erased log, and what it had before. */
    async function erased(): Promise<{ folder: string; copies: string; data: string }> {
      const data = join(await temporaryFolder(), '.tandem');
      await fill(data);
      const copies = await temporaryFolder();
      await cp(join(data, 'log'), join(copies, 'log'), { recursive: true });
      const log = await openLog(data);
      await log.eraseDeveloper('kim');
      await log.close();
      return { folder: data, copies, data };
    }

    /** Under other names, which no segment here has. */
    async function copyBack(copies: string, data: string): Promise<void> {
      for (const file of await segmentFiles(copies))
        await cp(file, join(data, 'log', `20200101T000000000Z-${basename(file).slice(-14)}`));
    }

    it('is passed over, is reported, and goes with the next erasure of anybody', async () => {
      const { data, copies } = await erased();
      await copyBack(copies, data);
      const log = await openLog(data);
      expect(ids(log)).toEqual(kept);
      expect(log.consents.map(({ pseudonym }) => pseudonym)).not.toContain('kim');
      expect((await log.trajectory('lee-0'))?.ratings?.map(({ by }) => by)).toEqual(['lee']);
      expect(log.notes.join()).toContain('holds');
      await log.eraseDeveloper('nobody');
      await log.close();
      await expectErased(data);
    });

    it('is named by a check, and a repair leaves it out', async () => {
      const { data, copies } = await erased();
      await copyBack(copies, data);
      const found = await checkLog(data);
      expect(found.remarks.filter((remark) => remark.includes('tandem erase'))).not.toEqual([]);
      const { folder } = await repairLog(data, found);
      await expectErased(folder);
      await copyBack(copies, folder);
      expect(ids(await openLog(folder))).toEqual(kept);
    });

    it('is not imported, and the dialogues of others in it are', async () => {
      const { data, copies } = await erased();
      const there = await openLog(copies);
      await play(there, 'new', 1);
      await there.close();
      for (const file of await segmentFiles(data)) await rm(file);
      const log = await openLog(data);
      await log.merge(copies);
      expect(ids(log)).toEqual([...kept, 'new'].sort());
      expect(log.problems).toEqual([]);
      await log.delete(['new']);
      await log.close();
      await expectErased(data);
    });
  });

  it('does not import rows again that were erased', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'rows.jsonl');
    const task = {
      problem_description: 'Double it.',
      ground_truth: 'def f(): pass',
      test_cases: { t: 'f()' },
    };
    const history = [
      { role: 'agent', content: 'Which?' },
      { role: 'human', content: 'This secret one.' },
      { role: 'agent', content: 'I WANT TO ANSWER: x' },
    ];
    await writeFile(file, `${JSON.stringify({ task, dialogue_history: history, answer: 'x', reward: 1 })}\n`);
    const log = await openLog(join(folder, 'data'));
    expect(await importTrajectories(log, file)).toMatchObject({ imported: 1 });
    const [episode] = ids(log);
    await log.append({ event: 'hand-over', episode: episode!, turn: 1, to: kim });
    await log.eraseDeveloper('kim');
    expect(await importTrajectories(log, file)).toMatchObject({ imported: 0, bad: [{ line: 1 }] });
    expect(await filesOf(join(folder, 'data'))).not.toContain('secret one');
  });

  it('does not import its export again, and rows as nobody else’s', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'k1', 1, { collaborator: kim });
    const { task, turns, answer } = (await log.trajectory('k1'))!;
    const history = turns.flatMap(({ agent, reply: said }) => [
      { role: 'agent', content: agent.text },
      ...(said ? [{ role: 'human', content: said.text }] : []),
    ]);
    const row = { task: taskToRow(task), dialogue_history: history, answer: answer?.answer, reward: 1 };
    const file = join(await temporaryFolder(), 'rows.jsonl');
    await writeFile(file, `${JSON.stringify(row)}\n`);
    await importTrajectories(log, file, { repliesBy: 'people' });
    const exported = { ...row, answer: 'edited', tandem: { episode: 'k1', collaborator: kim } };
    const own = join(await temporaryFolder(), 'rows.jsonl');
    await writeFile(own, `${JSON.stringify(exported)}\n`);
    expect(await importTrajectories(log, own)).toMatchObject({ imported: 0, alreadyThere: 1 });
    await log.eraseDeveloper('imported:rows.jsonl');
    await log.eraseDeveloper('kim');
    for (const repliesBy of [undefined, 'simulator', 'people'] as const)
      expect(await importTrajectories(log, file, repliesBy && { repliesBy })).toMatchObject({ imported: 0 });
    expect(await importTrajectories(log, own)).toMatchObject({ imported: 0, bad: [{ line: 1 }] });
  });

  it('refuses what an open window goes on to say in an erased dialogue', async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const window = await openLog(folder);
    await (await openLog(folder)).eraseDeveloper('kim');
    await expect(window.append(reply('kim-1', 9, kim))).rejects.toMatchObject({
      code: 'trajectory/unknown',
    });
    await play(window, 'other', 1);
    expect(await filesOf(folder)).not.toContain('reply 9');
  });
});
