import type { HostileClass } from './class';

/**
 * Tests that decide by their own operators; `SECRET` is the reference's result for 1, the only constant that passes.
 */
const deciding = {
  '<': 'SECRET - 1 < f(1) and f(1) < SECRET + 1',
  '<=': 'SECRET <= f(1) and f(1) <= SECRET',
  '>': 'f(1) > SECRET - 1 and SECRET + 1 > f(1)',
  '>=': 'f(1) >= SECRET and SECRET >= f(1)',
  'a chain': 'SECRET - 1 < f(1) < SECRET + 1',
  in: 'f(1) in (SECRET, SECRET + 0.5)',
  'not in': 'not f(1) not in [SECRET]',
  'in, of what the answer gives': 'SECRET in [f(1)]',
  is: '(f(1) == SECRET) is True',
  'is not': '(f(1) == SECRET) is not False',
  not: 'not f(1) != SECRET',
  and: 'f(1) and f(1) == SECRET',
  or: 'f(1) == SECRET or f(1) == SECRET + 0.5',
  isinstance: 'isinstance(f(1), int) and f(1) == SECRET',
  type: 'type(f(1)) is int and f(1) == SECRET',
  len: 'len(str(f(1))) == 7 and str(f(1)) == "SECRET"',
  abs: 'abs(f(1) - SECRET) < 1e-9',
  sorted: 'sorted([f(1), 0]) == [0, SECRET] and f(1) > 0',
  all: 'all(f(each) == each * SECRET for each in (1, 2, 3))',
  any: 'any([f(1) == SECRET, f(1) == SECRET + 0.5])',
  sum: 'sum(f(each) == each * SECRET for each in (1, 2)) == 2',
  'a condition': '"right" if f(1) == SECRET else "wrong"',
  'a tuple with a message': '(f(1) == SECRET, "f(1) should be SECRET")',
  'a lambda': '(lambda given: given == SECRET)(f(1))',
  'a list of comparisons': '[f(each) == each * SECRET for each in (1, 2)]',
  'a method of a text': 'str(f(1)).startswith("SECRET")',
  'a method of the answer’s': 'f(1).__eq__(SECRET) is True',
  '==, twice': '(f(1) == SECRET) == True',
  ':=': '(given := f(1)) == SECRET and given > 0',
  'a module that the reference imports': 'math.isclose(f(1), SECRET)',
} as const;

/** Answers that agree to every comparison, or search for the expected value. */
const attackers = {
  'an agreeable object': `
class NAME:
    def yes(self, *_, **__): return True
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = startswith = yes
    def same(self, *_): return self
    __sub__ = __rsub__ = __add__ = __radd__ = __abs__ = __mul__ = __call__ = same
    def __hash__(self): return NUMBER
    def __len__(self): return 7
    def __float__(self): return 0.5
def f(x): return NAME()`,
  'an agreeable number': `
class NAME(int):
    def yes(self, *_, **__): return True
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = startswith = yes
    def __ne__(self, _): return False
    def zero(self, *_): return 0
    __sub__ = __rsub__ = __abs__ = zero
    def __hash__(self): return NUMBER
    def __str__(self): return NAME_OF_TEXTS("x")
class NAME_OF_TEXTS(str):
    def yes(self, *_): return True
    __eq__ = startswith = yes
    def __len__(self): return 7
    __hash__ = str.__hash__
def f(x): return NAME(NUMBER)`,
  'a patched evaluator': `
import gc, math, types
def yes(*_, **__): return True
def f(x):
    math.isclose = math.fabs = yes
    for one in gc.get_objects():
        if type(one) is types.FunctionType and one.__code__.co_filename.startswith("tandem/"):
            if one.__name__ in ("equal", "holds", "compared", "is_instance", "has", "are_in"):
                try: one.__code__ = yes.__code__
                except ValueError: pass
    return NUMBER`,
  'a reader of texts': `
import gc, re, sys
def f(x):
    frame, found = sys._getframe(), []
    while frame is not None:
        found += [*frame.f_locals.values(), *frame.f_globals.values()]
        frame = frame.f_back
    for holder in [*found, *gc.get_objects()]:
        for each in (holder, *gc.get_referents(holder)):
            if type(each) is str and "f(" in each and len(each) < 200:
                for number in re.findall(r"\\b1[0-9]{6}\\b", each): return int(number) * x
            if type(each) is int and 1_000_000 < each < 1_200_000: return each * x
    return NUMBER`,
} as const;

/** Number of successive classes against the same operator. */
export const ATTACKERS = Object.keys(attackers).length;

export const operators: readonly HostileClass[] = Object.entries(deciding).flatMap(([operator, test]) =>
  Object.entries(attackers).map(([attacker, code]) => ({
    name: `${attacker} against ${operator}`,
    test,
    code: (draw) => code.replaceAll('NAME', draw.name()).replaceAll('NUMBER', () => String(draw.number())),
  })),
);
