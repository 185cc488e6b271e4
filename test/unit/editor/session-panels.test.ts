import { expect, test, vi } from 'vitest';
import type { ExtensionContext, WebviewPanel } from 'vscode';

const listening = { dispose: () => undefined };

vi.mock('vscode', async () => ({
  ...(await import('./vscode')),
  window: { registerWebviewPanelSerializer: () => listening },
  workspace: { onDidGrantWorkspaceTrust: () => listening },
}));

const { SessionPanels } = await import('../../../src/editor/session/panels');

test('a session that was left before it drew anything is closed after a reload, without a word', async () => {
  const show = vi.fn();
  const panels = new SessionPanels(
    {} as ExtensionContext,
    { onDidChange: () => listening } as never,
    { onDidChangeLog: () => listening, first: { show } } as never,
    {} as never,
    { onDidChangeTreeData: () => listening } as never,
    {} as never,
  );
  const panel = { dispose: vi.fn() };
  await panels.deserializeWebviewPanel(panel as unknown as WebviewPanel, undefined);
  expect(panel.dispose).toHaveBeenCalledOnce();
  expect(show).not.toHaveBeenCalled();
});
