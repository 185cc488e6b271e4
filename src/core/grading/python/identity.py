"""`id` that counts: the addresses of objects differ between a reference and an answer, and from process to process."""

import builtins

FIRST = 0x7000_0000
STEP = 16  # addresses are multiples of it, too

address_of = builtins.id
numbers = {}


def id(value, /):
    """Return the identity of an object, by the order in which objects were first asked for theirs."""
    return numbers.setdefault(address_of(value), FIRST + STEP * len(numbers))


builtins.id = id
# Starts over.
forget_identities = numbers.clear
