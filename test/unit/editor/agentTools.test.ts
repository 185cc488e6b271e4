import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type * as vscode from 'vscode';
import { actingTools, readingTools, type ToolName } from '../../../src/core/tools/toolNames';
import { dialogue, doubling, openLog, temporaryFolder } from '../../fixtures/log';
import { taskRow } from '../../fixtures/tasks';
import * as standIn from './vscode';

vi.mock('vscode', () => import('./vscode'));
const { registerTools } = await import('../../../src/editor/agentTools/register');

type AgentTool = vscode.LanguageModelTool<unknown>;

afterEach(() => {
  standIn.workspace.isTrusted = true;
  standIn.lm.tools.clear();
});

/** Registers the tools in a folder with a pack and a log, where the agent of the settings has a price. */
async function registered() {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'fees.jsonl');
  await writeFile(file, JSON.stringify(taskRow()));
  const log = await openLog(path.join(folder, '.tandem'));
  await log.recordTask(doubling);
  const usage = { promptTokens: 10_000, completionTokens: 100 };
  const events = dialogue('a', 1, { agent: 'openai:m', task: doubling.id });
  await log.appendAll(events.map((one) => (one.event === 'agent-turn' ? { ...one, usage } : one)));
  const engine = {
    places: () => ({ folder, dataFolder: path.join(folder, '.tandem') }),
    ...{ agentName: 'openai:m', simulatorName: '', localPlaces: [] },
    calledBy: (spec: string) => (spec === 'openai:m' ? 'My Server' : spec),
    servers: {
      find: (spec: string) => (spec === 'openai:m' ? { price: { prompt: 1, completion: 2 } } : undefined),
    },
    log: () => Promise.resolve(log),
  };
  const report = vi.fn();
  const runStarter = { start: vi.fn(() => Promise.resolve(undefined)) };
  const app = {
    ...{ engine: { report }, runStarter },
    engines: { shown: { engine }, of: () => engine },
    packs: { all: () => Promise.resolve([{ file, name: 'fees' }]) },
  };
  registerTools(app as never);
  const tool = (name: ToolName): AgentTool => standIn.lm.tools.get(name) as AgentTool;
  const never = { onCancellationRequested: standIn.cancelled.event } as never;
  const prepared = async (name: ToolName, input: unknown): Promise<vscode.PreparedToolInvocation> =>
    (await tool(name).prepareInvocation!({ input }, never))!;
  const invoked = async (name: ToolName, input: unknown): Promise<string[]> => {
    const result = await tool(name).invoke({ input, toolInvocationToken: undefined }, never);
    return result!.content.map((part) => (part as vscode.LanguageModelTextPart).value);
  };
  return { folder, report, runStarter, prepared, invoked };
}

describe('the tools of the editor’s agent', () => {
  it('are registered all, and say what they found in words and as data', async () => {
    const { invoked } = await registered();
    expect([...standIn.lm.tools.keys()]).toEqual([...readingTools, ...actingTools]);
    const [text, data] = await invoked('tandem_list_packs', {});
    expect(text).toMatch(/^fees\.jsonl: 1 tasks/);
    expect(JSON.parse(data!)).toMatchObject({ packs: [{ pack: 'fees.jsonl', tests: 2 }] });
    expect((await invoked('tandem_show_figures', {}))[0]).toContain('openai:m: 1 dialogues');
  });

  it('ask a person before they act, with who plays how much', async () => {
    const { prepared } = await registered();
    const asked = async (name: ToolName, input: unknown): Promise<string> =>
      (await prepared(name, input)).confirmationMessages!.message as string;
    expect(await asked('tandem_collect', { packs: ['fees'], tasks: 3, rollouts: 4 })).toMatch(
      / 12 dialogues of My Server .* tasks of fees.* 240,000 .* 2,400 .* \$0\.24/,
    );
    expect(await asked('tandem_evaluate', { packs: ['fees'], tasks: 3, agents: ['a', 'b'] })).toMatch(
      / 6 dialogues of a, b /,
    );
    expect(await asked('tandem_start_run', { configuration: { model: { base: 'base' } } })).toMatch(/base/);
    expect(await asked('tandem_stop_run', { run: 'r1' })).toMatch(/^r1 /);
  });

  it('ask nothing before they read, nor before they refuse the input', async () => {
    const { prepared, invoked, report } = await registered();
    for (const name of readingTools) expect(await prepared(name, {})).toEqual({});
    expect(await prepared('tandem_collect', { packs: ['fees'] })).toEqual({});
    await expect(invoked('tandem_collect', { packs: ['fees'] })).rejects.toThrow('input.tasks is missing.');
    await expect(invoked('tandem_collect', { packs: ['rates'], tasks: 1 })).rejects.toThrow(
      'There is no pack "rates" here; there are fees.jsonl.',
    );
    expect(report).toHaveBeenCalledTimes(2);
  });

  it('ask also where the question cannot say what would happen, in one line', async () => {
    const { prepared, report } = await registered();
    const { title, message } = (await prepared('tandem_collect', { packs: ['rates\nYes'], tasks: 1 }))
      .confirmationMessages!;
    expect(title).toBe('Collect dialogues?');
    expect(message).toMatch(/^What it would do is not known: There is no pack "rates Yes" here/);
    expect(report).not.toHaveBeenCalled();
    const stop = await prepared('tandem_stop_run', { run: 'r1\n\u202eYes' });
    expect(stop.confirmationMessages!.message).toMatch(/^r1 \\u202eYes writes a checkpoint first/);
  });

  it('start a run as the form does, in the folder of the log', async () => {
    const { folder, runStarter, invoked } = await registered();
    const configuration = { model: { base: 'base' }, data: { log: '.tandem' } };
    expect((await invoked('tandem_start_run', { configuration }))[0]).toMatch(/the person declined/);
    expect(runStarter.start).toHaveBeenCalledWith(
      configuration,
      expect.objectContaining({ from: 'The configuration', folder }),
    );
  });

  it.each([...readingTools, ...actingTools])(
    '%s does nothing in a workspace that is not trusted',
    async (name) => {
      const { invoked } = await registered();
      standIn.workspace.isTrusted = false;
      await expect(invoked(name, { run: 'r1' })).rejects.toThrow(/not trusted/);
    },
  );
});
