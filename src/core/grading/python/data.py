"""Built-in values as data, from which another interpreter makes equal values of the same types.

Nothing of the source runs while a value is written, except that an iterator is run to its end. What was written is
read without trust: it makes built-in values and nothing else, whoever wrote it.
"""

from json import dumps, loads
from types import GeneratorType

from kinds import (
    BUILT_IN_TYPES,
    BUILT_INS,
    ITEMS,
    KEYS,
    MAPPINGS,
    VALUES,
    Counter,
    Decimal,
    Fraction,
    Incomparable,
    OrderedDict,
    among,
    bases_of,
    clock,
    date,
    defaultdict,
    deque,
    instant,
    name_of,
    plain,
    span,
    timezone,
)

DEPTH_LIMIT = 60  # JSON is nested as deep
MAX_CHARS = 30_000  # of the data of one call; twice as many as JSON at most, which a result has room for
PLAIN_INTEGERS = 2**53

SEQUENCES = {'list': list, 'tuple': tuple, 'set': set, 'frozenset': frozenset, 'deque': deque}
VIEWS = {'keys': KEYS, 'values': VALUES, 'items': ITEMS}
NAMED_MAPPINGS = {'dict': dict, 'OrderedDict': OrderedDict, 'Counter': Counter, 'defaultdict': defaultdict}
INSTANTS = {'instant': instant, 'clock': clock}
ITERATORS = (
    GeneratorType, map, filter, zip, enumerate, reversed,
    *map(type, map(iter, ([], (), {}, {}.values(), {}.items(), set(), '', b'', range(0), range(1 << 70)))),
    *map(type, (reversed([]), reversed({}), reversed({}.items()))),
)  # fmt: skip


class Writer:
    """Makes of a value what JSON can hold: a list with the name of the type, or the value itself."""

    def __init__(self, numpy, room):
        self.numpy, self.left = numpy, room

    def spend(self, characters):
        self.left -= characters
        if self.left < 0:
            raise Incomparable('a value that is too large')

    def many(self, name, values, depth):
        parts = [name]
        for value in values:
            self.spend(2)
            parts.append(self.written(value, depth + 1))
        return parts

    def written(self, value, depth=0):
        if depth > DEPTH_LIMIT:
            raise Incomparable('a value that is nested too deeply')
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            self.spend(value.bit_length() >> 2)
            return value if -PLAIN_INTEGERS < value < PLAIN_INTEGERS else ['int', hex(value)]
        if kind is float:
            return ['float', value.hex()]
        if kind is str:
            self.spend(len(value))
            return value
        for name, known in SEQUENCES.items():
            if kind is known:
                return self.many(name, value, depth)
        if among(kind, MAPPINGS):
            return self.mapping(value, kind, depth)
        return self.rare(value, kind, depth)

    def mapping(self, value, kind, depth):
        parts = [name_of(kind)]
        if kind is defaultdict:
            factory = value.default_factory
            parts.append(name_of(factory) if type(factory) is type and factory in BUILT_IN_TYPES else None)
        return parts + [part for pair in list(dict.items(value)) for part in self.many('', pair, depth)[1:]]

    def rare(self, value, kind, depth):
        if kind is bytes or kind is bytearray:
            self.spend(2 * len(value))
            return [name_of(kind), value.hex()]
        if kind is complex:
            return ['complex', value.real.hex(), value.imag.hex()]
        if kind is Decimal:
            return ['Decimal', str(value)]
        if kind is Fraction:
            return self.many('Fraction', (value.numerator, value.denominator), depth)
        if kind is range:
            return self.many('range', (value.start, value.stop, value.step), depth)
        if kind is span:
            return ['span', value.days, value.seconds, value.microseconds]
        if kind is date:
            return ['date', value.isoformat()]
        for name, known in INSTANTS.items():
            if kind is known and (value.tzinfo is None or type(value.tzinfo) is timezone):
                return [name, value.isoformat()]
        for name, known in VIEWS.items():
            if kind is known:
                return self.many(name, value, depth)
        if among(kind, ITERATORS):
            return self.many('iterator', value, depth)
        if kind is type and value in BUILT_IN_TYPES:
            return ['type', name_of(value)]
        if self.numpy is not None:
            written = self.of_numpy(value, kind)
            if written is not None:
                return written
        base = plain(value)
        if base is not value:
            return self.written(base, depth + 1)
        raise Incomparable('an object of class ' + name_of(kind)[:80])

    def of_numpy(self, value, kind):
        """The bytes of an array or a scalar of numpy's own, unless it holds objects."""
        is_array = kind is self.numpy.ndarray
        if not is_array and (self.numpy.generic not in bases_of(kind) or self.numpy.dtype(kind).type is not kind):
            return None
        if value.dtype.kind not in 'biufcmMSU':
            return None
        self.spend(2 * value.nbytes)
        return ['array' if is_array else 'scalar', value.dtype.str, list(value.shape), value.tobytes().hex()]


def read(data, numpy):
    """The value that was written. Raises ValueError, TypeError and the like for what `Writer` does not write."""
    if type(data) is not list:
        return data
    kind, *parts = data
    if kind in ('int', 'float', 'complex', 'type', 'array', 'scalar'):
        return SCALARS[kind](numpy, *parts)
    if kind == 'defaultdict':
        name = parts.pop(0)
        factory = None if name is None else built_in_type(numpy, name)
    values = [read(part, numpy) for part in parts]
    if kind in SEQUENCES:
        return SEQUENCES[kind](values)
    if kind in NAMED_MAPPINGS:
        pairs = zip(values[::2], values[1::2])
        return defaultdict(factory, pairs) if kind == 'defaultdict' else NAMED_MAPPINGS[kind](dict(pairs))
    return OTHERS[kind](*values)


def integer(_, digits):
    return int(digits, 16)


def real(_, digits):
    return float.fromhex(digits)


def two_reals(_, one, other):
    return complex(float.fromhex(one), float.fromhex(other))


def built_in_type(_, name):
    found = BUILT_INS[name]
    if found not in BUILT_IN_TYPES:
        raise ValueError(name)
    return found


def array(numpy, dtype, shape, digits):
    return numpy.ndarray(tuple(shape), dtype, bytearray.fromhex(digits))


def scalar(numpy, dtype, shape, digits):
    return array(numpy, dtype, shape, digits)[()]


SCALARS = {
    'int': integer,
    'float': real,
    'complex': two_reals,
    'type': built_in_type,
    'array': array,
    'scalar': scalar,
}
OTHERS = {
    'bytes': bytes.fromhex,
    'bytearray': bytearray.fromhex,
    'Decimal': Decimal,
    'Fraction': Fraction,
    'range': range,
    'span': span,
    'date': date.fromisoformat,
    'instant': instant.fromisoformat,
    'clock': clock.fromisoformat,
    'keys': lambda *values: dict.fromkeys(values).keys(),
    'values': lambda *values: dict(enumerate(values)).values(),
    'items': lambda *pairs: dict(pairs).items(),
    'iterator': lambda *values: iter(values),
}


def packed(value, numpy, room=MAX_CHARS):
    """Text that `unpacked` reads, about `room` characters at most. Raises Incomparable where a value is no data."""
    text = dumps(Writer(numpy, room).written(value))
    if len(text) > room:
        raise Incomparable('a value that is too large')
    return text


def unpacked(text, numpy):
    return read(loads(text), numpy)


def copied(value, numpy):
    """A copy of built-in types alone; Python compares copies without running code of the source."""
    return read(Writer(numpy, MAX_CHARS * 4).written(value), numpy)
