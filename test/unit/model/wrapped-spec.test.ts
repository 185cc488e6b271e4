import { expect, test } from 'vitest';
import { wrappedSpec } from '../../../src/core/model/wrappedSpec';

test.each([
  ['guided:starter', 'starter', {}],
  ['guided:starter,eta=4', 'starter', { eta: '4' }],
  ['guided:local:runs/a=b,c,eta=0.5', 'local:runs/a=b,c', { eta: '0.5' }],
  ['guided:openai:m@http://a/v1,http://b/v1,eta=1', 'openai:m@http://a/v1,http://b/v1', { eta: '1' }],
  ['guided:a+b,critic=runs/1/critic,n=4', 'a+b', { critic: 'runs/1/critic', n: '4' }],
])('%s wraps %s', (spec, inner, settings) => {
  const wrapped = wrappedSpec(spec, 'guided');
  expect(wrapped?.inner).toBe(inner);
  expect(Object.fromEntries(wrapped!.settings)).toEqual(settings);
});

test('a spec of another kind wraps nothing', () => {
  expect(wrappedSpec('local:guided:x,eta=1', 'guided')).toBeUndefined();
});
