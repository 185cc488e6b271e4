import { expect, test } from 'vitest';
import { chosenBy } from '../../../../src/core/training/data/prepare';
import { LOG_VERSION, type NewEvent } from '../../../../src/core/trajectory/event';
import { dialogue, doubling, foldTrajectory } from '../../../fixtures/log';

test('the model and the verifier of a refining agent are excluded like any other', () => {
  const agent = 'refine:openai:m@http://lab.example/v1,verifier=vscode:copilot/x';
  const events: NewEvent[] = [{ event: 'task', task: doubling }, ...dialogue('refined', 1, { agent })];
  const played = foldTrajectory(
    events.map((event) => ({ version: LOG_VERSION, at: '2026-01-01T00:00:00.000Z', ...event })),
  )!;
  const reasonFor = (pattern: string): string | undefined =>
    chosenBy({ log: '.tandem', exclude_models: [pattern] }).leaveOut?.(played);
  expect(['openai:m@*', 'vscode:*', 'openai:other*'].map(reasonFor)).toEqual([
    ...['model terms', 'model terms', undefined],
  ]);
});
