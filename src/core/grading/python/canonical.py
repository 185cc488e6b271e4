"""Values as canonical texts: equal texts mean values that Python calls equal. docs/grading.md lists the types."""

import sys
from hashlib import sha256
from json.encoder import encode_basestring_ascii as quoted
from math import isinf, isnan

from kinds import (
    MAPPINGS,
    SET_VIEWS,
    Array,
    ChainMap,
    Counter,
    Decimal,
    Fraction,
    Incomparable,
    MappingProxy,
    Namespace,
    Pattern,
    UserDict,
    UserList,
    UserString,
    UUID,
    among,
    bases_of,
    clock,
    date,
    deque,
    instant,
    name_of,
    name_of_own,
    plain,
    span,
    timezone,
)

TEXT_LIMIT = 4096  # longer canonical texts are replaced by their hash
SIZE_LIMIT = 250_000  # characters of canonical text, about; a larger value equals nothing
DEPTH_LIMIT = 900
setrecursionlimit = sys.setrecursionlimit
FRAMES = 5 * DEPTH_LIMIT  # of Python that such a value may take


class Canon:
    """Writes values so that equal texts mean values that Python calls equal: 1, 1.0, True and Decimal(1) are one."""

    def __init__(self, numpy, counting=False):
        """counting: write a Counter as it compares with another one, where a count of zero is none."""
        self.left = SIZE_LIMIT
        self.numpy, self.counting = numpy, counting
        self.has_counter = False

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
            pairs = zip(keys, values)
            if kind is Counter:
                self.has_counter = True
                if self.counting:
                    return 'C{' + ','.join(sorted('%s:%s' % pair for pair in pairs if pair[1] != 'n0x0')) + '}'
            return '{' + ','.join(sorted(map('%s:%s'.__mod__, pairs))) + '}'
        if kind is set or kind is frozenset or among(kind, SET_VIEWS):
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
            return 'i' + of_instant(value)
        if kind is date:
            return 'd' + value.isoformat()
        if kind is clock:
            return 't' + of_clock(value)
        if kind is timezone:
            return 'z' + self.text(value.utcoffset(None), depth + 1)
        if kind is span:
            return 'p%d,%d,%d' % (value.days, value.seconds, value.microseconds)
        if kind is range:
            return 'r%s,%s,%s' % tuple(map(hex, range_key(value)))
        if kind is deque:
            return 'q' + self.sequence(list(value), '[', ']', depth)
        own = name_of_own(value)
        if own is not None:
            return 'y' + own
        known = self.of_library(value, kind, depth + 1)
        if known is not None:
            return known
        if self.numpy is not None:
            simple = self.of_numpy(value, kind, depth)
            if simple is not None:
                return simple
        base = plain(value)
        if base is not value:
            return self.text(base, depth + 1)
        raise Incomparable('an object of class ' + name_of(kind)[:80])

    def of_library(self, value, kind, depth):
        if kind is UserDict or kind is UserList or kind is UserString:
            return self.text(vars(value)['data'], depth)
        if kind is MappingProxy:
            return self.text(value.copy(), depth)
        if kind is ChainMap:
            return self.text(dict(value), depth)
        if kind is memoryview and value.format == 'B' and value.ndim == 1:
            return self.text(value.tobytes(), depth)
        if kind is Array:
            return 'A' + self.text(value.tolist(), depth)
        if kind is UUID:
            return 'u' + self.text(value.int, depth)
        if kind is Pattern:
            return 'R%d' % value.flags + self.text(value.pattern, depth)
        if kind is Namespace:
            return 'S' + self.text(vars(value), depth)
        if kind is slice:
            return 'l' + self.text((value.start, value.stop, value.step), depth)
        module = sys.modules.get(kind.__module__) if kind.__module__ in ('pathlib', 'ipaddress') else None
        if module is None or vars(module).get(name_of(kind)) is not kind:
            return None
        if kind.__module__ == 'ipaddress':
            # A network and an interface may have one text.
            return 'w' + self.text((name_of(kind), str(value)), depth)
        if name_of(kind) in ('PosixPath', 'PurePosixPath'):
            return 'P' + self.text(str(value), depth)
        return None

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


def of_instant(value):
    """The distance from year 1 in UTC, which may lie before it: such an instant has no date in UTC."""
    offset = value.utcoffset()
    naive = value.replace(tzinfo=None, fold=0)
    if offset is None:
        return naive.isoformat()
    return '%dus' % ((naive - instant(1, 1, 1) - offset) // span(0, 0, 1))


def of_clock(value):
    """Times of different zones are equal when they are at the same distance from midnight in UTC."""
    offset = value.utcoffset()
    if offset is None:
        return value.replace(tzinfo=None, fold=0).isoformat()
    of_day = span(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
    return '%dus' % ((of_day - offset) // span(0, 0, 1))


def canonical_text(value, numpy):
    """
    One text, or two with a line break between: of a value with a Counter also the text by which it equals others with
    one. Two values are equal when their first texts are, or their second. A long text is replaced by its hash. Raises
    Incomparable for a value that equals nothing.
    """
    limit = sys.getrecursionlimit()
    setrecursionlimit(limit + FRAMES)
    try:
        canon = Canon(numpy)
        text = short(canon.text(value))
        return text + '\n' + short(Canon(numpy, counting=True).text(value)) if canon.has_counter else text
    finally:
        setrecursionlimit(limit)


def short(text):
    return text if len(text) <= TEXT_LIMIT else 'h' + sha256(text.encode('ascii')).hexdigest()


def same(one, other):
    """Whether two canonical texts are those of equal values."""
    one, other = one.split('\n'), other.split('\n')
    return one[0] == other[0] or len(one) == len(other) == 2 and one[1] == other[1]


def equal(left, right, numpy):
    """Raises Incomparable when one side equals nothing. An object of the source equals itself: a member of an Enum."""
    if left is right and not among(type(left), (float, complex, Decimal)):
        return True
    return same(canonical_text(left, numpy), canonical_text(right, numpy))
