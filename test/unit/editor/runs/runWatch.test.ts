import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Engines } from '../../../../src/editor/engines';
import { temporaryFolder } from '../../../fixtures/log';
import { EventEmitter, grantTrust, workspace } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { RunWatch } = await import('../../../../src/editor/runs/runWatch');

afterEach(() => {
  workspace.isTrusted = true;
});

it('knows of runs in a workspace that is not trusted, and reads them once it is trusted', async () => {
  const dataFolder = path.join(await temporaryFolder(), '.tandem');
  await mkdir(path.join(dataFolder, 'runs', 'a'), { recursive: true });
  await writeFile(path.join(dataFolder, 'runs', 'a', 'run.json'), '{}');
  const engine = { dataFolder };
  const engines = { logs: [{ engine }], shown: { engine, onDidChange: new EventEmitter<void>().event } };
  workspace.isTrusted = false;
  const watch = new RunWatch(engines as unknown as Pick<Engines, 'logs' | 'shown'>, (error) => {
    throw error;
  });
  await watch.look();
  expect(watch.all).toEqual([]);
  expect(watch.runs).toBeUndefined();
  await expect.poll(() => watch.hasAny).toBe(true);

  grantTrust();
  await watch.look();
  expect(watch.all).toMatchObject([{ id: 'a' }]);
  watch.dispose();
});
