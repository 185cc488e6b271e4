import type { LogOutputChannel } from 'vscode';
import { expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../fixtures/eventually';
import { openLog, play, temporaryFolder } from '../../fixtures/log';
import { window } from './vscode';

vi.mock('vscode', () => import('./vscode'));
const { Logs, unlessClosed } = await import('../../../src/editor/logs');

it('a view that reads a log while that is closed gets nothing, and every other error', async () => {
  const log = await openLog();
  await play(log, 'e1', 1);
  const read = (): Promise<number> => Promise.resolve().then(() => log.count().total);
  expect(await unlessClosed(read)).toBe(1);
  await log.close();
  expect(await unlessClosed(read)).toBeUndefined();
  await expect(unlessClosed(() => Promise.reject(new Error('The disk failed.')))).rejects.toThrow('The disk');
});

it('what another machine appends is found where no file system tells of it, rarely without the focus', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const folder = await temporaryFolder();
  const other = await openLog(folder);
  await play(other, 'e1', 1);
  const report = vi.fn();
  // Only notes and problems of a log are written there, and this log has none.
  const logs = new Logs({} as LogOutputChannel, report);
  onTestFinished(async () => {
    vi.useRealTimers();
    window.state.focused = true;
    await logs.keep([]);
  });
  const changes = vi.fn();
  logs.onDidChange(changes);
  const log = await logs.open(folder);
  const found = (id: string): Promise<void> =>
    eventually(() => expect(changes).toHaveBeenLastCalledWith({ folder, episodes: [id] }));
  const refresh = vi.spyOn(log, 'refresh');

  await play(other, 'e2', 1);
  vi.advanceTimersByTime(5_000);
  await found('e2');

  window.state.focused = false;
  await play(other, 'e3', 1);
  refresh.mockClear();
  vi.advanceTimersByTime(20_000);
  expect(refresh).not.toHaveBeenCalled();
  vi.advanceTimersByTime(5_000);
  await found('e3');

  expect(report).not.toHaveBeenCalled();
});
