"""Importing torch and transformers makes millions of objects and no garbage: the collector is off meanwhile."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Within, nothing is searched for garbage; afterwards all that is there by then is never searched again.

    Without this a fifth of the time of an import goes into searches that find nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
