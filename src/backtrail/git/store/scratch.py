"""Scratch directories beside the store, gone when they are done with."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from backtrail.git.osfiles.walk import delete_tree
from backtrail.git.store.store import PrivateStore


@contextmanager
def scratch_directory(store: PrivateStore) -> Generator[Path]:
    path = Path(tempfile.mkdtemp(dir=store.scratch))
    try:
        yield path
    finally:
        with suppress(OSError):
            delete_tree(path)
