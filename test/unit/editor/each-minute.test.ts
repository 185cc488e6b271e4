import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eachMinute } from '../../../src/editor/eachMinute';
import { EventEmitter } from './vscode';

vi.mock('vscode', () => import('./vscode'));

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('draws a view anew every minute that it is seen, and when it is seen again', () => {
  const changed = new EventEmitter<{ visible: boolean }>();
  const view = { visible: true, onDidChangeVisibility: changed.event };
  const turn = (visible: boolean): void => {
    view.visible = visible;
    changed.fire({ visible });
  };
  let drawn = 0;
  const drawing = eachMinute(view, () => (drawn += 1));
  vi.advanceTimersByTime(120_000);
  expect(drawn).toBe(2);
  turn(false);
  vi.advanceTimersByTime(600_000);
  expect(drawn).toBe(2);
  turn(true);
  expect(drawn).toBe(3);
  drawing.dispose();
  vi.advanceTimersByTime(600_000);
  turn(true);
  expect(drawn).toBe(3);
});
