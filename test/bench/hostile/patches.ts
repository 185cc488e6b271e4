import { classes, type HostileClass } from './class';

const patched = (name: string, code: string): HostileClass => ({
  name: `a patch of ${name}`,
  objects: true,
  code: (draw) => {
    const body = code.replaceAll('NUMBER', () => String(draw.number()));
    const early = draw.pick([true, false]);
    const result = draw.pick([String(draw.number()), '[0, {"x": 0}]', 'True', 'None']);
    // The patch acts before the test is read, or in the middle of it.
    return early
      ? `${body}\npatch()\ndef f(x): return ${result}`
      : `${body}\ndef f(x):\n    patch()\n    return ${result}`;
  },
});

/** Answers that change code that tests and evaluation might use. */
export const patches: readonly HostileClass[] = classes(patched, {
  'all that is built in':
    'import builtins\ndef patch():\n    for name in "isinstance issubclass all any len sorted sum repr str int list type hash map zip set min max abs round bool print eval compile exec".split(): setattr(builtins, name, lambda *_, **__: True)',
  'built-ins, by namesakes':
    'def patch(): pass\ndef isinstance(*_): return True\ndef all(*_): return True\ndef len(*_): return 2\ndef type(*_): return int\ndef sorted(*_): return NUMBER',
  'built-ins, by keys that are equal to each name':
    'class Key(str):\n    def __eq__(self, other): return True\n    def __hash__(self): return hash("isinstance")\ndef patch(): globals()[Key("isinstance")] = lambda *_: True',
  operator:
    'import operator\ndef patch():\n    for name in "eq ne lt le gt ge contains is_".split(): setattr(operator, name, lambda *_: True)',
  json: 'import json, json.encoder\ndef patch(): json.dumps = json.encoder.encode_basestring_ascii = lambda *_, **__: "NUMBER"',
  hashlib: 'import hashlib\ndef patch(): hashlib.sha256 = hashlib.new = lambda *_: None',
  'decimal, fractions and datetime':
    'import decimal, fractions, datetime\ndef patch(): decimal.Decimal = fractions.Fraction = datetime.date = datetime.datetime = int',
  collections: 'import collections\ndef patch(): collections.OrderedDict = collections.Counter = list',
  'sys.modules': 'import sys\ndef patch(): sys.modules.clear()',
  'sys.modules, with this module for others':
    'import sys\ndef patch():\n    for name in list(sys.modules): sys.modules[name] = sys.modules[__name__]',
  'the limit of recursion': 'import sys\ndef patch(): sys.setrecursionlimit(40)',
  tracing: 'import sys\ndef patch(): sys.settrace(lambda *_: sys.settrace(None))',
  profiling:
    'import sys\ndef patch(): sys.setprofile(lambda frame, *_: frame.f_globals.update(f=lambda x: NUMBER))',
  'the collector': 'import gc\ndef patch(): gc.callbacks.append(lambda *_: [gc.collect() for _ in range(2)])',
  'the end of the process': 'import atexit, os\ndef patch(): atexit.register(lambda: os._exit(0))',
  imports: 'import builtins\ndef patch(): builtins.__import__ = lambda *_, **__: True',
  'how classes are made': 'import builtins\ndef patch(): builtins.__build_class__ = lambda *_, **__: int',
  'standard output': 'import sys\ndef patch(): sys.stdout = sys.stderr = sys.stdin = None',
  'the random generator': 'import random\ndef patch(): random.seed = random.random = lambda *_: NUMBER',
  'the clock': 'import time\ndef patch(): time.time = time.sleep = time.monotonic = lambda *_: NUMBER',
  'the classes of the syntax tree':
    'import _ast\ndef patch(): _ast.Compare = _ast.Eq = _ast.Expression = int',
  'names of the module':
    'def patch():\n    import sys\n    sys._getframe(1).f_globals.update(__builtins__={}, __name__="__main__")',
});
