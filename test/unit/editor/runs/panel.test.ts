import { expect, it, vi } from 'vitest';
import type { Run } from '../../../../src/core/training/runs';
import type { Action } from '../../../../webview/run/protocol';

const commands: unknown[][] = [];

vi.mock('vscode', async () => ({
  ...(await import('../vscode')),
  commands: { executeCommand: (...command: unknown[]) => Promise.resolve(void commands.push(command)) },
}));

const { perform } = await import('../../../../src/editor/runs/panel');

const run = { folder: '/project/runs/r1' };
const model = 'local:/project/runs/r1/model';
const chat = { mode: 'ask', query: '@tandem ', isPartialQuery: true };

it.each<[Action, unknown[][]]>([
  ['play', [['set', 'agent', model], ['tandem.playNext']]],
  [
    'chat',
    [
      ['set', 'agent', model],
      ['workbench.action.chat.open', { ...chat, modelSelector: { vendor: 'tandem', id: model } }],
    ],
  ],
  ['evaluate', [['tandem.evaluateRuns', { kind: 'run', run }]]],
])('what is next after a run that is done: %s', async (action, done) => {
  commands.length = 0;
  const set = (...setting: unknown[]) => Promise.resolve(void commands.push(['set', ...setting]));
  const engine = { localPlaces: [], configuration: { set } };
  await perform(action, run as Run, engine as never);
  expect(commands).toEqual(done);
});
