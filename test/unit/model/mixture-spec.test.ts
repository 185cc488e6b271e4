import { expect, test } from 'vitest';
import { mixedModels, mixtureSpec } from '../../../src/core/model/mixtureSpec';
import { openModel } from '../../../src/core/model/spec';

test('n and lambda have defaults', () => {
  expect(mixtureSpec('mixture:starter+local:runs/1/model,critic=runs/2/critic')).toEqual({
    models: ['starter', 'local:runs/1/model'],
    critic: 'runs/2/critic',
    n: 4,
    lambda: 0,
  });
  expect(mixtureSpec('mixture:starter,critic=c,n=8,lambda=0.05')).toMatchObject({ n: 8, lambda: 0.05 });
  expect(mixtureSpec('starter')).toBeUndefined();
});

test('a plus sign inside a name separates nothing', () => {
  expect(mixedModels('mixture:local:a+b+openai:m+v2@http://x/v1,http://y/v1,critic=c')).toEqual([
    'local:a+b',
    'openai:m+v2@http://x/v1,http://y/v1',
  ]);
  expect(mixedModels('mixture:starter+starter-pages,critic=c')).toEqual(['starter', 'starter-pages']);
  expect(mixedModels('local:mixture')).toEqual(['local:mixture']);
});

test.each([
  ['mixture:starter', 'names no critic, which must choose'],
  ['mixture:,critic=c', 'names no model'],
  ['mixture:starter+starter,critic=c', 'names starter twice, where n sets the number of its candidates'],
  ['mixture:starter,critic=c,unit=token', 'has no setting unit'],
  ['mixture:starter,critic=c,n=0', 'must be a whole number from 1 to 64'],
  ['mixture:starter,critic=c,lambda=-1', 'must be a number from 0'],
])('%s is refused with a sentence that says what to write', (spec, part) => {
  expect(() => mixtureSpec(spec)).toThrow(part);
  expect(() => mixtureSpec(spec)).toThrow('Write mixture:<model>+<model>,critic=<folder of a critic>');
});

test('a simulator cannot be a mixture', () => {
  expect(() => openModel('mixture:starter,critic=c')).toThrow('A mixture plays the agent');
});
