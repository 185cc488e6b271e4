import { expect, test } from 'vitest';
import { refinedModels, refineSpec } from '../../../../src/core/dialogue/refinement/refineSpec';

test('a refining agent compares two drafts and has no verifier unless it says so', () => {
  expect(refineSpec('refine:starter')).toEqual({ model: 'starter', verifier: undefined, drafts: 2 });
  expect(refineSpec('refine:local:runs/a,b,verifier=openai:v@http://here/v1,drafts=4')).toEqual({
    ...{ model: 'local:runs/a,b', verifier: 'openai:v@http://here/v1', drafts: 4 },
  });
  expect(refineSpec('refine:mixture:a+b,critic=c,n=4,drafts=3')?.model).toBe('mixture:a+b,critic=c,n=4');
  expect(refineSpec('refine:g,verifier=v,refiner=local:r')).toMatchObject({ model: 'g', refiner: 'local:r' });
  expect(refineSpec('starter')).toBeUndefined();
});

test.each([
  'refine:',
  'refine:starter,drafts=0',
  'refine:starter,drafts=9',
  'refine:starter,drafts=two',
  'refine:starter,eta=4',
  'refine:starter,verifier=',
  'refine:starter,refiner=',
  'refine:starter,verifier=starter,drafts=1',
  'refine:starter,refiner=starter,drafts=1',
])('%s is refused', (spec) => {
  expect(() => refineSpec(spec)).toThrow(expect.objectContaining({ code: 'model/bad-spec' }));
});

test('its models are those whose terms and keys count', () => {
  const roles = 'refine:starter,verifier=openai:v,refiner=local:r';
  expect(refinedModels(roles)).toEqual(['starter', 'openai:v', 'local:r']);
  expect(refinedModels('openai:m')).toEqual(['openai:m']);
});
