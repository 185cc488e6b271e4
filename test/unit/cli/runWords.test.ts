import { expect, it } from 'vitest';
import { planInWords } from '../../../src/cli/runWords';
import { plan } from '../../fixtures/plan';

it('a plan has a line for each stage, for what it does not fit and for each shortage of data', () => {
  const sentence = 'The critic learns from 2 pairs: a better agent was measured with 300.';
  const shortage = { kind: 'pairs' as const, have: 2, enough: 300, sentence };
  const text = planInWords({
    ...plan,
    advice: ['Set model.training to lora.'],
    data: { ...plan.data, shortages: [shortage] },
  });
  expect(text).toMatch(/^critic {6}1 min 40 s \(measured\)$/m);
  expect(text).toMatch(/^export {6}not known$/m);
  expect(text).toMatch(/^fits {8}yes$/m);
  expect(text).toContain('\nto do       Set model.training to lora.');
  expect(text).toContain(`\nfew data    ${sentence}`);
});
