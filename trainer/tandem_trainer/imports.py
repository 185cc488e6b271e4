"""Importing torch and transformers makes millions of objects and no garbage: the collector is off meanwhile."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Within, nothing is searched for garbage; else a fifth of the time goes into searches that find nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
