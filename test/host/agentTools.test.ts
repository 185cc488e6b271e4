import assert from 'node:assert/strict';
import { tools } from '../../src/core/tools/tools';
import { workplaceOf } from '../../src/editor/agentTools/questions';
import { configure, tandem } from './tandem';

describe('The tools for the agent of the editor', () => {
  it('play with the settings of the folder', async () => {
    const app = await tandem();
    await configure('protocol.maxTurns', 3);
    try {
      const input = { packs: ['starter-world'], tasks: 2, simulator: 'rules' };
      const call = { signal: new AbortController().signal, report: () => undefined };
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
});
