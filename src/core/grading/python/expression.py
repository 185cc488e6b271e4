"""The expression of one test, evaluated where the source ran."""

from _ast import Compare, Eq, Not, NotEq, UnaryOp
from json.encoder import encode_basestring_ascii as quoted

from canonical import SIZE_LIMIT, canonical_text, equal
from comparison import Evaluation
from kinds import MAPPINGS, Incomparable, among
from outcome import outcome_of_incomparable, outcome_of_value
from questions import decides, parsed, text_of

CALL_LIMIT = 8_000  # characters of JSON; one side of a comparison that is longer is not asked for by itself


class Expression:
    def __init__(self, call, names, seen, numpy):
        """names: which names are the source's; seen: those that the expression has."""
        self.call, self.names, self.numpy = call, names, numpy
        self.evaluation = Evaluation(seen, numpy)
        self.tree = parsed(call)

    def outcome(self):
        try:
            if self.sides is not None:
                return self.outcome_of_sides(*map(self.evaluation.value, self.sides))
            value = self.evaluation.value(self.tree)
            told = outcome_of_value(value, self.numpy)
            return told[:-1] + self.marks() + self.decided(self.tree, value) + '}'
        except Incomparable as reason:
            return outcome_of_incomparable(reason)

    def marks(self):
        """A comparison says no more than whether something holds."""
        is_not = type(self.tree) is UnaryOp and type(self.tree.op) is Not
        return ',"compared":true' if is_not or type(self.tree) is Compare else ''

    def decided(self, node, value):
        """What a source that knows nothing could still get right is to be evaluated where the source did not run."""
        if self.names.is_call(node) or not (holds_truth(value) or decides(node, self.names)):
            return ''
        return ',"decides":true' if self.names.are_in(node) else ''

    @property
    def sides(self):
        """The two sides when the whole test says that they are equal or that they are not."""
        node = self.tree
        if type(node) is not Compare or len(node.ops) != 1:
            return None
        return (node.left, node.comparators[0]) if type(node.ops[0]) in (Eq, NotEq) else None

    def outcome_of_sides(self, left, right):
        """
        With the side that asks the source something by itself, so that an answer is asked only for that, and what it is
        to be compared with stays outside of its interpreter.
        """
        same = equal(left, right, self.numpy)
        told = outcome_of_value(same == (type(self.tree.ops[0]) is Eq), self.numpy)[:-1] + self.marks()
        asking = [self.names.are_in(node) for node in self.sides]
        node, value, other = (self.sides[0], left, right) if asking[0] else (self.sides[1], right, left)
        call = quoted(text_of(self.call, node))
        fixed = outcome_of_value(other, self.numpy)
        if asking[0] == asking[1] or len(call) > CALL_LIMIT or '"canonical":null' in fixed[:40]:
            return told + self.decided(self.tree, True) + '}'
        return '%s,"comparison":{"call":%s,"gave":%s,"equal":%s,"with":%s}%s}' % (
            told,
            call,
            quoted(canonical_text(value, self.numpy)),
            'true' if same else 'false',
            fixed,
            self.decided(node, value),
        )


def holds_truth(value):
    """Whether True or False is the value or in it; both can be guessed."""
    left = [value]
    for _ in range(SIZE_LIMIT):  # a list may be in itself
        if not left:
            return False
        value = left.pop()
        kind = type(value)
        if kind is bool:
            return True
        if kind is list or kind is tuple:
            left += value
        elif among(kind, MAPPINGS):
            left += dict.values(value)
    return False
