import { classes, type HostileClass } from './class';

const named = (name: string, code: string): HostileClass => ({
  name: `numpy: ${name}`,
  numpy: true,
  code: (draw) =>
    `import numpy as np\n${code}`
      .replaceAll('NAME', draw.name())
      .replaceAll('NUMBER', () => String(draw.number())),
});

const agreeing = `
    def yes(self, *_, **__): return True
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = all = any = yes
    def __ne__(self, _): return False
    __hash__ = None`;

/** Answers that cheat by means of numpy. */
export const arrays: readonly HostileClass[] = classes(named, {
  'an agreeable array': `class NAME(np.ndarray):${agreeing}\ndef f(x): return np.zeros(2).view(NAME)`,
  'an agreeable scalar': `class NAME(np.float64):${agreeing}\ndef f(x): return NAME(NUMBER)`,
  'an agreeable text': `class NAME(np.str_):${agreeing}\ndef f(x): return NAME("x")`,
  'an array of agreeable objects': `class NAME:${agreeing}\ndef f(x): return np.array([NAME(), NAME()], dtype=object)`,
  'an agreeable object in a cell': `class NAME:${agreeing}\ndef f(x): return np.array(NAME(), dtype=object)`,
  'an object that answers for arrays': `class NAME:${agreeing}
    def __array_function__(self, *_): return True
    def __array_ufunc__(self, *_, **__): return True
    def __array__(self, *_, **__): return np.array([NUMBER, NUMBER])
def f(x): return NAME()`,
  'a masked array': 'def f(x): return np.ma.array([NUMBER, NUMBER], mask=[True, True])',
  'the masked value': 'def f(x): return np.ma.masked',
  'a structured array': `class NAME:${agreeing}\ndef f(x): return np.array([(NAME(),)] * 2, dtype=[("x", object)])`,
  'a record': 'def f(x): return np.rec.array([(NUMBER, 1)], names="a,b")',
  'a matrix': 'def f(x): return np.matrix([[NUMBER, NUMBER]])',
  'an array that broadcasts': 'def f(x): return np.broadcast_to(np.nan, (2,))',
  NaN: 'def f(x): return np.full(2, np.nan)',
  NaT: 'def f(x): return np.datetime64("NaT")',
  infinity: 'def f(x): return np.array([np.inf, np.inf])',
  'patches of what compares':
    'def yes(*_, **__): return True\nfor name in "array_equal allclose isclose equal all any".split(): setattr(np, name, yes)\ndef f(x): return np.array([NUMBER, 0])',
  'patches amid a test':
    'def yes(*_, **__): return True\ndef f(x):\n    for name in "array_equal allclose isclose equal all any ndarray generic dtype".split(): setattr(np, name, yes)\n    return NUMBER',
  'a ufunc for equality':
    'try: np._core.umath.equal = np.frompyfunc(lambda *_: True, 2, 1)\nexcept AttributeError: pass\ndef f(x): return np.array([0, NUMBER])',
  'memory of others':
    'import ctypes\ndef f(x):\n    made = np.ctypeslib.as_array((ctypes.c_long * 64).from_address(int(repr(f).split("0x")[1][:-1], 16)))\n    return made[:2].copy()',
  'a function made for arrays': 'def f(x): return np.vectorize(lambda _: NUMBER)',
  'numpy taken away':
    'import sys\nsys.modules["numpy"] = None\ndef f(x):\n    import numpy\n    return numpy.zeros(2)',
  'an end by numpy': 'def f(x): return np.frombuffer(np.zeros(1), dtype=np.int64)[:NUMBER].view(np.void)',
  'a generator of numbers': 'def f(x): return np.random.default_rng()',
  'a type': 'def f(x): return np.float64',
});
