import assert from 'node:assert/strict';
import { isRunning } from '../../src/core/trajectory/heartbeat';
import type { ModelNode } from '../../src/editor/models/items';
import type { ListedTask } from '../../src/editor/packs';
import { closeEditors, configure, consent, tandem, until } from './tandem';

type ModelRow = Extract<ModelNode, { kind: 'model' }>;

async function starterRow(): Promise<ModelRow['row']> {
  const nodes = await (await tandem()).models.getChildren();
  const models = nodes.filter((node) => node.kind === 'model');
  const node = models.find(({ place }) => place.name === 'starter');
  assert.ok(node, 'The view does not list the starter model.');
  return node.row;
}

async function firstOfTheWorld(): Promise<ListedTask> {
  const pack = (await (await tandem()).packs.all()).find(({ name }) => name === 'starter-world');
  assert.ok(pack?.tasks[0], 'The workspace has no tasks of the starter world.');
  return pack.tasks[0];
}

/** Returns the shared libraries that this process has loaded. */
function sharedObjects(): string[] {
  const report = process.report.getReport() as unknown as { sharedObjects: string[] };
  return report.sharedObjects;
}

describe('The models view in the extension host', () => {
  afterEach(closeEditors);

  it('shows how fast the agent wrote, whose process ends when another agent is chosen', async () => {
    const { panels } = await tandem();
    const { shown } = await panels.openTask(await firstOfTheWorld());
    await shown.do({ type: 'start', consent: consent });
    assert.ok(shown.snapshot.turns[0]?.visible, shown.state.notice?.message);
    await until('the speed is shown', async () => (await starterRow()).tokensPerSecond !== undefined);
    const { state } = await starterRow();
    assert.ok(state.kind === 'ready' && state.processId !== undefined);
    const { processId } = state;
    assert.deepEqual(
      sharedObjects().filter((file) => file.includes('onnxruntime')),
      [],
      'The extension host has loaded ONNX Runtime.',
    );

    await configure('agent', 'script:agents/asks-first.json');
    await until('the process is gone', () => !isRunning(processId));
    assert.equal((await starterRow()).state.kind, 'not-loaded');
    await configure('agent', 'starter');
  });
});
