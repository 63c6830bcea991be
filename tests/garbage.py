"""Find problems that only show up at garbage collection, such as exceptions that nobody retrieved."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collected() -> Generator[None]:
    """Collect objects that were created inside the block. Skip older ones, because that takes long."""
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
