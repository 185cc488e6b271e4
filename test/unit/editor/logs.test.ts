import { expect, it, vi } from 'vitest';
import { openLog, play } from '../../fixtures/log';

vi.mock('vscode', () => import('./vscode'));
const { unlessClosed } = await import('../../../src/editor/logs');

it('a view that reads a log while that is closed gets nothing, and every other error', async () => {
  const log = await openLog();
  await play(log, 'e1', 1);
  const read = (): Promise<number> => Promise.resolve().then(() => log.count().total);
  expect(await unlessClosed(read)).toBe(1);
  await log.close();
  expect(await unlessClosed(read)).toBeUndefined();
  await expect(unlessClosed(() => Promise.reject(new Error('The disk failed.')))).rejects.toThrow('The disk');
});
