"""Evaluates the calls of one job and says what came out, as JSON text that TypeScript compares.

Shared by the WASI interpreter and the native one, so that a value has the same text in both. Runs in the interpreter
of the untrusted code, which never sees an expected value: the worst that code can do here is to lie about itself.
Needs Python 3.10 or newer. Its namespace gets a private copy of the built-ins, so that patched ones do not reach it:

    namespace = {'__builtins__': dict(vars(builtins)), '__name__': 'tandem_evaluation'}
    exec(compile(text, 'evaluation.py', 'exec'), namespace)
    evaluate = namespace['load'](source, split=False, seed='…', own=['f'], numpy=None)
    evaluate(index, call)      # the outcome of one call, ASCII JSON: see outcomeSchema in outcome.ts
"""

import _ast
import asyncio
import builtins
import collections
import datetime
import decimal
import fractions
import hashlib
import importlib._bootstrap
import opcode
import operator
import random
import selectors
import sys
import types
import zoneinfo._common
from json.encoder import encode_basestring_ascii as quoted
from math import isinf, isnan
from time import sleep

SOURCE_NAME = '<answer>'  # the file name in tracebacks, by which an error's line is found
MODULE_NAME = 'answer'
TEXT_LIMIT = 4096  # longer canonical texts are replaced by their hash
SIZE_LIMIT = 250_000  # characters of canonical text, about; a larger value equals nothing
DEPTH_LIMIT = 60
DISPLAY_LIMIT = 200
MESSAGE_LIMIT = 300
CALL_LIMIT = 8_000  # characters of JSON; one side of a comparison that is longer is not asked for by itself
ONLY_AST = 0x400  # ast.PyCF_ONLY_AST

Fraction, Decimal = fractions.Fraction, decimal.Decimal
OrderedDict, deque = collections.OrderedDict, collections.deque
Counter, defaultdict = collections.Counter, collections.defaultdict
instant, date, clock, span = datetime.datetime, datetime.date, datetime.time, datetime.timedelta
timezone = datetime.timezone
KEYS, ITEMS = type({}.keys()), type({}.items())
BUILT_INS = dict(vars(builtins))
BUILT_IN_TYPES = frozenset(value for value in vars(builtins).values() if type(value) is type)
ModuleType = types.ModuleType
modules, settrace, setprofile, seed_random = sys.modules, sys.settrace, sys.setprofile, random.seed
sha256 = hashlib.sha256
# Read through the descriptors of `type`: a metaclass can lie about its attributes, not about these.
bases_of = type.__dict__['__mro__'].__get__
namespace_of = type.__dict__['__dict__'].__get__
name_of = type.__dict__['__name__'].__get__
MAPPINGS = (dict, defaultdict, Counter, OrderedDict)
# Subclasses of these that keep the comparison of the base stand for their base value.
BASES = (int, str, float, list, tuple, dict, set, frozenset, bytes)


class Sleeper(selectors.SelectSelector):
    """For event loops that have nothing to wait for but the clock: there are no sockets here."""

    def select(self, timeout=None):
        # Without a timeout nothing could ever wake the loop: it hangs, and its time runs out.
        sleep(1e6 if timeout is None else max(timeout, 0))
        return []


class SleepingEventLoop(asyncio.SelectorEventLoop):
    """asyncio without the pair of sockets by which other threads wake a loop."""

    def __init__(self, selector=None):
        super().__init__(Sleeper())

    def _write_to_self(self):
        pass

    _make_self_pipe = _close_self_pipe = _write_to_self


class SleepingEventLoopPolicy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = SleepingEventLoop


asyncio.set_event_loop_policy(SleepingEventLoopPolicy())


class Incomparable(Exception):
    """The value equals nothing."""


