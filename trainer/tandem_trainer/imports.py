"""Turns the garbage collector off while torch and transformers are imported: they create millions of live objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Disables garbage collection inside the context; it would take a fifth of the import time and find nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
