import { expect, it, vi } from 'vitest';
import type { Run } from '../../../../src/core/training/runs';
import type { Action } from '../../../../webview/run/protocol';
import { window } from '../vscode';

const commands: unknown[][] = [];

vi.mock('vscode', async () => ({
  ...(await import('../vscode')),
  commands: { executeCommand: (...command: unknown[]) => Promise.resolve(void commands.push(command)) },
}));

const { perform } = await import('../../../../src/editor/runs/panel');

const run = { name: 'Lesson 1', folder: '/project/runs/r1' };
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
  ['people', [['tandem.showSimulator', { kind: 'run', run }]]],
])('what is next after a run that is done: %s', async (action, done) => {
  commands.length = 0;
  await perform(action, run as Run, engineOf('starter') as never);
  expect(commands).toEqual(done);
});

it('says that the agent of new dialogues is another one, and takes that back', async () => {
  commands.length = 0;
  window.showInformationMessage.mockResolvedValueOnce('Undo');
  await perform('chat', run as Run, engineOf('starter') as never);
  expect(commands).toContainEqual(['set', 'agent', 'starter']);
  expect(window.showInformationMessage).toHaveBeenLastCalledWith(
    'Lesson 1 now plays in the chat and in new dialogues.',
    'Undo',
  );
});

it('a trained collaborator becomes the simulator', async () => {
  commands.length = 0;
  const collaborator: Partial<Run> = { ...run, role: 'collaborator' };
  await perform('play', collaborator as Run, engineOf('starter') as never);
  expect(commands).toEqual([['set', 'simulator', model], ['tandem.playNext']]);
});

it('says nothing of an agent that plays already', async () => {
  window.showInformationMessage.mockClear();
  await perform('chat', run as Run, engineOf(model) as never);
  expect(window.showInformationMessage).not.toHaveBeenCalled();
});

function engineOf(agent: string): object {
  const configuration = {
    agent,
    set: (name: string, value: string) => {
      commands.push(['set', name, value]);
      configuration.agent = value;
      return Promise.resolve();
    },
  };
  return { localPlaces: [], configuration };
}
