import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Answering } from '../../../../webview/session/answering';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('takes a host for gone that answers nothing for ten seconds, until it is heard again', () => {
  const changed = vi.fn();
  const answering = new Answering(changed);
  answering.asked();
  vi.advanceTimersByTime(6_000);
  // A further request does not restart the wait.
  answering.asked();
  vi.advanceTimersByTime(3_000);
  expect(answering.isSilent).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(answering.isSilent).toBe(true);
  answering.heard();
  expect(answering.isSilent).toBe(false);
  expect(changed).toHaveBeenCalledTimes(2);
});

it('waits for nothing while nothing is asked, and not after an answer', () => {
  const changed = vi.fn();
  const answering = new Answering(changed);
  answering.heard();
  answering.asked();
  answering.heard();
  vi.advanceTimersByTime(60_000);
  expect(changed).not.toHaveBeenCalled();
});
