"""Values as a person reads them."""

from kinds import (
    ITEMS,
    MAPPINGS,
    Decimal,
    Fraction,
    among,
    bases_of,
    clock,
    date,
    deque,
    instant,
    name_of,
    plain,
    span,
    timezone,
)

DISPLAY_LIMIT = 200


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
    if kind is Fraction:
        return 'Fraction' + display((value.numerator, value.denominator), numpy, room, depth)
    if kind is range:
        parts = (value.start, value.stop) if value.step == 1 else (value.start, value.stop, value.step)
        return 'range' + display(parts, numpy, room, depth)
    if among(kind, (Decimal, instant, date, clock, span)):
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
