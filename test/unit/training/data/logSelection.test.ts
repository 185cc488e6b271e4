import { expect, test } from 'vitest';
import { chosenBy } from '../../../../src/core/training/data/prepare';
import { LOG_VERSION, type NewEvent } from '../../../../src/core/trajectory/event';
import { dialogue, doubling, foldTrajectory } from '../../../fixtures/log';

test('a model in a mixture is excluded like any other', () => {
  const agent = 'mixture:starter+openai:m@http://lab.example/v1,critic=c';
  const events: NewEvent[] = [{ event: 'task', task: doubling }, ...dialogue('mixed', 1, { agent })];
  const played = foldTrajectory(
    events.map((event) => ({ version: LOG_VERSION, at: '2026-01-01T00:00:00.000Z', ...event })),
  )!;
  const reasonFor = (pattern: string): string | undefined =>
    chosenBy({ log: '.tandem', exclude_models: [pattern] }).leaveOut?.(played);
  expect(reasonFor('openai:m@*')).toBe('model terms');
  expect(reasonFor('vscode:*')).toBeUndefined();
});
