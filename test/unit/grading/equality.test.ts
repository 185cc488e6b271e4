import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

const imports = `
import array, collections, datetime, decimal, enum, fractions, ipaddress, pathlib, re, types, uuid
class Level(enum.IntEnum): LOW = 1
class Word(str, enum.Enum): A = "a"
class Money(float): pass
class Tally(collections.Counter): pass
def nested(depth):
    value = []
    for _ in range(depth): value = [value]
    return value
def at(hour, zone): return datetime.time(hour, tzinfo=datetime.timezone(datetime.timedelta(hours=zone)))
Point = collections.namedtuple("Point", "x y")
`;

/** Returns whether an answer that returns `got` passes when the reference returns `expected`. */
async function passes(expected: string, got: string): Promise<boolean> {
  const task = makeTask(`${imports}\ndef f(): return ${expected}`, ['f()']);
  const { tests } = await grader.grade(task, `${imports}\ndef f(): return ${got}`, { mode: 'fixed' });
  return tests[0]!.status === 'passed';
}

describe('values that Python calls equal are equal', () => {
  it.each([
    ['1', '1.0'],
    ['1', 'True'],
    ['0.0', '-0.0'],
    ['0.5', 'fractions.Fraction(1, 2)'],
    ['0.5', 'decimal.Decimal("0.50")'],
    ['10 ** 30', 'int("1" + "0" * 30)'],
    ['2 + 0j', '2'],
    ['[1, [2.0, "a"]]', '[True, [2, "a"]]'],
    ['{"a": 1, "b": [2]}', '{"b": [2.0], "a": True}'],
    ['{1, 2, 3}', 'frozenset([3, 2, 1])'],
    ['{"a": 1}', 'collections.OrderedDict(a=1)'],
    ['{"a": 2}', 'collections.Counter("aa")'],
    ['{"a": 1}', 'collections.defaultdict(int, a=1)'],
    ['(1, 2)', 'Point(1, 2)'],
    ['1', 'Level.LOW'],
    ['"a"', 'Word.A'],
    ['2.5', 'Money(2.5)'],
    ['b"ab"', 'bytearray(b"ab")'],
    ['range(0, 3, 2)', 'range(0, 4, 2)'],
    ['range(3, 0)', 'range(7, 7)'],
    ['range(10 ** 100)', 'range(0, 10 ** 100, 1)'],
    ['range(10, 0, -3)', 'range(10, -1, -3)'],
    ['{1, 2}', '{1: 0, 2: 0}.keys()'],
    ['datetime.date(2024, 2, 29)', 'datetime.date.fromisoformat("2024-02-29")'],
    [
      'datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone.utc)',
      'datetime.datetime(2024, 1, 1, 14, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))',
    ],
    [
      'datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1)))',
      'datetime.datetime(1, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))',
    ],
    ['float("inf")', 'decimal.Decimal("Infinity")'],
    ['range(10 ** 5000)', 'range(0, 10 ** 5000)'],
    ['fractions.Fraction(10 ** 5000, 3)', 'fractions.Fraction(20 ** 5000, 3 * 2 ** 5000)'],
    ['"\\ud800é\\n"', '"\\ud800" + chr(233) + chr(10)'],
    ['list(range(5000))', '[float(i) for i in range(5000)]'],
    ['[int, str]', '[type(1), type("")]'],
    ['collections.Counter(a=1)', 'collections.Counter(a=1, b=0)'],
    ['[collections.Counter()]', '[Tally(a=0)]'],
    ['{"a": 0}', 'collections.Counter(a=0)'],
    [
      'collections.Counter(str(i) for i in range(3000))',
      'collections.Counter([*map(str, range(3000))], zero=0)',
    ],
    ['{1}', 'collections.OrderedDict({1: 2}).keys()'],
    ['b"ab"', 'memoryview(b"ab")'],
    ['array.array("i", [1])', 'array.array("d", [1])'],
    ['{"a": 1}', 'types.MappingProxyType({"a": 1})'],
    ['{"a": 1}', 'collections.UserDict(a=1)'],
    ['[1]', 'collections.UserList([1])'],
    ['"a"', 'collections.UserString("a")'],
    ['{"a": 1, "b": 2}', 'collections.ChainMap({"a": 1}, {"a": 3, "b": 2})'],
    ['at(12, 0)', 'at(14, 2)'],
    ['[datetime.timezone.utc, ..., len]', '[datetime.timezone(datetime.timedelta(0)), Ellipsis, len]'],
    ['pathlib.Path("a", "b")', 'pathlib.PurePosixPath("a/b")'],
    ['uuid.UUID(int=7)', 'uuid.UUID("00000000-0000-0000-0000-000000000007")'],
    ['ipaddress.ip_network("10.0.0.0/8")', 'ipaddress.ip_network("10.0.0.0/255.0.0.0")'],
    ['re.compile("a", re.I)', 're.compile("a", re.IGNORECASE)'],
    ['types.SimpleNamespace(a=1)', 'types.SimpleNamespace(a=1.0)'],
    ['[slice(1), type(None), decimal.Decimal]', '[slice(1.0), type(None), type(decimal.Decimal(1))]'],
    ['nested(900)', 'nested(900)'],
  ])('%s and %s', async (expected, got) => {
    expect(await passes(expected, got)).toBe(true);
  });
});

