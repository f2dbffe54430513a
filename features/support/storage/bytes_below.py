"""Every byte that the program has written: of files, and of what is in them compressed."""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from support.world import audit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.world.world import World


def places_with(world: World, words: bytes) -> list[str]:
    """Where below the home the words stand, in a file or in an object of the store."""
    found = [str(path) for path in _files(world.backtrail_home) if _holds(path, words)]
    objects = audit.store_git(world, "cat-file", "--batch-all-objects", "--batch").stdout
    assert b" commit " in objects, "the store holds nothing"
    return [*found, *(["an object of the store"] if words in objects else [])]


def _files(place: Path) -> Iterator[Path]:
    return (path for path in place.rglob("*") if path.is_file() and not path.is_symlink())


def _holds(path: Path, words: bytes) -> bool:
    content = path.read_bytes()
    return any(words in text for text in (content, *_unpacked(content)))


def _unpacked(content: bytes) -> Iterator[bytes]:
    for unpack in (zlib.decompress, gzip.decompress):
        with suppress(OSError, EOFError, zlib.error):
            yield unpack(content)
