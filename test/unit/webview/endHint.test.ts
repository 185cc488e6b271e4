import { expect, it } from 'vitest';
import { endHint } from '../../../webview/session/endHint';

it('the way out says what becomes of the answer: a grade, or a change of the own file', () => {
  expect(endHint({})).toBe("Take the agent's last message as its answer and grade it");
  expect(endHint({ onlyDeveloperKnows: true })).toBe(
    "Take the agent's last message as its answer and review the change",
  );
});
