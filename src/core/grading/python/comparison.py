"""Evaluates the expression of a test so that no object of the source has a say in what it compares at its top."""

import operator
from _ast import BoolOp, Compare, Eq, Expression, Gt, GtE, In, Is, IsNot, Lt, LtE, Not, NotEq, NotIn, Or, UnaryOp

from canonical import equal
from data import copied

COMPARISONS = {
    Lt: operator.lt,
    LtE: operator.le,
    Gt: operator.gt,
    GtE: operator.ge,
    In: lambda one, many: one in many,
    NotIn: lambda one, many: one not in many,
}


class Evaluation:
    """Compares by canonical texts or on copies. Raises Incomparable when a side equals nothing."""

    def __init__(self, seen, numpy):
        """seen: the names that the expression has."""
        self.seen, self.numpy = seen, numpy

    def value(self, node):
        if type(node) is Compare:
            return self.compared(node)
        if type(node) is UnaryOp and type(node.op) is Not:
            return not self.value(node.operand)
        if type(node) is BoolOp:
            decisive = type(node.op) is Or
            for each in node.values:
                value = self.value(each)
                if bool(value) is decisive:
                    break
            return value
        return eval(compile(Expression(body=node), '<string>', 'eval', dont_inherit=True), self.seen)

    def compared(self, node):
        left = self.value(node.left)
        for kind, right in zip(map(type, node.ops), node.comparators):
            right = self.value(right)
            if not self.holds(kind, left, right):
                return False
            left = right
        return True

    def holds(self, kind, left, right):
        if kind is Eq or kind is NotEq:
            return equal(left, right, self.numpy) == (kind is Eq)
        if kind is Is or kind is IsNot:
            return (left is right) == (kind is Is)
        return bool(COMPARISONS[kind](copied(left, self.numpy), copied(right, self.numpy)))
