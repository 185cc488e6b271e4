import { expect, test, vi } from 'vitest';
import type { ExtensionContext, WebviewPanelSerializer } from 'vscode';

vi.mock('vscode', () => import('../vscode'));
const { WebviewPanel, window } = await import('../vscode');
const { Sessions } = await import('../../../../src/editor/session/sessions');

const listening = { dispose: () => undefined };

test('a session that was left before it drew anything is closed after a reload, without a word', async () => {
  const show = vi.fn();
  const serializer = vi.spyOn(window, 'registerWebviewPanelSerializer');
  new Sessions(
    {} as ExtensionContext,
    { onDidChange: () => listening } as never,
    { onDidChangeLog: () => listening, first: { show } } as never,
    {} as never,
    { onDidChangeTreeData: () => listening } as never,
    {} as never,
  );
  const panel = new WebviewPanel();
  await (serializer.mock.lastCall as unknown as [string, WebviewPanelSerializer])[1].deserializeWebviewPanel(
    panel as never,
    undefined,
  );
  expect(panel.isClosed).toBe(true);
  expect(show).not.toHaveBeenCalled();
});