def plain(value):
    """A subclass of a built-in type that does not redefine comparison, as its base value; other values unchanged."""
    kind = type(value)
    for base in BASES:
        if kind is base:
            return value
    ancestors = bases_of(kind)
    for base in BASES:
        if base not in ancestors:
            continue
        for ancestor in ancestors:
            if ancestor is base:
                return exact(value, base)
            own = namespace_of(ancestor)
            if ('__eq__' in own or '__hash__' in own) and not among(ancestor, MAPPINGS):
                return value
    return value


def exact(value, base):
    if base is int:
        return int.__add__(value, 0)
    if base is float:
        return float.__add__(value, 0.0)
    if base is str:
        return str.__getitem__(value, slice(None)) if str.__len__(value) == 0 else ''.join(str.__iter__(value))
    if base is bytes:
        return bytes.__add__(value, b'')
    if base is dict:
        return dict(dict.items(value))
    return base(base.__iter__(value))


def among(kind, kinds):
    """By identity: `in` would ask a metaclass whether its class equals the others."""
    for one in kinds:
        if kind is one:
            return True
    return False


class Canon:
    """Writes values so that equal texts mean values that Python calls equal: 1, 1.0, True and Decimal(1) are one."""

    def __init__(self, numpy):
        self.left = SIZE_LIMIT
        self.numpy = numpy

    def spend(self, characters):
        self.left -= characters
        if self.left < 0:
            raise Incomparable('a value that is too large')

    def number(self, numerator, denominator):
        self.spend(numerator.bit_length() + denominator.bit_length() >> 2)
        return 'n' + hex(numerator) if denominator == 1 else 'n' + hex(numerator) + '/' + hex(denominator)

    def real(self, value, nan, infinite):
        if nan:
            raise Incomparable('a value that is not a number')
        if infinite:
            return 'inf+' if value > 0 else 'inf-'
        return self.number(*value.as_integer_ratio())

    def many(self, values, depth):
        self.spend(2 * len(values))
        return [self.text(value, depth + 1) for value in values]

    def sequence(self, values, opening, closing, depth):
        self.spend(2 * len(values))
        kinds = set(map(id, map(type, values)))
        if kinds == {id(int)}:  # same text as below, at the speed of C
            self.spend(sum(map(int.bit_length, values)) // 4 + 2 * len(values))
            return opening + 'n' + ',n'.join(map(hex, values)) + closing
        if kinds == {id(str)}:
            self.spend(sum(map(len, values)))
            return opening + 's' + ',s'.join(map(quoted, values)) + closing
        return opening + ','.join(self.many(values, depth)) + closing

    def text(self, value, depth=0):
        if depth > DEPTH_LIMIT:
            raise Incomparable('a value that is nested too deeply')
        kind = type(value)
        if value is None:
            return 'N'
        if kind is int or kind is bool:
            return self.number(int(value), 1)
        if kind is float:
            return self.real(value, isnan(value), isinf(value))
        if kind is str:
            self.spend(len(value))
            return 's' + quoted(value)
        if kind is list:
            return self.sequence(value, '[', ']', depth)
        if kind is tuple:
            return self.sequence(value, '(', ')', depth)
        if among(kind, MAPPINGS):
            # Order never counts, although it does between two OrderedDicts: against a dict it does not.
            keys = self.many(list(dict.keys(value)), depth)
            values = self.many(list(dict.values(value)), depth)
            return '{' + ','.join(sorted(map('%s:%s'.__mod__, zip(keys, values)))) + '}'
        if kind is set or kind is frozenset or kind is KEYS or kind is ITEMS:
            return '<' + ','.join(sorted(self.many(list(value), depth))) + '>'
        return self.rare(value, kind, depth)

    def rare(self, value, kind, depth):
        if kind is bytes or kind is bytearray:
            self.spend(2 * len(value))
            return 'b' + value.hex()
        if kind is Decimal:
            return self.real(value, value.is_nan(), value.is_infinite())
        if kind is Fraction:
            return self.number(value.numerator, value.denominator)
        if kind is complex:
            real = self.text(value.real, depth + 1)
            return real if value.imag == 0 else 'c' + real + self.text(value.imag, depth + 1)
        if kind is instant:
            return 'i' + (value if value.tzinfo is None else value.astimezone(datetime.timezone.utc)).isoformat()
        if kind is date:
            return 'd' + value.isoformat()
        if kind is clock:
            return 't' + value.isoformat()
        if kind is span:
            return 'p%d,%d,%d' % (value.days, value.seconds, value.microseconds)
        if kind is range:
            return 'r%s,%s,%s' % tuple(map(hex, range_key(value)))
        if kind is type and value in BUILT_IN_TYPES:  # `kind is type`: no metaclass has a say in this
            return 'y' + name_of(value)
        if kind is deque:
            return 'q' + self.sequence(list(value), '[', ']', depth)
        if self.numpy is not None:
            simple = self.of_numpy(value, kind, depth)
            if simple is not None:
                return simple
        base = plain(value)
        if base is not value:
            return self.text(base, depth + 1)
        raise Incomparable('an object of class ' + name_of(kind)[:80])

    def of_numpy(self, value, kind, depth):
        """numpy's scalars are numbers; an array equals an array of the same shape and elements, and nothing else."""
        ancestors = bases_of(kind)
        if self.numpy.generic in ancestors and kind.__module__ == 'numpy':
            simple = self.numpy.generic.item(value)
            return None if type(simple) is kind else self.text(simple, depth + 1)
        if kind is self.numpy.ndarray:
            return 'a' + self.text(value.shape, depth + 1) + self.text(value.tolist(), depth + 1)
        return None


def range_key(value):
    """Ranges are equal when they give the same numbers. `len` does not count further than a machine word."""
    start, step = value.start, value.step
    length = max(0, (value.stop - start + step - (1 if step > 0 else -1)) // step)
    return (length, start if length > 0 else 0, step if length > 1 else 0)


def display(value, numpy, room=DISPLAY_LIMIT, depth=0):
    """Python's repr of built-in values without calling code of the answer, shortened to about `room` characters."""
    kind = type(value)
    if value is None or kind is bool or kind is float or kind is complex:
        return repr(value)
    if kind is int:
        bits = value.bit_length()
        return repr(value) if bits < 2000 else '<integer of %d bits>' % bits
    if kind is str or kind is bytes:
        return repr(value) if len(value) <= room else repr(value[:room]) + '…'
    if depth > 6 or room <= 0:
        return '…'
    if kind is list:
        return enclosed(value, '[', ']', numpy, room, depth)
    if kind is tuple:
        return enclosed(value, '(', ',)' if len(value) == 1 else ')', numpy, room, depth)
    if kind is dict:
        return enclosed(value.items(), '{', '}', numpy, room, depth)
    if kind is set or kind is frozenset:
        text = enclosed(value, '{', '}', numpy, room, depth) if value else 'set()'
        return text if kind is set else 'frozenset(' + text + ')'
    if (kind is instant or kind is clock) and value.tzinfo is not None and type(value.tzinfo) is not timezone:
        # The time zone may be of the answer's making, and repr would run its code.
        return display(value.replace(tzinfo=None), numpy) + ' in a time zone'
    if among(kind, (Decimal, Fraction, instant, date, clock, span, range)):
        return repr(value)
    if among(kind, MAPPINGS):
        return name_of(kind) + '(' + enclosed(dict.items(value), '{', '}', numpy, room, depth) + ')'
    if kind is deque:
        return 'deque(' + enclosed(value, '[', ']', numpy, room, depth) + ')'
    if numpy is not None and kind is numpy.ndarray:
        if value.size > 4 * room:
            return '<array of shape ' + repr(value.shape) + '>'
        return 'array(' + display(value.tolist(), numpy, room, depth + 1) + ')'
    if numpy is not None and numpy.generic in bases_of(kind):
        simple = numpy.generic.item(value)
        if type(simple) is not kind:
            return display(simple, numpy, room, depth + 1)
    base = plain(value)
    if base is not value:
        return display(base, numpy, room, depth)
    return '<' + name_of(kind)[:80] + ' object>'


def enclosed(values, opening, closing, numpy, room, depth):
    parts = []
    pairs = opening == '{' and type(values) is ITEMS
    for value in values:
        if room <= 0:
            parts.append('…')
            break
        if pairs:
            part = display(value[0], numpy, room, depth + 1) + ': ' + display(value[1], numpy, room, depth + 1)
        else:
            part = display(value, numpy, room, depth + 1)
        parts.append(part)
        room -= len(part) + 2
    return opening + ', '.join(parts) + closing


def shortened(text, limit):
    return text if len(text) <= limit else text[: limit - 1] + '…'


def outcome_of_value(value, numpy):
    try:
        text = Canon(numpy).text(value)
        if len(text) > TEXT_LIMIT:
            text = 'h' + sha256(text.encode('ascii')).hexdigest()
        canonical = quoted(text)
    except Incomparable:
        canonical = 'null'
    return '{"kind":"value","canonical":%s,"none":%s,"display":%s}' % (
        canonical,
        'true' if value is None else 'false',
        quoted(shortened(display(value, numpy), 2 * DISPLAY_LIMIT)),
    )


def outcome_of_error(error):
    kind = type(error)
    try:
        # A syntax error's own text repeats file and line.
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        message = str.__getitem__(said, slice(2 * MESSAGE_LIMIT))
        message = ''.join(str.__iter__(message))
    except BaseException:
        message = ''
    text = '{"kind":"error","type":%s,"message":%s' % (
        quoted(name_of(kind)[:80]),
        quoted(shortened(message, MESSAGE_LIMIT)),
    )
    line = line_of(error)
    if line is not None:
        text += ',"line":%d' % line
    missing = missing_module(error)
    if missing is not None:
        text += ',"missingModule":' + quoted(missing[:80])
    return text + '}'


class MissNotes:
    """The last finder of modules: it finds nothing, and notes what no other has found."""

    def __init__(self):
        self.names = set()

    def find_spec(self, name, path=None, target=None):
        if type(name) is str:
            self.names.add(name)


misses = MissNotes()
sys.meta_path.append(misses)
# Python code of the library that raises an error for want of something by a statement.
IMPORT_FAILS = importlib._bootstrap._find_and_load_unlocked.__code__
ZONE_FAILS = zoneinfo._common.load_tzdata.__code__
CALLING = frozenset(number for name, number in opcode.opmap.items() if 'CALL' in name or name == 'IMPORT_NAME')


def missing_module(error):
    """
    The module for want of which the error arose; `_thread` when no thread can be started. None for any other error, also
    for one that the source raises by itself with the same type and text.
    """
    kind = type(error)
    code, place = origin_of(error)
    if code is None:
        return None
    if kind is zoneinfo.ZoneInfoNotFoundError:
        return 'tzdata' if code is ZONE_FAILS else None
    if code is not IMPORT_FAILS and code.co_code[place] not in CALLING:
        return None
    if kind is RuntimeError:
        return '_thread' if error.args == ("can't start new thread",) else None
    if kind is not ModuleNotFoundError or type(error.name) is not str or error.name not in misses.names:
        return None
    # concurrent.futures comes without its pools where there are no threads.
    return '_thread' if error.name.startswith('concurrent.futures.') else error.name.partition('.')[0]


def origin_of(error):
    """Code object and offset of the instruction at which the error arose."""
    trace, last = error.__traceback__, None
    for _ in range(10_000):
        if trace is None:
            break
        last, trace = trace, trace.tb_next
    return (None, 0) if last is None else (last.tb_frame.f_code, last.tb_lasti)


def line_of(error):
    """The line of the source that was running when the error arose."""
    if isinstance(error, SyntaxError) and error.filename == SOURCE_NAME and type(error.lineno) is int:
        return max(error.lineno, 1)
    line, trace = None, error.__traceback__
    for _ in range(10_000):
        if trace is None:
            break
        if trace.tb_frame.f_code.co_filename == SOURCE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line if type(line) is int else None


def namespaces(split):
    """
    Globals and locals of a fresh module; two separate dictionaries when `split`, as when `exec` is called in a
    function: then functions of the source see neither each other nor imports nor constants of the top level.
    """
    if split:
        return {'__name__': MODULE_NAME, '__builtins__': builtins}, {}
    module = ModuleType(MODULE_NAME)  # dataclasses and typing look a class's module up in sys.modules
    module.__builtins__ = builtins
    modules[MODULE_NAME] = module
    return module.__dict__, module.__dict__


def names_of_test(scope, names, own):
    """
    Globals of a test's expression: the names of the source over a private copy of the built-ins. Neither a patch of a
    built-in nor a function of the same name changes what a test says, unless the reference defines that name (`own`).
    """
    seen = {}
    for known in (scope, names):
        for name, value in known.items():
            # A key of another class could be equal to one name now and to another later.
            if type(name) is str and (name not in BUILT_INS or name in own):
                seen[name] = value
    seen['__builtins__'] = {**BUILT_INS, 'isinstance': is_instance}
    return seen


def is_instance(value, kinds):
    """`isinstance` by the real class: an object may claim another in `__class__`."""
    return issubclass(type(value), kinds)


class Test:
    """
    The expression of one test. What it compares is compared here, by canonical texts or on copies: an object of the
    source has no say in what it equals.
    """

    def __init__(self, call, seen, numpy):
        self.call, self.seen, self.numpy = call, seen, numpy
        self.tree = compile(call.lstrip(' \t'), '<string>', 'eval', ONLY_AST, dont_inherit=True).body

    def outcome(self):
        try:
            if self.sides is None:
                told = outcome_of_value(self.value(self.tree), self.numpy)
                return self.marked(told) if self.compares else told
            left, right = self.sides
            return self.outcome_of_sides(self.value(left), self.value(right))
        except Incomparable as reason:
            return '{"kind":"value","canonical":null,"none":false,"display":%s}' % quoted(
                'a comparison with ' + str(reason)
            )

    @property
    def compares(self):
        return type(self.tree) is _ast.Compare or (type(self.tree) is _ast.UnaryOp and type(self.tree.op) is _ast.Not)

    def marked(self, told):
        """What the test says is no more than whether something holds."""
        return told[:-1] + ',"compared":true}'

    @property
    def sides(self):
        """The two sides when the whole test says that they are equal or that they are not."""
        node = self.tree
        if type(node) is not _ast.Compare or len(node.ops) != 1:
            return None
        return (node.left, node.comparators[0]) if type(node.ops[0]) in (_ast.Eq, _ast.NotEq) else None

    def outcome_of_sides(self, left, right):
        """
        With the side that asks the source something by itself, so that an answer is asked only for that, and what it is
        to be compared with stays outside of its interpreter.
        """
        same = equal(left, right, self.numpy)
        told = outcome_of_value(same == (type(self.tree.ops[0]) is _ast.Eq), self.numpy)
        asking = [self.asks(node) for node in self.sides]
        if asking[0] == asking[1] or not self.call.isprintable():
            return self.marked(told)
        node, other = (self.sides[0], right) if asking[0] else (self.sides[1], left)
        text = self.call.lstrip(' \t').encode()[node.col_offset : node.end_col_offset].decode()
        call = quoted('(' + text + ')')
        fixed = outcome_of_value(other, self.numpy)
        if len(call) > CALL_LIMIT or '"canonical":null' in fixed[:40]:
            return self.marked(told)
        return '%s,"compared":true,"comparison":{"call":%s,"equal":%s,"with":%s}}' % (
            told[:-1],
            call,
            'true' if same else 'false',
            fixed,
        )

    def asks(self, node):
        """Whether the expression names something of the source."""
        if type(node) is _ast.Name and node.id in self.seen:
            return True
        for field in node._fields:
            part = getattr(node, field, None)
            for each in part if type(part) is list else [part]:
                if isinstance(each, _ast.AST) and self.asks(each):
                    return True
        return False

    def value(self, node):
        if type(node) is _ast.Compare:
            return self.compared(node)
        if type(node) is _ast.UnaryOp and type(node.op) is _ast.Not:
            return not self.value(node.operand)
        if type(node) is _ast.BoolOp:
            decisive = type(node.op) is _ast.Or
            for each in node.values:
                value = self.value(each)
                if bool(value) is decisive:
                    break
            return value
        return eval(compile(_ast.Expression(body=node), '<string>', 'eval', dont_inherit=True), self.seen)

    def compared(self, node):
        left = self.value(node.left)
        for kind, right in zip(map(type, node.ops), node.comparators):
            right = self.value(right)
            if not self.holds(kind, left, right):
                return False
            left = right
        return True

    def holds(self, kind, left, right):
        if kind is _ast.Eq or kind is _ast.NotEq:
            return equal(left, right, self.numpy) == (kind is _ast.Eq)
        if kind is _ast.Is or kind is _ast.IsNot:
            return (left is right) == (kind is _ast.Is)
        return bool(COMPARISONS[kind](copied(left, self.numpy), copied(right, self.numpy)))


COMPARISONS = {
    _ast.Lt: operator.lt,
    _ast.LtE: operator.le,
    _ast.Gt: operator.gt,
    _ast.GtE: operator.ge,
    _ast.In: lambda one, many: one in many,
    _ast.NotIn: lambda one, many: one not in many,
}


def equal(left, right, numpy):
    """Raises Incomparable when one side equals nothing. An object of the source equals itself: a member of an Enum."""
    if left is right and not among(type(left), (float, complex, Decimal)):
        return True
    return Canon(numpy).text(left) == Canon(numpy).text(right)


def copied(value, numpy, depth=0):
    """A copy of built-in types alone; Python compares copies without running code of the source."""
    if depth > DEPTH_LIMIT:
        raise Incomparable('a value that is nested too deeply')
    kind = type(value)
    if value is None or among(kind, (bool, int, float, complex, str, bytes, Decimal, Fraction, date, span, range)):
        return value
    if (kind is instant or kind is clock) and (value.tzinfo is None or type(value.tzinfo) is timezone):
        return value
    if among(kind, (list, tuple, set, frozenset, deque)):
        return kind([copied(each, numpy, depth + 1) for each in value])
    if among(kind, MAPPINGS):
        pairs = list(dict.items(value))
        return {copied(key, numpy, depth + 1): copied(each, numpy, depth + 1) for key, each in pairs}
    if kind is KEYS or kind is ITEMS:
        return {copied(each, numpy, depth + 1) for each in value}
    if numpy is not None and numpy.generic in bases_of(kind):
        simple = numpy.generic.item(value)
        if type(simple) is not kind:
            return copied(simple, numpy, depth + 1)
    base = plain(value)
    if base is not value:
        return copied(base, numpy, depth + 1)
    raise Incomparable('an object of class ' + name_of(kind)[:80])


def load(source, split, seed, own, numpy=None):
    """
    Compiles the source without running any of it; the result evaluates single calls on it.

    own: names that the reference defines; a call means the source's, even if a built-in has the same name
    """
    code, failure = None, None
    try:
        code = compile(source, SOURCE_NAME, 'exec', dont_inherit=True)
    except BaseException as error:
        failure = outcome_of_error(error)

    def evaluate(index, call):
        if code is None:
            return failure
        try:
            misses.names.clear()
            # The same seed for a reference and an answer: what they draw at random is equal too.
            seed_random('%s/%d' % (seed, index))
            try:
                scope, names = namespaces(split)
                exec(code, scope, names)
                return Test(call, names_of_test(scope, names, own), numpy).outcome()
            finally:
                settrace(None)
                setprofile(None)
        except BaseException as error:
            try:
                return outcome_of_error(error)
            except BaseException:
                return '{"kind":"error","type":"Exception","message":"The error could not be described."}'

    return evaluate
