import { expect, it } from 'vitest';
import { settingOf } from '../../../../src/core/evaluation/loop/evaluationCache';
import { bakeryPage } from '../../../fixtures/pageDialogue';
import { doubling } from '../../../fixtures/log-task';

const keyOf = (task: object, pageVersion: string, maxTurns = 10): string =>
  settingOf(
    {
      ...{ tasks: [{ task }], simulator: { name: 'rules' }, mode: 'fixed', seed: 0, rollouts: 1 },
      ...{ sampling: { temperature: 1, maxTokens: 256 }, protocol: { maxTurns: 10, replyLimit: 400 } },
      pageProtocol: { maxTurns, replyLimit: 1000 },
      prompts: { versions: {}, pageVersions: { 'agent-page.md': pageVersion } },
    } as never,
    'mine',
  ).key;

it('compares no evaluations of pages under other prompts or rules of play', () => {
  expect(keyOf(bakeryPage, 'a')).toBe(keyOf(bakeryPage, 'a'));
  expect(keyOf(bakeryPage, 'a')).not.toBe(keyOf(bakeryPage, 'b'));
  expect(keyOf(bakeryPage, 'a')).not.toBe(keyOf(bakeryPage, 'a', 4));
});

it('compares evaluations of functions whatever is said about pages', () => {
  expect(keyOf(doubling, 'a')).toBe(keyOf(doubling, 'b', 4));
});
