"""Evaluates the calls of one job and says what came out, as JSON text that TypeScript compares.

Shared by the WASI interpreter and the native one, so that a value has the same text in both. Runs in the interpreter
of the untrusted code, which never sees an expected value: the worst that code can do here is to lie about itself.
Needs Python 3.10 or newer. Its namespace gets a private copy of the built-ins, so that patched ones do not reach it:

    namespace = {'__builtins__': dict(vars(builtins)), '__name__': 'tandem_evaluation'}
    exec(compile(text, 'evaluation.py', 'exec'), namespace)
    evaluate = namespace['load'](source, split=False, seed='…', numpy=None)
    evaluate(index, call)      # the outcome of one call, ASCII JSON: see outcomeSchema in outcome.ts
"""

import asyncio
import builtins
import collections
import datetime
import decimal
import fractions
import hashlib
import random
import selectors
import sys
import types
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

Fraction, Decimal = fractions.Fraction, decimal.Decimal
OrderedDict, deque = collections.OrderedDict, collections.deque
Counter, defaultdict = collections.Counter, collections.defaultdict
instant, date, clock, span = datetime.datetime, datetime.date, datetime.time, datetime.timedelta
timezone = datetime.timezone
KEYS, ITEMS = type({}.keys()), type({}.items())
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
            raise Incomparable('too large')

    def number(self, numerator, denominator):
        self.spend(numerator.bit_length() + denominator.bit_length() >> 2)
        return 'n' + hex(numerator) if denominator == 1 else 'n' + hex(numerator) + '/' + hex(denominator)

    def real(self, value, nan, infinite):
        if nan:
            raise Incomparable('not a number')
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
            raise Incomparable('too deep')
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
    if kind is ModuleNotFoundError and type(error.name) is str:
        text += ',"missingModule":' + quoted(error.name.partition('.')[0][:80])
    return text + '}'


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


def load(source, split, seed, numpy=None):
    """Compiles the source without running any of it; the result evaluates single calls on it."""
    code, failure = None, None
    try:
        code = compile(source, SOURCE_NAME, 'exec', dont_inherit=True)
    except BaseException as error:
        failure = outcome_of_error(error)

    def evaluate(index, call):
        if code is None:
            return failure
        try:
            # The same seed for a reference and an answer: what they draw at random is equal too.
            seed_random('%s/%d' % (seed, index))
            try:
                scope, names = namespaces(split)
                exec(code, scope, names)
                value = eval(call, scope, names)
            finally:
                settrace(None)
                setprofile(None)
            return outcome_of_value(value, numpy)
        except BaseException as error:
            try:
                return outcome_of_error(error)
            except BaseException:
                return '{"kind":"error","type":"Exception","message":"The error could not be described."}'

    return evaluate
