"""Refuses a chat template that plays would render otherwise than training does.

Plays render templates in src/core/model/local/template, which knows the names below and refuses all others; so does
this module. `tests/template_renderings.json` holds both to the same lists and the same texts.
"""

import re

import jinja2
from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.ext import loopcontrols

from ..fault import UsageFault

CONSTRUCTS = {
    "tags": (
        "break call continue elif else endcall endfilter endfor endgeneration endif endmacro endset filter for "
        "generation if macro set"
    ),
    "filters": (
        "abs capitalize count d default dictsort first float format indent int items join last length list lower map "
        "max min reject rejectattr replace reverse safe select selectattr sort string sum title tojson trim unique "
        "upper"
    ),
    "tests": (
        "!= < <= == > >= boolean callable defined divisibleby eq equalto even false float ge greaterthan gt in integer "
        "iterable le lessthan lower lt mapping ne none number odd sequence string true undefined upper"
    ),
    "methods": (
        "append capitalize clear copy count endswith extend find format get index insert isalnum isalpha isdigit "
        "islower isspace isupper items join keys ljust lower lstrip partition pop popitem remove removeprefix "
        "removesuffix replace reverse rfind rjust rpartition rsplit rstrip setdefault sort split splitlines startswith "
        "strip title update upper values"
    ),
}
KNOWN = {kind: frozenset(names.split()) for kind, names in CONSTRUCTS.items()}
FOREIGN_NAMES = frozenset({"cycler", "joiner", "kwargs", "lipsum", "self", "super", "varargs"})

NUMBER = re.compile(r"(0|[1-9]\d*)(\.\d+)?")
PERCENT = re.compile(r"%(\([^)]*\)|.|$)", re.DOTALL)
FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
GENERATION = re.compile(r"\{%([-+]?)\s*(?:end)?generation\s*([-+]?)%\}")


def check_template(text: str, name: str) -> None:
    """Raises Fault with the construct's name. text: the template of the model `name`."""
    # transformers' own tag, whose content is rendered like any other, becomes a comment.
    environment = jinja2.Environment(extensions=[loopcontrols])
    try:
        construct = next(_foreign(environment, GENERATION.sub(r"{#\1 \2#}", text)), None)
    except RecursionError:
        construct = "too many levels of nesting"
    except TemplateSyntaxError as error:
        raise UsageFault(
            f"The chat template of {name} is damaged at line {error.lineno}: {str(error.message).rstrip('.')}."
        ) from error
    if construct is not None:
        raise UsageFault(
            f"The chat template of {name} uses {construct}, which Tandem does not render as Python does; set "
            "model.chat_template to a file with a template that does without."
        )


def _foreign(environment: jinja2.Environment, text: str):
    before = ""
    for _, kind, value in environment.lex(text):
        if kind == "raw_begin":
            yield "the tag `raw`"
        if kind == "name" and before == "block_begin" and value not in KNOWN["tags"]:
            yield f"the tag `{value}`"
        if kind in ("integer", "float") and not NUMBER.fullmatch(value):
            yield f"the number `{value}`"
        if kind == "string" and (
            escape := next((e for e in re.findall(r"\\(.)", value, re.DOTALL) if e in "01234567N"), "")
        ):
            yield f"the escape `\\{escape}`"
        if kind != "whitespace":
            before = kind
    for node in environment.parse(text).find_all(nodes.Node):
        yield from _foreign_in(node)


def _foreign_in(node: nodes.Node):
    if isinstance(node, nodes.For) and node.recursive:
        yield "a `for` that is `recursive`"
    if isinstance(node, nodes.Call | nodes.Filter | nodes.Test) and (node.dyn_args or node.dyn_kwargs):
        yield "`*` before an argument"
    if isinstance(node, nodes.Filter) and node.name not in KNOWN["filters"]:
        yield f"the filter `{node.name}`"
    if isinstance(node, nodes.Test) and node.name not in KNOWN["tests"]:
        yield f"the test `{node.name}`"
    if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in FOREIGN_NAMES:
        yield f"`{node.name}`"
    if isinstance(node, nodes.Name) and node.ctx != "load" and node.name == "loop":
        yield "a value for `loop`"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Tuple):
        yield "a tuple between `[` and `]`"
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        if node.node.attr not in KNOWN["methods"]:
            yield f"the method `{node.node.attr}`"
        if node.node.attr == "format" and (text := _constant(node.node.node)) is not None:
            yield from (
                f"the field `{{{field}}}` of `str.format`"
                for field in FIELD.findall(text)
                if not re.fullmatch(r"\w*", field, re.ASCII)
            )
    if isinstance(node, nodes.Mod) and (text := _constant(node.left)) is not None:
        yield from (
            f"the conversion `%{each}` of `%` on a text"
            for each in PERCENT.findall(text)
            if each not in ("%", "s", "r", "d", "i")
        )


def _constant(node: nodes.Node) -> str | None:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None
