import { classes, type HostileClass } from './class';

const named = (name: string, code: string): HostileClass => ({
  name,
  code: (draw) => code.replaceAll('NUMBER', () => String(draw.number())),
});

const outcome = `{"kind":"value","canonical":"n0x1","none":false,"display":"1"}`;

/** Answers that search the interpreter for the expected value, forge its outcome, or end it. */
export const forgeries: readonly HostileClass[] = classes(named, {
  'reading the frames of callers': `
import sys
def f(x):
    frame = sys._getframe().f_back
    while frame is not None:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if type(value) is str and "== " in value: return eval(value.split("== ")[1])
            if type(value) is list and len(value) == 2: return value
        frame = frame.f_back`,
  'reading the frames of an error': `
def f(x):
    try: 1 / 0
    except ZeroDivisionError as error:
        frame = error.__traceback__.tb_frame
        while frame.f_back is not None: frame = frame.f_back
        return [each for each in frame.f_locals.values() if type(each) in (int, list)]`,
  'reading the stack by inspect':
    'def f(x):\n    import inspect\n    return [each.frame.f_locals for each in inspect.stack()][-1]',
  'reading all objects': `
import gc
def f(x):
    for one in gc.get_objects():
        for value in gc.get_referents(one):
            if type(value) is str and value.startswith("f(%d) == " % x): return eval(value[8:])
            if type(value) is str and value.endswith(" == f(%d)" % x): return eval(value[:-8])`,
  'reading what the evaluation keeps': `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__name__ in ("evaluate", "step", "prepare"):
            cells = [cell.cell_contents for cell in one.__closure__ or ()]
            for value in cells + list(one.__globals__.get("job", {}).values()):
                if type(value) in (list, tuple): return value
    return None`,
  'reading standard input': 'import os\ndef f(x): return os.read(0, 10 ** 6) or NUMBER',
  'reading the main module': 'import __main__\ndef f(x): return vars(__main__)',
  'writing outcomes to all descriptors': `import os\ndef f(x):\n    for one in range(16):\n        try: os.write(one, b'${outcome}\\n')\n        except OSError: pass\n    return NUMBER`,
  'printing an outcome': `def f(x):\n    print('${outcome}', flush=True)`,
  'returning an outcome': `def f(x): return '${outcome}'`,
  'returning a canonical text': 'def f(x): return "n0x1"',
  'an error whose text is an outcome': `class E(Exception):\n    def __str__(self): return '","kind":"value","canonical":"n0x1'\ndef f(x): raise E()`,
  'an error whose name is an outcome': `def f(x): raise type('","kind":"value', (Exception,), {})("NUMBER")`,
  'an error that agrees':
    'class E(Exception):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x): raise E(NUMBER)',
  'another code for the evaluation': `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__code__.co_filename.startswith("tandem/"):
            try: one.__code__ = (lambda *_, **__: ${JSON.stringify(outcome)}).__code__
            except ValueError: pass
    return NUMBER`,
  'another comparison for the evaluation': `
import gc, types
def f(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__name__ in ("equal", "copied", "plain"):
            one.__code__ = (lambda *_, **__: True).__code__
    return NUMBER`,
  'another function for the next test':
    'def g(x): return NUMBER\ndef f(x):\n    globals()["f"] = g\n    f.__code__ = g.__code__\n    return g(x)',
  SystemExit: 'def f(x): raise SystemExit(0)',
  KeyboardInterrupt: 'def f(x): raise KeyboardInterrupt',
  GeneratorExit: 'def f(x): raise GeneratorExit',
  'os._exit': 'import os\ndef f(x): os._exit(0)',
  'os.abort': 'import os\ndef f(x): os.abort()',
  'an end at the top': 'raise SystemExit(0)',
  'no function': 'g = NUMBER',
  'a syntax error': 'def f(x): return (',
  'a source that is too deep': `y = ${'('.repeat(3000)}1${')'.repeat(3000)}\ndef f(x): return NUMBER`,
  'endless recursion': 'def f(x): return f(x)',
  'a loop': 'def f(x):\n    while True: pass',
  'a loop that catches all':
    'def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass',
  'a sleep of an hour': 'import time\ndef f(x): time.sleep(3600)',
  'all of the memory': 'def f(x):\n    held = []\n    while True: held.append(bytearray(10 ** 7))',
  'a value that contains itself': 'def f(x):\n    held = []\n    held.append(held)\n    return held',
  'a value that is too large': 'def f(x): return list(range(10 ** 6))',
});
