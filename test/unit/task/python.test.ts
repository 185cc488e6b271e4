import { describe, expect, it } from 'vitest';
import { assertsAbout, equalityIn } from '../../../src/core/task/python/asserts';
import {
  functionAround,
  functionNamed,
  functionsIn,
  functionText,
} from '../../../src/core/task/python/functions';
import { appended, placed, withPlaced } from '../../../src/core/task/python/placing';
import { standalone } from '../../../src/core/task/python/standalone';

const file = `import math
from decimal import (
    Decimal,
    ROUND_HALF_UP as HALF,
)

LIMIT = 20  # kilograms
unused = "def not_me(x):"


def base(zone):
    return {1: 5, 2: 8}[zone]


@cached(
    size=3,
)
async def parcel_price(
    weight_kg: float, zone=(1, ":"),
) -> float:
    # What it costs.
    """The price of a parcel.

    Heavy ones cost more.
    """
    text = '''
def inside_a_string(): pass
'''

    def surcharge():
        return 4.5
    total = base(zone) \\
        + (surcharge()
if weight_kg > LIMIT else 0)
    return Decimal(total).quantize(HALF)
    # the end


# about the class
class Shop:
    def price(self, x):
        return x
\tdef tabbed(self): return 1
`;

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

  it('takes of several of one name the one nearest to a line', () => {
    const twice = 'class A:\n    def f(self): return 1\n\nclass B:\n    def f(self): return 2\n';
    expect(functionNamed(twice, 'f', 4)?.defLine).toBe(4);
    expect(functionNamed(twice, 'f')?.defLine).toBe(1);
    expect(functionNamed(twice, 'g')).toBeUndefined();
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

describe('putting an answer into a file', () => {
  const source =
    'import os\r\n\r\nclass Shop:\r\n    @staticmethod\r\n    def price(x):\r\n        ...\r\n\r\nx = 1\r\n';

  it('takes the place of the function, as far in and under its decorators', () => {
    const place = placed(source, 'def price(x):\n    if x:\n\n        return 1\n', { name: 'price' })!;
    expect(withPlaced(source, place)).toBe(
      'import os\r\n\r\nclass Shop:\r\n    @staticmethod\r\n    def price(x):\r\n        if x:\r\n\r\n            return 1\r\n\r\nx = 1\r\n',
    );
  });

  it('brings decorators of its own', () => {
    const place = placed(source, '@classmethod\ndef price(x): return 1', { name: 'price' })!;
    expect(withPlaced(source, place)).toContain(
      'class Shop:\r\n    @classmethod\r\n    def price(x): return 1\r\n',
    );
  });

  /** The file with the answer in the place of its function `f`. */
  const withAnswer = (file: string, answer: string): string =>
    withPlaced(file, placed(file, answer, { name: 'f' })!);

  it('keeps the docstring and the decorators, with imports and helpers of the answer above them', () => {
    const file = `x = 1

# The price.
@cached
# for an hour
@logged(
    level=1)
async def f(x):
    # A comment.
    r"""Prices.

      - \\d of them

    >>> f(1)
    """
    ...
`;
    const answer = 'import math\n\ndef g(x): return x\n\nasync def f(x):  # now\n  return g(x)';
    expect(withAnswer(file, answer)).toBe(`x = 1

# The price.
import math

def g(x): return x

@cached
# for an hour
@logged(
    level=1)
async def f(x):  # now
  r"""Prices.

    - \\d of them

  >>> f(1)
  """
  return g(x)
`);
  });

  it('keeps the docstring of a method, and gives an answer of one line a body for it', () => {
    const file =
      'class A:\n    def f(self):\n        """One.\n\n        Two.\n    Three.\n        """\n        pass\n';
    expect(withAnswer(file, 'def f(self): return 1')).toBe(file.replace('pass', 'return 1'));
    expect(withAnswer('def f(x): "One."\n', 'def f(x):\n\treturn x')).toBe(
      'def f(x):\n\t"One."\n\treturn x\n',
    );
    const lines = 'def f(x):\r\n    """A\r\n    b."""\r\n';
    expect(withAnswer(lines, 'def f(x):\n    return x')).toBe(`${lines}    return x\r\n`);
  });

  it('takes the docstring of the answer where it has one', () => {
    const file = 'def f(x):\n    """Old."""\n';
    const answer = 'def f(x):\n    """New."""\n    return x\n';
    expect(withAnswer(file, answer)).toBe(answer);
    const bare = 'def f(x):\n    return x';
    expect(withAnswer(withAnswer(file, bare), bare)).toBe(`${file}    return x\n`);
  });

  it('goes to the end where there is no such function', () => {
    expect(placed(source, 'def g(): pass', { name: 'g' })).toBeUndefined();
    expect(withPlaced('x = 1\n\n\n', appended('x = 1\n\n\n', 'def g(): pass'))).toBe(
      'x = 1\n\n\ndef g(): pass\n',
    );
    expect(withPlaced('x = 1', appended('x = 1', 'def g(): pass'))).toBe('x = 1\n\n\ndef g(): pass\n');
    expect(withPlaced('', appended('', 'def g(): pass'))).toBe('def g(): pass\n');
  });
});

describe('what tests claim', () => {
  const tests = `from shop import f
expected = 3
assert f(0) == 0
def test_f(client):
    assert f(1, key="a, b") == 3, "one, two"
    assert f(
        2,
    ) == {"x": [1, 2]}
    assert f(1) == expected
    assert client.get(f(1))
    assert [f(x) for x in (1, 2)] == [1, 2]
    assert not f(-1)
    assert other(1) == f_2(2)
    # assert f(9) == 9
    text = """
    assert f(8) == 8
"""
    assert f(0) == 0
`;

  it('are the asserts that stand alone, each once, without their messages', () => {
    expect(assertsAbout(tests, 'f')).toEqual([
      'f(0) == 0',
      'f(1, key="a, b") == 3',
      'f( 2, ) == {"x": [1, 2]}',
      '[f(x) for x in (1, 2)] == [1, 2]',
      'not f(-1)',
    ]);
  });

  it('lose their comments, in brackets too', () => {
    const commented = `assert f(1) == 2  # two
assert f("#") == [
    # first
    1,  # one, of all

    2,
]
# the end
`;
    expect(assertsAbout(commented, 'f')).toEqual(['f(1) == 2', 'f("#") == [ 1, 2, ]']);
  });

  it('are the methods of unittest, written out', () => {
    const methods = `class Tests(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1, key=2), 3, "a, b")
        self.assertEqual(
            [1, 2],
            f(x=1),
            msg="no",
        )
        self.assertTrue(f(0))
        self.assertFalse(f(1) > 3)
        self.assertIsNone(f(2))
        self.assertIn(f(3), (1, 2))
        self.assertNotEqual(f(1) if 1 else 2, 5)
        self.assertIsInstance(f(1), int)
        self.assertAlmostEqual(f(1), 2.5)
        self.assertAlmostEqual(f(1), 2.5, places=2)
        self.assertAlmostEqual(f(1), 2.5, delta=0.1)
        self.assertRaises(ValueError, f, 1)
        self.assertCountEqual(f(1), [1])
        self.assertEqual(f(self.x), 1)
`;
    expect(assertsAbout(methods, 'f')).toEqual([
      'f(1, key=2) == 3',
      '[1, 2] == f(x=1)',
      'f(0)',
      'not (f(1) > 3)',
      'f(2) is None',
      'f(3) in (1, 2)',
      '(f(1) if 1 else 2) != 5',
      'isinstance(f(1), int)',
      'round(abs(f(1) - 2.5), 7) == 0',
      'round(abs(f(1) - 2.5), 2) == 0',
      'abs(f(1) - 2.5) <= 0.1',
    ]);
  });

  it('are those of each case that pytest lists', () => {
    const listed = `@pytest.mark.parametrize(
    "given, wanted",
    [
        (1, 2),  # the first
        ([1, "given"], 3 + 4),
        pytest.param(-1, "x", id="last"),
    ],
)
@slow
def test_f(given, wanted):
    assert f(given, given=0) == wanted, "given"
    assert f(given)[0] == other

    def test_within():
        assert f(5) == wanted

def test_g(given):
    assert f(given) == 9

class TestF:
    @pytest.mark.parametrize(("a",), [(1,), (2,)])
    @pytest.mark.parametrize("b", [3, -4])
    async def test_f(self, a, b):
        assert f(a) * b ** 2 == approx(7)

@pytest.mark.parametrize("given", cases())
def test_h(given):
    assert f(given) == 1
`;
    expect(assertsAbout(listed, 'f')).toEqual([
      'f(1, given=0) == 2',
      'f([1, "given"], given=0) == (3 + 4)',
      'f(-1, given=0) == "x"',
      'f(5) == 2',
      'f(5) == (3 + 4)',
      'f(5) == "x"',
      ...['1', '2'].flatMap((a) =>
        ['3', '(-4)'].map((b) => `abs(f(${a}) * ${b} ** 2 - 7) <= max(1e-06 * abs(7), 1e-12)`),
      ),
    ]);
    const many = Array.from({ length: 200 }, (_, index) => index);
    const long = `@mark.parametrize("a", [${many.join(', ')}])\ndef test_f(a):\n    assert f(a) == 1\n`;
    expect(assertsAbout(long, 'f')).toHaveLength(100);
  });

  it('are within the tolerance of pytest where a number is approximate', () => {
    const about = (claim: string): string[] => assertsAbout(`assert ${claim}`, 'f');
    expect(about('f(1) == pytest.approx(2.5)')).toEqual(['abs(f(1) - 2.5) <= max(1e-06 * abs(2.5), 1e-12)']);
    expect(about('approx(-3, abs=0.1) == f(1)')).toEqual(['abs(f(1) - -3) <= 0.1']);
    expect(about('f(1) == approx(3, rel=0.1)')).toEqual(['abs(f(1) - 3) <= max(0.1 * abs(3), 1e-12)']);
    expect(about('f(1) == pytest.approx([1, 2])')).toEqual([]);
  });

  it('give the call and the value that is wanted', () => {
    expect(equalityIn('f(1, "==") == 3', 'f')).toEqual({ call: 'f(1, "==")', wanted: '3' });
    expect(equalityIn('3 == f(1)', 'f')).toEqual({ call: 'f(1)', wanted: '3' });
    expect(equalityIn('f(1) == f(2)', 'f')).toBeUndefined();
    expect(equalityIn('not f(-1)', 'f')).toBeUndefined();
  });
});

describe('a function that is to stand alone', () => {
  it('takes what it needs of its file, and nothing else', () => {
    const code = standalone(file, functionNamed(file, 'parcel_price')!);
    expect(code).toContain(
      'from decimal import (\n    Decimal,\n    ROUND_HALF_UP as HALF,\n)\n\nLIMIT = 20',
    );
    expect(code).toContain('def base(zone):\n    return {1: 5, 2: 8}[zone]\n\n@cached(');
    expect(code).not.toMatch(/import math|unused|Shop/);
  });

  it('takes what helpers need in turn, from behind it too', () => {
    const source =
      'import math\n\ndef f(x):\n    return g(x)\n\ndef g(x):\n    return math.floor(x) + STEP\n\nSTEP: int = 1\n';
    expect(standalone(source, functionNamed(source, 'f')!)).toBe(
      'import math\n\ndef g(x):\n    return math.floor(x) + STEP\n\nSTEP: int = 1\n\ndef f(x):\n    return g(x)\n',
    );
  });
});
