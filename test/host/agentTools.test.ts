import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { actingTools, readingTools } from '../../src/core/tools/names';
import { tools } from '../../src/core/tools/tools';
import { questionOf } from '../../src/editor/agentTools/questions';
import { workplaceOf } from '../../src/editor/agentTools/workplace';
import { configure, tandem } from './tandem';

const words = ({ content }: vscode.LanguageModelToolResult): string =>
  content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('\n');

/** Calls a tool as another extension would. */
const invoked = (name: string, input: object): Thenable<vscode.LanguageModelToolResult> =>
  vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });

describe('The tools for the agent of the editor', () => {
  before(async () => {
    await tandem();
  });

  it('are listed with what they take', () => {
    const tools = vscode.lm.tools.filter(({ name }) => name.startsWith('tandem_'));
    assert.deepEqual(tools.map(({ name }) => name).sort(), [...readingTools, ...actingTools].sort());
    const collect = tools.find(({ name }) => name === 'tandem_collect')!;
    assert.match(collect.description, /grades the answers/);
    assert.deepEqual((collect.inputSchema as { required: string[] }).required, ['packs', 'tasks']);
  });

  it('list the packs and the runs of the workspace', async () => {
    assert.match(words(await invoked('tandem_list_packs', {})), /written-by-hand\.jsonl: 32 tasks/);
    assert.match(words(await invoked('tandem_list_runs', {})), /There are no runs/);
  });

  it('ask before they act, and then play with the settings of the folder', async () => {
    const app = await tandem();
    const input = { packs: ['starter-world'], tasks: 2, simulator: 'rules' };
    const { title, message } = await questionOf('tandem_collect', input, app);
    assert.equal(title, 'Collect dialogues?');
    assert.match(
      message,
      /^This plays up to 2 dialogues of starter with rules about tasks of starter-world,/,
    );
    await configure('protocol.maxTurns', 3);
    try {
      const { signal } = new AbortController();
      const call = { signal, report: () => undefined };
      const { data } = await tools.tandem_collect.call(input, workplaceOf(app), call);
      assert.equal(data.done, 2);
      const log = await app.engine.log();
      const filter = { collection: String(data.collection) };
      const { rows, total } = log.list({ filter, offset: 0, limit: 1 });
      assert.equal(total, 2);
      assert.equal((await log.trajectory(rows[0]!.id))?.started.protocol.maxTurns, 3);
    } finally {
      await configure('protocol.maxTurns', undefined);
    }
  });

  it('say in one sentence why they refuse', async () => {
    // It is refused before a person would be asked.
    await assert.rejects(
      async () => invoked('tandem_collect', { packs: ['none'], tasks: 1 }),
      /There is no pack "none" here; there are .*written-by-hand\.jsonl/,
    );
  });
});
