import { expect, it, vi } from 'vitest';
import type { Run } from '../../../src/core/training/runs';
import { eventually } from '../../fixtures/eventually';
import type { Action } from '../../../webview/run/protocol';

const commands: unknown[][] = [];
const listening = { dispose: () => undefined };

vi.mock('vscode', () => ({
  l10n: { t: (message: string) => message },
  window: { registerWebviewPanelSerializer: () => listening },
  workspace: { onDidGrantWorkspaceTrust: () => listening },
  commands: { executeCommand: (...command: unknown[]) => Promise.resolve(void commands.push(command)) },
}));

const { RunPanels } = await import('../../../src/editor/runs/panels');

it.each([
  ['play', [['set', 'agent', 'local:/project/runs/r1/model'], ['tandem.playFirst']]],
  [
    'chat',
    [
      ['set', 'agent', 'local:/project/runs/r1/model'],
      [
        'workbench.action.chat.open',
        {
          ...{ mode: 'ask', query: '@tandem ', isPartialQuery: true },
          modelSelector: { vendor: 'tandem', id: 'local:/project/runs/r1/model' },
        },
      ],
    ],
  ],
  ['compare', [['tandem.compareRuns', { kind: 'run', run: { folder: '/project/runs/r1' } }]]],
  ['evaluate', [['tandem.evaluateRuns', { kind: 'run', run: { folder: '/project/runs/r1' } }]]],
] as [Action, unknown[][]][])('what is next after a run that is done: %s', async (action, done) => {
  commands.length = 0;
  const set = (...setting: unknown[]) => Promise.resolve(void commands.push(['set', ...setting]));
  const first = {
    localPlaces: [],
    configuration: { set },
    show: (error: unknown) => expect.fail(String(error)),
  };
  const watch = { onDidChange: () => listening };
  const panels = new RunPanels(undefined as never, { first } as never, watch as never, watch as never);
  panels.act(action, { folder: '/project/runs/r1' } as Run);
  await eventually(() => expect(commands).toEqual(done));
});