describe('other values are not', () => {
  it.each([
    ['1', '"1"'],
    ['0.1 + 0.2', '0.3'],
    ['[1, 2]', '(1, 2)'],
    ['[1, 2]', '[2, 1]'],
    ['["a,sb"]', '["a", "b"]'],
    ['"a"', 'b"a"'],
    ['{1}', '{1: 1}'],
    ['[]', '()'],
    ['[0]', '[None]'],
    ['datetime.date(2024, 1, 1)', 'datetime.datetime(2024, 1, 1)'],
    ['datetime.datetime(2024, 1, 1)', 'datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)'],
    ['[1]', 'iter([1])'],
    ['[1]', 'range(1, 2)'],
    ['range(10, 0, -3)', 'range(10, 1, -3)'],
    ['range(10 ** 100)', 'range(10 ** 100 + 1)'],
    ['float("inf")', '-float("inf")'],
    ['list(range(5000))', 'list(range(4999)) + [0]'],
    ['{}', 'collections.Counter(a=0)'],
    ['{"a": 1}', 'collections.Counter(a=1, b=0)'],
    ['collections.Counter(a=1)', 'collections.Counter(a=1, b=-1)'],
    ['array.array("i", [1])', '[1]'],
    ['at(12, 0)', 'at(12, 1)'],
    ['pathlib.Path("a")', '"a"'],
    ['re.compile("a")', 're.compile("a", re.I)'],
    ['ipaddress.ip_address("10.0.0.0")', 'ipaddress.ip_network("10.0.0.0")'],
    ['ipaddress.ip_interface("10.0.0.0/8")', 'ipaddress.ip_network("10.0.0.0/8")'],
    ['uuid.UUID(int=7)', '7'],
    ['len', 'sum'],
    ['nested(900)', 'nested(899)'],
  ])('%s and %s', async (expected, got) => {
    expect(await passes(expected, got)).toBe(false);
  });

  it('and nothing equals NaN or an object of a class of its own: such references are reported', async () => {
    for (const value of [
      'float("nan")',
      '[1, float("nan")]',
      'object()',
      'type("Own", (), {})()',
      '(i for i in [1])',
    ]) {
      const task = makeTask(`def f(x): return ${value} if x else 1`, ['f(0)', 'f(1)']);
      const [failure] = await grader.checkReference(task);
      expect(failure).toContain('test 2: The reference returns a value that equals nothing');
    }
  });
});
