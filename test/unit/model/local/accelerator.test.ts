import path from 'node:path';
import { expect, it } from 'vitest';
import { openWhereFastest } from '../../../../src/core/model/local/accelerator';

const graph = path.resolve('media/starter/onnx/model.onnx');
const megabytes = 2 ** 20;

it('a small model is computed by the processor, and nothing is said of it', async () => {
  const { graph: opened, notes } = await openWhereFastest(graph, 4 * megabytes);
  expect(opened.provider).toBe('cpu');
  expect(notes).toEqual([]);
});

// The result depends on the machine; without a GPU, the CPU computes.
it('a large one is tried on a graphics card, and one sentence says when that does not serve', async () => {
  const { graph: opened, notes } = await openWhereFastest(graph, 512 * megabytes);
  if (opened.provider === 'cpu')
    expect(notes).toEqual([
      expect.stringMatching(/^The processor computes the model: webgpu .+(, cuda .+)?\.$/),
    ]);
  else expect(['webgpu', 'cuda']).toContain(opened.provider);
});
