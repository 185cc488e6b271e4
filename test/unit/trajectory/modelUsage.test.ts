import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import {
  agentTurn,
  doubling,
  kim,
  openLog,
  reply,
  segmentFiles,
  started,
  temporaryFolder,
} from '../../fixtures/log';

const qwen = 'openai:qwen@http://127.0.0.1:8000/v1';
const llama = 'openai:llama@http://127.0.0.1:8001/v1';
const usage = (promptTokens: number, completionTokens: number) => ({
  usage: { promptTokens, completionTokens },
});

function turn(episode: string, number: number, fields: object = {}): NewEvent {
  return { ...agentTurn(episode, number), model: qwen, ...usage(100, 10), ...fields } as NewEvent;
}

const simulated = (episode: string, number: number, fields: object = {}): NewEvent => ({
  ...reply(episode, number, { kind: 'simulator', name: llama }),
  ...fields,
});

const sums = (
  turns: number,
  replies: number,
  promptTokens: number,
  completionTokens: number,
  uncounted = 0,
) => ({
  turns,
  replies,
  promptTokens,
  completionTokens,
  uncounted,
});

async function begun(folder?: string): Promise<TrajectoryLog> {
  const log = await openLog(folder);
  await log.recordTask(doubling);
  await log.append(started('a', { agent: qwen }));
  return log;
}

describe('the use of the models', () => {
  it('is the turns and replies of each, with the tokens that it counted', async () => {
    const log = await begun();
    await log.appendAll([turn('a', 1), simulated('a', 1, usage(50, 5)), turn('a', 2)]);
    expect(await log.modelUse()).toEqual({ [qwen]: sums(2, 0, 200, 20), [llama]: sums(0, 1, 50, 5) });
  });

  it('counts both of two candidates, when they are written and not when one of them is chosen', async () => {
    const log = await begun();
    const candidate = (agent: string, tokens: number) => {
      const {
        event,
        episode,
        turn: number,
        ...said
      } = agentTurn('a', 1) as NewEvent & { event: 'agent-turn' };
      expect([event, episode, number]).toEqual(['agent-turn', 'a', 1]);
      return { ...said, agent, ...usage(100, tokens) };
    };
    const candidates = [candidate(qwen, 10), candidate(llama, 20)] as const;
    await log.append({ event: 'candidates', episode: 'a', turn: 1, candidates } as NewEvent);
    const both = { [qwen]: sums(1, 0, 100, 10), [llama]: sums(1, 0, 100, 20) };
    expect(await log.modelUse()).toEqual(both);
    const choice = { event: 'choice', episode: 'a', turn: 1, picked: 1, by: 'kim' } as const;
    await log.appendAll([choice, turn('a', 1, { model: llama })]);
    expect(await log.modelUse()).toEqual(both);
    await log.append(turn('a', 2));
    expect((await log.modelUse())[qwen]).toEqual(sums(2, 0, 200, 20));
  });

  it('counts neither developers nor rules nor imported turns, and tells where no tokens were counted', async () => {
    const log = await begun();
    await log.appendAll([
      turn('a', 1, { usage: undefined }),
      reply('a', 1, kim),
      turn('a', 2),
      reply('a', 2, { kind: 'rules', name: 'rules' }),
      turn('a', 3, { imported: { content: 'Hm.' } }),
    ]);
    expect(await log.modelUse()).toEqual({ [qwen]: sums(2, 0, 100, 10, 1) });
  });

  it('is not misled by a text that looks like a count', async () => {
    const log = await begun();
    const text = '","model":"x","usage":{"promptTokens":9e9,"completionTokens":9}';
    await log.append(turn('a', 1, { text }));
    expect(await log.modelUse()).toEqual({ [qwen]: sums(1, 0, 100, 10) });
  });

  it('is kept: only what was appended since is read, also by another process', async () => {
    const folder = await temporaryFolder();
    const log = await begun(folder);
    await log.append(turn('a', 1, { text: 'x'.repeat(2_000_000) }));
    await log.modelUse();
    const kept = join(folder, 'index', 'use.json');
    const forged = (await readFile(kept, 'utf8')).replace('"turns":1', '"turns":41');
    await writeFile(kept, forged);
    await log.append(turn('a', 2));
    expect((await log.modelUse())[qwen]?.turns).toBe(2);
    const other = await openLog(folder);
    expect((await other.modelUse())[qwen]?.turns).toBe(42);
    await writeFile(kept, 'nonsense');
    expect((await (await openLog(folder)).modelUse())[qwen]?.turns).toBe(2);
  });

  it('is counted anew where the log was edited while nobody followed it', async () => {
    const folder = await temporaryFolder();
    const log = await begun(folder);
    await log.append(turn('a', 1, { text: 'x'.repeat(2_000_000) }));
    await log.append(turn('a', 2, usage(100, 11)));
    expect((await log.modelUse())[qwen]?.turns).toBe(2);
    await log.close();
    const [file] = await segmentFiles(folder);
    const written = await readFile(file!, 'utf8');
    // A line whose check sum is wrong does not count.
    await writeFile(file!, written.replace('"completionTokens":11', '"completionTokens":99'));
    expect(await (await openLog(folder)).modelUse()).toEqual({ [qwen]: sums(1, 0, 100, 10) });
    await writeFile(file!, written);
    expect((await (await openLog(folder)).modelUse())[qwen]?.turns).toBe(2);
  });

  it('forgets what was erased', async () => {
    const log = await begun();
    await log.append(turn('a', 1));
    await log.append(started('b', { agent: qwen, collaborator: kim }));
    await log.append(turn('b', 1));
    expect((await log.modelUse())[qwen]?.turns).toBe(2);
    await log.eraseDeveloper('kim');
    expect((await log.modelUse())[qwen]?.turns).toBe(1);
  });
});
