import { describe, expect, it } from 'vitest';
import type { Share } from '../../../../src/core/evaluation/agreement';
import { wilson } from '../../../../src/core/evaluation/interval';
import { agreementWords, heldOutSentence, heldOutWords } from '../../../../src/editor/credit/words';
import { english } from '../translate';

const share = (agreed: number, of: number): Share => ({
  agreed,
  of,
  rate: of === 0 ? null : agreed / of,
  interval: wilson(of === 0 ? 0 : agreed / of, of),
});

describe('the agreement in words', () => {
  it('gives the count, the rate and its interval, and says that there are no verdicts', () => {
    expect(agreementWords({ verdicts: share(0, 0), thumbs: share(0, 0) }, english)).toEqual([
      'not reviewed yet',
    ]);
    expect(agreementWords({ verdicts: share(8, 10), thumbs: share(0, 0) }, english)).toEqual([
      'people agree in 8 of 10 turns with a verdict (80 %, 49–94)',
    ]);
    expect(agreementWords({ verdicts: share(0, 1), thumbs: share(3, 4) }, english)).toEqual([
      'people agree in 0 of 1 turn with a verdict (0 %, 0–79)',
      'agrees with the thumb in 3 of 4 turns (75 %, 30–95)',
    ]);
  });
});

it('says how a critic does on held-out pairs, beside its control where that was measured', () => {
  expect(heldOutWords({ accuracy: 0.784, pairs: 40 }, english)).toBe('held-out pair accuracy 78 %');
  const both = { accuracy: 0.784, pairs: 40, untrained: 0.55 };
  expect(heldOutWords(both, english)).toBe('held-out pair accuracy 78 %, untrained 55 %');
  expect(heldOutSentence(both, english)).toBe(
    'Held-out pair accuracy: 78.4 % of 40. A pair is correct when the better of two dialogues about a held-out task scores higher. Untrained baseline: 55.0 %.',
  );
});
