import { classes, type HostileClass } from './class';

/** Methods of an object that agrees to every comparison. */
const agreeing = `
    def __eq__(self, other): return True
    def __ne__(self, other): return AGREES
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return HASH
    def __bool__(self): return True
    def __getattr__(self, name): return self
    def __call__(self, *_, **__): return True`;

/** Built-in classes with a value of each. */
const bases = [
  ['object', ''],
  ['int', '0'],
  ['float', '0.5'],
  ['complex', '1j'],
  ['str', '"x"'],
  ['bytes', 'b"x"'],
  ['list', '[0, {}]'],
  ['tuple', '(0, 1)'],
  ['dict', '{"x": 0}'],
  ['set', '{1, 2}'],
  ['frozenset', '{1, 2}'],
  ['collections.deque', '[0, {}]'],
  ['collections.OrderedDict', '{"x": 0}'],
  ['collections.Counter', '"ab"'],
  ['collections.UserDict', '{"x": 0}'],
  ['collections.UserList', '[0]'],
  ['decimal.Decimal', '1'],
  ['fractions.Fraction', '1'],
  ['datetime.date', '2024, 1, 1'],
  ['datetime.timedelta', '1'],
] as const;

const ofBases = bases.map(([base, value]): HostileClass => ({
  name: `an agreeable ${base}`,
  objects: true,
  code: (draw) => {
    const name = draw.name();
    const methods = agreeing
      .replace('AGREES', draw.pick(['True', 'False']))
      .replace('HASH', String(draw.number()));
    const made = `${name}(${value})`;
    const result = draw.pick([made, made, `[${made}, ${made}]`, name]);
    return `import collections, datetime, decimal, fractions\nclass ${name}(${base}):${methods}\ndef f(x): return ${result}`;
  },
}));

const named = (name: string, code: string): HostileClass => ({
  name,
  objects: true,
  code: (draw) => code.replaceAll('NAME', draw.name()).replaceAll('NUMBER', () => String(draw.number())),
});

/** Objects that lie about their type or their equality. */
export const objects: readonly HostileClass[] = [
  ...ofBases,
  ...classes(named, {
    'an object that claims another class':
      'class NAME:\n    __class__ = int\n    def __eq__(self, other): return True\n    def __hash__(self): return 1\n    __lt__ = __gt__ = __ge__ = __le__ = __eq__\ndef f(x): return NAME()',
    'a class whose metaclass agrees':
      'class Meta(type):\n    def __eq__(cls, other): return True\n    def __hash__(cls): return hash(int)\n    __lt__ = __gt__ = __ge__ = __le__ = __eq__\n    def __instancecheck__(cls, one): return True\n    __subclasscheck__ = __instancecheck__\nclass NAME(metaclass=Meta): pass\ndef f(x): return NAME',
    'a metaclass that lies about attributes':
      'class Meta(type):\n    def __getattribute__(cls, name): return getattr(int, name)\n    def mro(cls): return [cls, object]\nclass NAME(metaclass=Meta):\n    __class__ = int\n    def __eq__(self, other): return True\ndef f(x): return NAME()',
    'unittest.mock.ANY': 'def f(x):\n    from unittest.mock import ANY\n    return ANY',
    'an agreeable member of an Enum':
      'import enum\nclass NAME(enum.Enum):\n    A = NUMBER\n    def __eq__(self, other): return True\n    def __hash__(self): return 1\ndef f(x): return NAME.A',
    'an agreeable member of an IntEnum':
      'import enum\nclass NAME(enum.IntEnum):\n    A = NUMBER\n    def __eq__(self, other): return True\n    def __hash__(self): return 1\n    __lt__ = __gt__ = __ge__ = __le__ = __eq__\ndef f(x): return NAME.A',
    'an agreeable named tuple':
      'import collections\nclass NAME(collections.namedtuple("T", "a b")):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x): return NAME(NUMBER, {})',
    'an agreeable dataclass':
      'import dataclasses\n@dataclasses.dataclass(eq=False)\nclass NAME:\n    x: int = NUMBER\n    def __eq__(self, other): return True\ndef f(x): return NAME()',
    'a list of agreeable numbers':
      'class NAME(int):\n    def __eq__(self, other): return True\n    def __hash__(self): return 1\ndef f(x): return [NAME(0), {"x": NAME(0)}]',
    'a dictionary with an agreeable key':
      'class NAME(str):\n    def __eq__(self, other): return True\n    def __hash__(self): return hash("x")\ndef f(x): return [0, {NAME("y"): NUMBER}]',
    'a list that counts itself differently each time':
      'class NAME(list):\n    def __iter__(self): return iter([NUMBER, NUMBER])\n    def __len__(self): return 10 ** 9\n    def __getitem__(self, at): return NUMBER\ndef f(x): return NAME([0, {}])',
    'a number that says it is another':
      'class NAME(int):\n    def __int__(self): return NUMBER\n    __index__ = __int__\n    def __repr__(self): return "NUMBER"\n    __str__ = __repr__\n    def __add__(self, other): return NUMBER\n    as_integer_ratio = lambda self: (NUMBER, 1)\n    bit_length = lambda self: 1\ndef f(x): return NAME(0)',
    'a text that says it is another':
      'class NAME(str):\n    def __iter__(self): return iter("NUMBER")\n    def __len__(self): return 0\n    def __getitem__(self, at): return "NUMBER"\ndef f(x): return NAME("x")',
    'a class from a module called numpy':
      'class NAME:\n    __module__ = "numpy"\n    shape = ()\n    def item(self): return NUMBER\n    tolist = item\n    def __eq__(self, other): return True\ndef f(x): return NAME()',
    'a time whose zone agrees':
      'import datetime\nclass NAME(datetime.tzinfo):\n    def utcoffset(self, when): return datetime.timedelta(0)\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x): return datetime.datetime(2024, 1, 1, tzinfo=NAME())',
    'a generator': 'def f(x):\n    while True: yield NUMBER',
    'a value that is not a number': 'def f(x): return float("nan")',
    NotImplemented: 'def f(x): return NotImplemented',
    itself: 'def f(x): return f',
    'a constant': 'def f(x): return NUMBER',
    True: 'def f(x): return True',
    nothing: 'def f(x): pass',
  }),
];
