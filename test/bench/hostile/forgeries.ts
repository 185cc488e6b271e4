import type { HostileClass } from './class';

const named = (name: string, code: string): HostileClass => ({
  name,
  code: (draw) => code.replaceAll('NUMBER', () => String(draw.number())),
});

const outcome = `{"kind":"value","canonical":"n0x1","none":false,"display":"1"}`;

/** Answers that search the interpreter for the expected value, forge its outcome, or end it. */
export const forgeries: readonly HostileClass[] = [
  named(
    'reading the frames of callers',
    `
import sys
def f(x):
    frame = sys._getframe().f_back
    while frame is not None:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if type(value) is str and "== " in value: return eval(value.split("== ")[1])
            if type(value) is list and len(value) == 2: return value
        frame = frame.f_back`,
  ),
  named(
    'reading the frames of an error',
    `
def f(x):
    try: 1 / 0
    except ZeroDivisionError as error:
        frame = error.__traceback__.tb_frame
        while frame.f_back is not None: frame = frame.f_back
        return [each for each in frame.f_locals.values() if type(each) in (int, list)]`,
  ),
  named(
    'reading the stack by inspect',
    'def f(x):\n    import inspect\n    return [each.frame.f_locals for each in inspect.stack()][-1]',
  ),
  named(
    'reading all objects',
    `
import gc
def f(x):
    for one in gc.get_objects():
        for value in gc.get_referents(one):
            if type(value) is str and value.startswith("f(%d) == " % x): return eval(value[8:])
            if type(value) is str and value.endswith(" == f(%d)" % x): return eval(value[:-8])`,
  ),
  named(
    'reading what the evaluation keeps',
    `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__name__ in ("evaluate", "step", "prepare"):
            cells = [cell.cell_contents for cell in one.__closure__ or ()]
            for value in cells + list(one.__globals__.get("job", {}).values()):
                if type(value) in (list, tuple): return value
    return None`,
  ),
  named('reading standard input', 'import os\ndef f(x): return os.read(0, 10 ** 6) or NUMBER'),
  named('reading the main module', 'import __main__\ndef f(x): return vars(__main__)'),
  named(
    'writing outcomes to all descriptors',
    `import os\ndef f(x):\n    for one in range(16):\n        try: os.write(one, b'${outcome}\\n')\n        except OSError: pass\n    return NUMBER`,
  ),
  named('printing an outcome', `def f(x):\n    print('${outcome}', flush=True)`),
  named('returning an outcome', `def f(x): return '${outcome}'`),
  named('returning a canonical text', 'def f(x): return "n0x1"'),
  named(
    'an error whose text is an outcome',
    `class E(Exception):\n    def __str__(self): return '","kind":"value","canonical":"n0x1'\ndef f(x): raise E()`,
  ),
  named(
    'an error whose name is an outcome',
    `def f(x): raise type('","kind":"value', (Exception,), {})("NUMBER")`,
  ),
  named(
    'an error that agrees',
    'class E(Exception):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x): raise E(NUMBER)',
  ),
  named(
    'another code for the evaluation',
    `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__code__.co_filename.startswith("tandem/"):
            try: one.__code__ = (lambda *_, **__: ${JSON.stringify(outcome)}).__code__
            except ValueError: pass
    return NUMBER`,
  ),
  named(
    'another comparison for the evaluation',
    `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__name__ in ("equal", "copied", "plain"):
            one.__code__ = (lambda *_, **__: True).__code__
    return NUMBER`,
  ),
  named(
    'another function for the next test',
    'def g(x): return NUMBER\ndef f(x):\n    globals()["f"] = g\n    f.__code__ = g.__code__\n    return g(x)',
  ),
  named('SystemExit', 'def f(x): raise SystemExit(0)'),
  named('KeyboardInterrupt', 'def f(x): raise KeyboardInterrupt'),
  named('GeneratorExit', 'def f(x): raise GeneratorExit'),
  named('os._exit', 'import os\ndef f(x): os._exit(0)'),
  named('os.abort', 'import os\ndef f(x): os.abort()'),
  named('an end at the top', 'raise SystemExit(0)'),
  named('no function', 'g = NUMBER'),
  named('a syntax error', 'def f(x): return ('),
  named('a source that is too deep', `y = ${'('.repeat(3000)}1${')'.repeat(3000)}\ndef f(x): return NUMBER`),
  named('endless recursion', 'def f(x): return f(x)'),
  named('a loop', 'def f(x):\n    while True: pass'),
  named(
    'a loop that catches all',
    'def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass',
  ),
  named('a sleep of an hour', 'import time\ndef f(x): time.sleep(3600)'),
  named('all of the memory', 'def f(x):\n    held = []\n    while True: held.append(bytearray(10 ** 7))'),
  named('a value that contains itself', 'def f(x):\n    held = []\n    held.append(held)\n    return held'),
  named('a value that is too large', 'def f(x): return list(range(10 ** 6))'),
];
