import { createServer, type AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../fixtures/eventually';
import { WasiPool } from '../../src/core/grading/wasi/pool';
import { ScoringProcess } from '../../src/core/model/local/critic/process';
import { InferenceProcess } from '../../src/core/model/local/process';

let folder: string;
let script: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-inspect-'));
  script = path.join(folder, 'grader.js');
  await writeFile(script, 'setInterval(() => undefined, 1000);');
  await writeFile(path.join(folder, 'python.image'), '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** Functions that start a child process and return a function that ends it. */
const processes = {
  TANDEM_INSPECT_GRADER: async () => {
    const pool = await WasiPool.open({ assets: folder, workers: 1, memoryMegabytes: 64 });
    const job = {
      source: '',
      calls: [],
      start: 0,
      mode: 'fixed',
      limitMilliseconds: 1,
      seed: '0',
      own: [],
      imported: [],
    } as const;
    const closed = expect(pool.run(job)).rejects.toThrow('closed');
    return () => Promise.all([closed, pool.close()]);
  },
  TANDEM_INSPECT_INFERENCE: () => {
    const inference = new InferenceProcess(script, { folder, graph: 'model.onnx', memoryBytes: 0 });
    const closed = expect(inference.load()).rejects.toThrow('closed');
    return Promise.resolve(() => Promise.all([closed, inference.close()]));
  },
  TANDEM_INSPECT_SCORING: () => {
    const scoring = new ScoringProcess(script, folder);
    return Promise.resolve(() => scoring.close());
  },
};

test.each(Object.entries(processes))('a debugger can attach where %s says', async (variable, start) => {
  const port = await freePort();
  vi.stubEnv(variable, String(port));
  const close = await start();
  try {
    await eventually(async () => {
      const targets = await fetch(`http://127.0.0.1:${port}/json/list`);
      expect(await targets.text()).toContain('grader.js');
    });
  } finally {
    await close();
  }
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
