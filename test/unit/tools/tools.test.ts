import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ScriptModel } from '../../../src/core/model/script';
import { openSimulator } from '../../../src/core/dialogue/openSimulator';
import type { Fault } from '../../../src/core/fault';
import { actingTools, readingTools } from '../../../src/core/tools/toolNames';
import { sentenceFor, type PlayRequest, type ToolResult, type Workplace } from '../../../src/core/tools/tool';
import { toolNamed, tools } from '../../../src/core/tools/tools';
import { shippedPrompts } from '../../fixtures/dialogue';
import { openLog, temporaryFolder } from '../../fixtures/log';
import { taskRow } from '../../fixtures/tasks';

const unused = (): never => expect.fail('It is not used.');

/** Makes a place in a new folder with these packs, in which only what `parts` have is used. */
async function place(packs: readonly string[] = [], parts: Partial<Workplace> = {}): Promise<Workplace> {
  const folder = await temporaryFolder();
  const files = packs.map((name) => path.join(folder, name));
  for (const file of files) {
    await mkdir(path.dirname(file), { recursive: true });
    const lines = [JSON.stringify(taskRow()), '{"no": "task"}'];
    await writeFile(file, lines.join('\n'));
  }
  return {
    ...{ folder, dataFolder: path.join(folder, '.tandem'), packs: () => Promise.resolve(files) },
    ...{ withLog: unused, openPlay: unused, startRun: unused },
    ...parts,
  };
}

const call = (name: string, input: unknown, at: Workplace): Promise<ToolResult> =>
  toolNamed(name)!.call(input, at, { signal: new AbortController().signal, report: () => undefined });

const refusal = async (name: string, input: unknown, at: Workplace): Promise<[string, string]> => {
  const { code, message } = await call(name, input, at).then(unused, (error: unknown) => error as Fault);
  return [code, message];
};

function failureOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return String(error);
  }
  return expect.fail('It did not fail.');
}

