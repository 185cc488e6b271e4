import { expect, it, vi } from 'vitest';
import type { Run } from '../../../../src/core/training/runs';
import type { Action } from '../../../../webview/run/protocol';

const commands: unknown[][] = [];

vi.mock('vscode', async () => ({
  ...(await import('../vscode')),
  commands: { executeCommand: (...command: unknown[]) => Promise.resolve(void commands.push(command)) },
}));

const { perform } = await import('../../../../src/editor/runs/panel');

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
  const engine = { localPlaces: [], configuration: { set } };
  await perform(action, { folder: '/project/runs/r1' } as Run, engine as never);
  expect(commands).toEqual(done);
});
