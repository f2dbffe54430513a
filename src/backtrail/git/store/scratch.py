"""Scratch directories beside the store, gone when they are done with."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.git.osfiles.walk import delete_tree

if TYPE_CHECKING:
    from collections.abc import Generator

    from backtrail.git.store.store import PrivateStore


@contextmanager
def scratch_directory(store: PrivateStore) -> Generator[Path]:
    path = Path(tempfile.mkdtemp(dir=store.scratch))
    try:
        yield path
    finally:
        with suppress(OSError):
            delete_tree(path)
