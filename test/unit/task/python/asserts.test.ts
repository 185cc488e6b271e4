import { describe, expect, it } from 'vitest';
import { assertsAbout, equalityIn } from '../../../../src/core/task/python/asserts';

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