describe('the tools for agents', () => {
  it('are called acting exactly when they do not only read', () => {
    const acting = Object.entries(tools).filter(([, { effect }]) => effect !== 'reads');
    expect(acting.map(([name]) => name)).toEqual(actingTools);
    expect(Object.keys(tools)).toEqual([...readingTools, ...actingTools]);
    expect(toolNamed('constructor')).toBeUndefined();
  });

  it.each(Object.keys(tools))('%s refuses a field that it does not have, in one sentence', async (name) => {
    const given = { packs: [], tasks: 1, run: 'r', configuration: 'run.json' };
    const { properties = {} } = toolNamed(name)!.inputSchema;
    const known = Object.fromEntries(Object.entries(given).filter(([field]) => field in properties));
    const [code, message] = await refusal(name, { ...known, colour: 'red' }, await place());
    expect(code).toBe('tools/bad-input');
    expect(message).toMatch(/^input has no field "colour"/);
    expect((await refusal(name, ['red'], await place()))[0]).toBe('tools/bad-input');
  });

  it('take null for a field, or for all of them, as left out', async () => {
    const at = await place();
    const runs = await call('tandem_list_runs', {}, at);
    expect(await call('tandem_list_runs', null, at)).toEqual(runs);
    expect(await call('tandem_list_runs', { run: null }, at)).toEqual(runs);
    expect((await refusal('tandem_stop_run', { run: null }, at))[0]).toBe('tools/bad-input');
  });

  it('find a pack by its path or its name, and say which there are', async () => {
    const at = await place(['one/fees.jsonl', 'two/fees.jsonl', 'two/rates.jsonl']);
    const refused = (pack: string): Promise<[string, string]> =>
      refusal('tandem_collect', { packs: [pack], tasks: 1 }, at);
    expect(await refused('fees')).toEqual([
      'tools/unknown-pack',
      '"fees" may be any of one/fees.jsonl, two/fees.jsonl; write its whole path.',
    ]);
    expect(await refused('../secret.jsonl')).toEqual([
      'tools/unknown-pack',
      'There is no pack "../secret.jsonl" here; there are one/fees.jsonl, two/fees.jsonl, two/rates.jsonl.',
    ]);
    const asked: PlayRequest[] = [];
    const opens: Workplace = {
      ...at,
      openPlay: (request) => {
        asked.push(request);
        return Promise.reject(new Error('enough'));
      },
    };
    for (const pack of ['rates', 'rates.jsonl', 'two/rates.jsonl'])
      await expect(call('tandem_collect', { packs: [pack], tasks: 1 }, opens)).rejects.toThrow('enough');
    expect(asked.flatMap(({ packs }) => packs)).toEqual(
      Array(3).fill(path.join(at.folder, 'two/rates.jsonl')),
    );
    expect(await refusal('tandem_evaluate', { packs: [], tasks: 1 }, at)).toEqual([
      'tools/no-tasks',
      'There is no task to play in no pack: name packs that tandem_list_packs counts tasks of.',
    ]);
  });

  it('tell of a pack how much there is, and nothing that is hidden', async () => {
    const { text, data } = await call('tandem_list_packs', {}, await place(['fees.jsonl']));
    expect(data).toMatchObject({
      packs: [
        {
          pack: 'fees.jsonl',
          tasks: 1,
          tests: 2,
          withFacts: 0,
          badLines: [expect.stringMatching(/^line 2: /)],
        },
      ],
    });
    expect(text).toBe('fees.jsonl: 1 tasks, 0 of them with facts, 2 tests, 1 bad lines.');
    expect(JSON.stringify(data)).not.toMatch(/parcel|300/);
    const gone = await place([], { packs: () => Promise.resolve(['/nowhere/fees.jsonl']) });
    expect((await call('tandem_list_packs', {}, gone)).text).toMatch(
      /fees\.jsonl cannot be played: .*nowhere/,
    );
    expect((await call('tandem_list_packs', {}, await place())).text).toMatch(
      /^There is no pack of tasks in /,
    );
  });

  it('say one bounded line of each name, of many packs and runs', async () => {
    const names = Array.from({ length: 120 }, (_, index) => `p${index}\nall: done\u202e.jsonl`);
    const { text, data } = await call('tandem_list_packs', {}, await place(names));
    const lines = text.split('\n');
    expect(lines).toHaveLength(101);
    expect(lines[0]).toMatch(/^p0 all: done\\u202e\.jsonl: 1 tasks/);
    expect(lines.at(-1)).toMatch(/^20 more packs are not listed/);
    expect(data.total).toBe(120);
    const runs = await place();
    for (let index = 0; index < 300; index += 1) {
      const folder = path.join(runs.dataFolder, 'runs', `r${index}`);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'run.json'), JSON.stringify({ name: `a\nb${'x'.repeat(5000)}` }));
    }
    const listed = await call('tandem_list_runs', {}, runs);
    expect(listed.text.length).toBeLessThan(32_000);
    expect(listed.text).toMatch(/^r99 \(a bxxx.*…$/m);
    expect(listed.text).toMatch(/ more lines are left out\./);
    expect(JSON.stringify(listed.data).length).toBeLessThan(60_001);
  });

  it('quote no file outside of the folder', async () => {
    const at = await place([], { startRun: unused });
    const secret = path.join(await temporaryFolder(), 'secret.json');
    await writeFile(secret, 'password=hunter2');
    await symlink(secret, path.join(at.folder, 'linked.json'));
    for (const configuration of [secret, 'linked.json', path.relative(at.folder, secret)])
      expect(await refusal('tandem_start_run', { configuration }, at)).toEqual([
        'tools/bad-input',
        expect.stringMatching(/ is outside of .*: copy the configuration into the folder/),
      ]);
    const linked: Workplace = { ...at, packs: () => Promise.resolve([path.join(at.folder, 'linked.json')]) };
    const packs = await call('tandem_list_packs', {}, linked);
    expect(JSON.stringify(packs)).not.toContain('hunter2');
    expect(packs.text).toMatch(/1 bad lines/);
    expect(sentenceFor(new Error(failureOf(() => JSON.parse('password=hunter2'))))).not.toContain('hunter2');
  });

  it('close what they opened for a collection that fails', async () => {
    const at = await place(['fees.jsonl']);
    const script = path.join(at.folder, 'script.json');
    await writeFile(script, JSON.stringify(['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']));
    const prompts = await shippedPrompts();
    const closed: string[] = [];
    const broken: Workplace = {
      ...at,
      openPlay: async () => ({
        ...{ prompts, agents: [new ScriptModel(script)], simulator: openSimulator('rules', prompts, {}) },
        log: await openLog(at.dataFolder),
        grader: {
          grade: async () => {
            await pause(1);
            throw new Error('The grader is gone.');
          },
        } as never,
        ...{ seed: 0, concurrency: 1, mode: 'fixed', sampling: { temperature: 1, maxTokens: 100 } },
        protocol: { maxTurns: 2, replyLimit: 100 },
        close: () => Promise.resolve(void closed.push('play')),
      }),
    };
    await expect(call('tandem_collect', { packs: ['fees'], tasks: 1 }, broken)).rejects.toThrow('gone');
    expect(closed).toEqual(['play']);
  });

  it('start a run from a file or from what is given, and say when a person declined', async () => {
    const asked: object[] = [];
    const at = await place([], {
      startRun: (request) => {
        asked.push(request);
        return Promise.resolve(undefined);
      },
    });
    const { folder } = at;
    await mkdir(path.join(folder, 'runs'));
    await writeFile(path.join(folder, 'runs', 'mine.json'), '{"name": "mine"}');
    const start = (configuration: unknown): Promise<ToolResult> =>
      call('tandem_start_run', { configuration }, at);
    expect((await start('runs/mine.json')).text).toMatch(/person declined/);
    await start({ name: 'given' });
    expect(asked).toEqual([
      { configuration: { name: 'mine' }, from: 'runs/mine.json', folder: path.join(folder, 'runs') },
      { configuration: { name: 'given' }, from: 'The configuration', folder },
    ]);
    await expect(start('none.json')).rejects.toMatchObject({ code: 'training/bad-configuration' });
  });
});
