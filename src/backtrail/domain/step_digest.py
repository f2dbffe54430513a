"""The digest of a step's arguments: two steps have the same one iff nothing of them differs.

Every part is written with its length before it, so that no two different lists of parts can
make the same bytes, whatever characters are in them. Arguments hold secrets, and a short one could
be guessed from a digest that anybody can compute; so a digest has a key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_FORMAT = "backtrail step 1"


@dataclass(frozen=True, slots=True)
class Digests:
    """By what the same arguments are known: now, and in rows of versions that used no key."""

    now: str
    earlier: str

    def __contains__(self, digest: str) -> bool:
        return digest in (self.now, self.earlier)


def command_digests(
    key: bytes, command: Sequence[str], directory: str, variables: Mapping[str, str | None]
) -> Digests:
    """Of a command: its words, where it runs, and the variables that matter; None is not set."""
    pairs = (
        _joined([name] if value is None else [name, value])
        for name, value in sorted(variables.items())
    )
    return _digests(key, "command", _joined(command), _joined([directory]), _packed(pairs))


def call_digests(key: bytes, arguments: str) -> Digests:
    """Of a function's arguments, given as JSON that is always written the same way."""
    return _digests(key, "call", _joined([arguments]))


def _digests(key: bytes, kind: str, *parts: bytes) -> Digests:
    written = _packed([_joined([_FORMAT, kind]), *parts])
    return Digests(
        hmac.new(key, written, hashlib.sha256).hexdigest(), hashlib.sha256(written).hexdigest()
    )


def _joined(texts: Iterable[str]) -> bytes:
    # Bytes that are not UTF-8 arrive as lone surrogates, and keep apart.
    return _packed(text.encode("utf-8", "surrogatepass") for text in texts)


def _packed(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"%d:%b" % (len(part), part) for part in parts)
