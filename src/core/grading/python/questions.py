"""Takes what the expression of a test asks the source out of it, so that the rest is evaluated without the source."""

from _ast import (
    AST,
    Attribute,
    BoolOp,
    Call,
    Compare,
    Constant,
    DictComp,
    GeneratorExp,
    IfExp,
    Lambda,
    List,
    ListComp,
    Load,
    Name,
    NamedExpr,
    Not,
    SetComp,
    Subscript,
    Tuple,
    UnaryOp,
    arg,
    comprehension,
)

from kinds import BUILT_INS

ONLY_AST = 0x400  # ast.PyCF_ONLY_AST
ASKING = 'ask the source'  # no name that an expression could have

# What counts as a question, from the least to the most.
CALLS = 0  # `f(1)` of `f(1).x[0] > 2`, and a name that is not called
CHAINS = 1  # `f(1).x[0]`
SIDES = 2  # the sides of comparisons, conditions and tuples at the top, such as `sum(f(1))`

STRUCTURES = (Compare, BoolOp, UnaryOp, IfExp, Tuple, List)
COMPREHENSIONS = (ListComp, SetComp, DictComp, GeneratorExp)


def parsed(call):
    return compile(call.lstrip(' \t'), '<string>', 'eval', ONLY_AST, dont_inherit=True).body


def parts_of(node):
    for field in node._fields:
        part = getattr(node, field, None)
        for each in part if type(part) is list else [part]:
            if isinstance(each, AST):
                yield each


def all_of(node):
    yield node
    for each in parts_of(node):
        yield from all_of(each)


def text_of(call, node):
    """The part of the call that the node stands for, in parentheses."""
    lines = call.lstrip(' \t').encode().splitlines(keepends=True)
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line))
    text = b''.join(lines)[
        before[node.lineno - 1] + node.col_offset : before[node.end_lineno - 1] + node.end_col_offset
    ]
    return '(' + text.decode() + ')'


class Names:
    """Which names of a test are the source's: all but built-in ones and those that the reference imports."""

    def __init__(self, own, imported):
        self.own, self.imported = frozenset(own), frozenset(imported)

    def has(self, name):
        return name not in self.imported and (name in self.own or name not in BUILT_INS)

    def is_call(self, node):
        """Whether the node is a call of what the source defines, or a name of the source."""
        return self.begins(node.func if type(node) is Call else node, (Attribute,))

    def begins(self, node, links, bound=frozenset()):
        """Whether the node is a chain of such links that begins with a name of the source."""
        while type(node) in links:
            node = node.func if type(node) is Call else node.value
        return type(node) is Name and node.id not in bound and self.has(node.id)

    def are_in(self, node, bound=frozenset()):
        return any(type(each) is Name and each.id not in bound and self.has(each.id) for each in all_of(node))


class Questions:
    """The questions of an expression. Its tree gets calls of ASKING in their places."""

    def __init__(self, call, level, names):
        self.call, self.level, self.names = call, level, names
        self.texts, self.variables = [], []
        tree = parsed(call)
        self.tree = self.without(tree, assigned_in(tree), True)

    def without(self, node, bound, is_top=False):
        if self.level == SIDES:
            if not (is_top and type(node) in STRUCTURES):
                return self.question(node, bound) if self.names.are_in(node, bound) else node
        elif self.is_question(node, bound):
            return self.question(node, bound)
        bound = bound | bound_by(node)
        for field in node._fields:
            part = getattr(node, field, None)
            if type(part) is list:
                setattr(
                    node, field, [self.without(each, bound, is_top) if isinstance(each, AST) else each for each in part]
                )
            elif isinstance(part, AST):
                setattr(node, field, self.without(part, bound, is_top))
        return node

    def is_question(self, node, bound):
        if self.level == CHAINS:
            return self.names.begins(node, (Attribute, Subscript, Call), bound)
        return self.names.begins(node.func if type(node) is Call else node, (Attribute,), bound)

    def question(self, node, bound):
        """A question is asked with the values of those variables of the expression that it uses."""
        variables = sorted({each.id for each in all_of(node) if type(each) is Name and each.id in bound})
        self.texts.append(text_of(self.call, node))
        self.variables.append(variables)
        place = {name: getattr(node, name) for name in ('lineno', 'col_offset', 'end_lineno', 'end_col_offset')}
        names = [Name(id=name, ctx=Load(), **place) for name in (ASKING, *variables)]
        number = Constant(value=len(self.texts) - 1, **place)
        return Call(func=names[0], args=[number, *names[1:]], keywords=[], **place)


def assigned_in(tree):
    """The names that `:=` gives values."""
    return frozenset(each.target.id for each in all_of(tree) if type(each) is NamedExpr)


def bound_by(node):
    """The names that a comprehension or a lambda has inside."""
    if type(node) in COMPREHENSIONS:
        targets = [each for one in node.generators for each in all_of(one.target)]
        return frozenset(each.id for each in targets if type(each) is Name)
    if type(node) is Lambda:
        return frozenset(each.arg for each in all_of(node.args) if type(each) is arg)
    return frozenset()


def decides(node, names):
    """Whether the expression, outside of what it asks the source, says by itself that something holds or does not."""
    if names.is_call(node):
        return False
    if type(node) in (Compare, BoolOp, IfExp) or (type(node) is UnaryOp and type(node.op) is Not):
        return True
    if type(node) is comprehension and node.ifs:
        return True
    return any(decides(each, names) for each in parts_of(node))
