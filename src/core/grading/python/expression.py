"""The expression of one test: no object of the source has a say in what it compares."""

import _ast
import operator
from json.encoder import encode_basestring_ascii as quoted

from canonical import DEPTH_LIMIT, equal
from kinds import (
    ITEMS,
    KEYS,
    MAPPINGS,
    Decimal,
    Fraction,
    Incomparable,
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
from outcome import outcome_of_incomparable, outcome_of_value

CALL_LIMIT = 8_000  # characters of JSON; one side of a comparison that is longer is not asked for by itself
ONLY_AST = 0x400  # ast.PyCF_ONLY_AST


class Expression:
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
            return outcome_of_incomparable(reason)

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
