"""The digest of a step's arguments: two steps have the same one iff nothing of them differs.

Every part is written with its length before it, so that no two different lists of parts can
make the same bytes, whatever characters are in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

_FORMAT = "backtrail step 1"


def command_digest(
    command: Sequence[str], directory: str, variables: Mapping[str, str | None]
) -> str:
    """Of a command: its words, where it runs, and the variables that matter; None is not set."""
    pairs = (
        _joined([name] if value is None else [name, value])
        for name, value in sorted(variables.items())
    )
    return _digest("command", _joined(command), _joined([directory]), _packed(pairs))


def call_digest(arguments: str) -> str:
    """Of a function's arguments, given as JSON that is always written the same way."""
    return _digest("call", _joined([arguments]))


def _digest(kind: str, *parts: bytes) -> str:
    return hashlib.sha256(_packed([_joined([_FORMAT, kind]), *parts])).hexdigest()


def _joined(texts: Iterable[str]) -> bytes:
    # Bytes that are not UTF-8 arrive as lone surrogates, and keep apart.
    return _packed(text.encode("utf-8", "surrogatepass") for text in texts)


def _packed(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"%d:%b" % (len(part), part) for part in parts)
