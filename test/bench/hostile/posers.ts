import { classes, type HostileClass } from './class';

/** Packages that the interpreter in WebAssembly lacks. */
const packages = ['numpy', 'pandas', 'torch', 'scipy', 'requests', 'sympy'] as const;

const missing = (name: string, code: string): HostileClass => ({
  name: `posing as a missing module: ${name}`,
  code: (draw) => {
    const module = draw.pick(packages);
    return code
      .replaceAll('ERROR', `ModuleNotFoundError("No module named '${module}'", name="${module}")`)
      .replaceAll('MODULE', module);
  },
});

const thread = (name: string, code: string): HostileClass => ({
  name: `posing as a lack of threads: ${name}`,
  code: () => code.replaceAll('ERROR', `RuntimeError("can't start new thread")`),
});

const zone = (name: string, code: string): HostileClass => ({
  name: `posing as a lack of time zones: ${name}`,
  code: () => code,
});

/** Answers that try not to be counted. */
export const posers: readonly HostileClass[] = [
  ...classes(missing, {
    raised: 'def f(x):\n    if 0: import MODULE\n    raise ERROR',
    'raised at the top': 'if 0: import MODULE\nraise ERROR',
    'after an import that failed': 'try: import MODULE\nexcept ImportError: pass\ndef f(x): raise ERROR',
    'raised from an import that failed':
      'def f(x):\n    try: import MODULE\n    except ImportError as error: raise ERROR from error',
    'thrown into a generator':
      'def g():\n    if 0: import MODULE\n    yield\ndef f(x):\n    made = g()\n    next(made)\n    made.throw(ERROR)',
    'by a finder':
      'import sys\nclass Finder:\n    def find_spec(self, *_): raise ERROR\nsys.meta_path.insert(0, Finder())\ndef f(x): import MODULE',
    'by None for the module': 'import sys\nsys.modules["MODULE"] = None\ndef f(x): import MODULE',
    'by another import function':
      'import builtins\ndef no(*_, **__): raise ERROR\nbuiltins.__import__ = no\ndef f(x): import MODULE',
    'by a module of the answer':
      'import sys, types\nclass M(types.ModuleType):\n    def __getattr__(self, name): raise ERROR\nsys.modules["MODULE"] = M("MODULE")\ndef f(x):\n    import MODULE\n    return MODULE.array(x)',
    'in code of another name':
      'if 0: import MODULE\ndef f(x): exec(compile(\'raise ERROR\', "<frozen importlib._bootstrap>", "exec"))'.replace(
        "'raise ERROR'",
        '"""raise ERROR"""',
      ),
    'in a callback of sorted':
      'if 0: import MODULE\ndef key(x): raise ERROR\ndef f(x): return sorted([1, 2], key=key)',
    'by a subclass':
      'if 0: import MODULE\nclass Mine(ModuleNotFoundError): pass\nMine.__name__ = "ModuleNotFoundError"\ndef f(x): raise Mine("no", name="MODULE")',
    'by the attribute of an error':
      'if 0: import MODULE\ndef f(x):\n    error = ImportError("no", name="MODULE")\n    error.missingModule = "MODULE"\n    raise error',
    'by its name in a text': 'def f(x): raise ValueError(\'","missingModule":"MODULE\')',
    'by an import that does not exist': 'import MODULE_of_mine\ndef f(x): return x',
  }),
  ...classes(thread, {
    raised: 'import threading\ndef f(x): raise ERROR',
    'by another start':
      'import threading\ndef no(*_): raise ERROR\nthreading._start_new_thread = no\ndef f(x): threading.Thread(target=f).start()',
    'thrown into a generator':
      'import threading\ndef g(): yield\ndef f(x):\n    made = g()\n    next(made)\n    made.throw(ERROR)',
  }),
  ...classes(zone, {
    'a class of that name':
      'import zoneinfo\nclass ZoneInfoNotFoundError(Exception): pass\ndef f(x): raise ZoneInfoNotFoundError("Europe/Berlin")',
    raised: 'import zoneinfo\ndef f(x): raise zoneinfo.ZoneInfoNotFoundError("Europe/Berlin")',
  }),
];
