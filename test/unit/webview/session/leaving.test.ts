import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import type { SessionState } from '../../../../webview/session/protocol';
import { rendered } from '../rendered';

vi.mock('@vscode/webview-ui-toolkit', () => import('../toolkit'));
vi.stubGlobal('acquireVsCodeApi', () => ({}));
afterAll(() => void vi.unstubAllGlobals());

// The import is dynamic, because views are another TypeScript program with browser types.
const { leaving } = (await import(path.resolve('webview', 'session/leaving.ts'))) as {
  leaving: (state: Partial<SessionState>) => unknown;
};

it('the way out says what becomes of the answer: a grade, or a change of the own file', () => {
  const shown = (more: Partial<SessionState> = {}): string =>
    rendered(leaving({ phase: 'choosing', ...more }));
  expect(shown()).toContain("Take the agent's last message as its answer and grade it");
  expect(shown({ onlyDeveloperKnows: true })).toContain(
    "Take the agent's last message as its answer and review the change",
  );
});
