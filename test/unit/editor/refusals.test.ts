import { expect, it, vi } from 'vitest';

vi.mock('vscode', () => import('./vscode'));
const { commands } = await import('../../../src/editor/commands');

it('refuses in a workspace that is not trusted what connects, asks, downloads or trains, and lets everything be read', () => {
  const refused = Object.entries(commands).filter(([, command]) => 'refused' in command);
  expect(refused.map(([name]) => name).sort()).toEqual([
    ...['addModelFolder', 'advanceQueue', 'chooseAgent', 'chooseCandidates', 'chooseSimulator'],
    ...['collaborateOnFunction', 'collect', 'compareBlindly', 'connectModel', 'continueRun'],
    ...[
      'downloadPack',
      'editConnection',
      'evaluateRuns',
      'finishRun',
      'fitSimulator',
      'forkTrajectory',
      'killRun',
    ],
    ...['makeTask', 'newRun', 'pauseRun', 'publish', 'resumeRun'],
    ...['runTests', 'setApiKey', 'showSimulator', 'startQueuedRun', 'startRunFile', 'testAnswer'],
    ...['testConnection', 'testProposal', 'useAsAgent', 'useAsSecondAgent', 'useAsSimulator'],
  ]);
  expect(commands.testConnection.refused).toBe('Servers are not asked');
});
