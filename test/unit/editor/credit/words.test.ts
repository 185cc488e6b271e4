import { expect, it } from 'vitest';
import type { Share } from '../../../../src/core/evaluation/agreement';
import { wilson } from '../../../../src/core/evaluation/interval';
import { agreementWords } from '../../../../src/editor/credit/words';
import { english } from '../translate';

const share = (agreed: number, of: number): Share => ({
  ...{ agreed, of, rate: of === 0 ? null : agreed / of },
  interval: wilson(of === 0 ? 0 : agreed / of, of),
});

it('the agreement with people is the count, the rate and its interval', () => {
  const words = agreementWords({ verdicts: share(8, 10), thumbs: share(3, 4) }, english);
  expect(words[0]).toMatch(/ 8 of 10 .*\(80 %, 49–94\)$/);
  expect(words[1]).toMatch(/ 3 of 4 .*\(75 %, 30–95\)$/);
  expect(agreementWords({ verdicts: share(0, 0), thumbs: share(0, 0) }, english)).toHaveLength(1);
});
