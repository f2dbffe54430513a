"""Python's search for unreachable values, put off while tens of thousands of paths are in hand."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def collection_put_off() -> Generator[None]:
    """Look for none as long as this lasts.

    All those values are reachable until the end. To look through them again and again while they
    become more finds nothing, and takes a good part of the time of a rollback.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
