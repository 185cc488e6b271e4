import { describe, expect, it } from 'vitest';
import {
  functionAround,
  functionNamed,
  functionsIn,
  functionText,
  stubsIn,
} from '../../../../src/core/task/python/functions';
import { file } from './shop';

describe('finding functions', () => {
  it('finds each with its lines, nested ones and methods too, and nothing in strings', () => {
    expect(
      functionsIn(file).map(({ name, firstLine, defLine, endLine }) => [name, firstLine, defLine, endLine]),
    ).toEqual([
      ['base', 10, 10, 12],
      ['parcel_price', 14, 17, 36],
      ['surcharge', 29, 29, 31],
      ['price', 40, 40, 43],
      ['tabbed', 42, 42, 43],
    ]);
  });

  it('gives the signature as it stands, and what the docstring says', () => {
    const [, found] = functionsIn(file);
    expect(found?.signature).toBe('def parcel_price(\n    weight_kg: float, zone=(1, ":"),\n) -> float:');
    expect(found?.docstring).toBe('The price of a parcel.\n\nHeavy ones cost more.');
    expect(functionNamed(file, 'base')).not.toHaveProperty('docstring');
  });

  it('finds the innermost one around a line', () => {
    const names = [0, 11, 14, 16, 30, 33, 38, 41].map((line) => functionAround(file, line)?.name);
    expect(names).toEqual([
      undefined,
      'base',
      'parcel_price',
      'parcel_price',
      'surcharge',
      'parcel_price',
      undefined,
      'price',
    ]);
  });

  it('reads carriage returns, one-liners, and a file that ends in the middle', () => {
    const one = functionNamed('def f(x): return x\r\ny = 1\r\n', 'f');
    expect(one).toMatchObject({ defLine: 0, endLine: 1, signature: 'def f(x):' });
    expect(
      functionText('  def f(x):\r\n    return x\r\n', functionsIn('  def f(x):\r\n    return x\r\n')[0]!),
    ).toBe('def f(x):\n  return x');
    expect(functionsIn('def f(')).toEqual([]);
    expect(functionsIn('def f(x):')).toMatchObject([{ name: 'f', endLine: 1 }]);
  });
});

describe('finding stubs', () => {
  const names = (source: string): string[] => stubsIn(source).map(({ name }) => name);

  it.each([
    'def f(x): ...',
    'def f(x):\n    pass  # later',
    'def f(x):\n    """Doubles it."""\n',
    'def f(x):\r\n    """Doubles it."""\r\n    # TODO\r\n    raise NotImplementedError\r\n',
    'async def f(x):\n    raise NotImplementedError("not (yet)")\n\n\ny = 1\n',
    'class A:\n    @staticmethod\n    def f(x):\n        ...\n',
  ])('takes %j for one', (source) => {
    expect(names(source)).toEqual(['f']);
  });

  it.each([
    'def f(x):',
    'def f(x):\n    # pass\n',
    'def f(x): return x',
    'def f(x):\n    """Doubles it."""\n    return 2 * x\n',
    'def f(x):\n    raise NotImplementedError("x")\n    return (1)\n',
    'def f(x):\n    raise NotImplementedError if x else ValueError\n',
    'class A:\n    @abc.abstractmethod\n    def f(x): ...\n',
    '@overload\ndef f(x: int) -> int: ...\n',
    'class A(Protocol):\n    y: int\n\n    def f(x): ...\n',
  ])('does not take %j for one', (source) => {
    expect(names(source)).toEqual([]);
  });
});
