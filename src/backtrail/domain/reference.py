"""How people name a checkpoint: parsing only; looking it up needs the rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from backtrail.domain.errors import UsageError

_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_BEFORE = re.compile(r"before:(.+)")
_SEQ = re.compile(r"[0-9]{1,9}")
_WORD = re.compile(r"[A-Za-z0-9][\w.-]*")
ULID_LENGTH = 26


class ReferenceKind(StrEnum):
    SEQ = "seq"
    FIRST = "first"
    LATEST = "latest"
    LAST_GREEN = "last-green"
    BEFORE = "before"
    WORD = "word"
    """A full id, a label, or the beginning of an id; exact beats prefix."""


@dataclass(frozen=True, slots=True)
class CheckpointReference:
    text: str
    kind: ReferenceKind
    number: int = 0
    word: str = ""


def parse_reference(text: str) -> CheckpointReference:
    """What kind of reference a text is; a usage error if it can be none."""
    if text == "first":
        return CheckpointReference(text, ReferenceKind.FIRST)
    if text == "last-green":
        return CheckpointReference(text, ReferenceKind.LAST_GREEN)
    if match := _LATEST.fullmatch(text):
        return CheckpointReference(text, ReferenceKind.LATEST, number=int(match[1] or 0))
    if match := _BEFORE.fullmatch(text):
        return CheckpointReference(text, ReferenceKind.BEFORE, word=match[1])
    if _SEQ.fullmatch(text):
        return CheckpointReference(text, ReferenceKind.SEQ, number=int(text), word=text)
    if _WORD.fullmatch(text):
        return CheckpointReference(text, ReferenceKind.WORD, word=text)
    raise UsageError(
        f"{text!r} is not a checkpoint reference",
        hint="use a number, an id or its beginning, a label, first, latest, latest~N, last-green, "
        "before:RUN or before:DECISION",
    )
