"""The names that the untrusted source runs with, and those that the expression of a test has."""

import builtins
import sys
from types import ModuleType

from kinds import BUILT_INS

MODULE_NAME = 'answer'

modules = sys.modules


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
