import { expect, it } from 'vitest';
import { commands } from '../../../src/editor/contributions';
import { refusalOf } from '../../../src/editor/trust/refusals';
import { english } from './translate';

it('refuses in a workspace that is not trusted what connects, asks, downloads or trains, and lets everything be read', () => {
  const refused = Object.entries(commands).filter(([, id]) => refusalOf(id, english) !== undefined);
  expect(refused.map(([name]) => name).sort()).toEqual([
    'addModelFolder',
    'advanceQueue',
    'chooseAgent',
    'chooseCandidates',
    'chooseSimulator',
    'collaborateOnFunction',
    'collect',
    'compareBlindly',
    'connectModel',
    'continueRun',
    'downloadPack',
    'editConnection',
    'evaluateRuns',
    'finishRun',
    'killRun',
    'makeTask',
    'newRun',
    'pauseRun',
    'resumeRun',
    'runTests',
    'setApiKey',
    'startQueuedRun',
    'startRunFile',
    'testAnswer',
    'testConnection',
    'testProposal',
    'useAsAgent',
    'useAsSecondAgent',
    'useAsSimulator',
  ]);
  expect(refusalOf(commands.testConnection, english)).toBe('Servers are not asked');
});
