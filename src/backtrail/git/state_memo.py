"""Remembering the last state commit of a sandbox, so that what did not change is not stored again.

It only ever saves time: without one, or with one that does not fit, everything is done anew, and
whether the objects that it names are still there is looked at before a checkpoint is complete.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from backtrail.git.checked_file import read_checked, write_checked

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.gitstate import GitState


@dataclass(frozen=True, slots=True)
class StateMemo:
    """What a state commit was made from, and what came of it."""

    inputs: str
    """A digest of HEAD, the index and the ignore text."""
    document: str
    """A digest of the document in the state commit."""
    state_commit: str
    parts: dict[str, str]
    staged: list[str]

    def write(self, path: Path) -> None:
        write_checked(path, json.dumps(asdict(self)).encode())


def read_memo(path: Path, inputs: str) -> StateMemo | None:
    """The memo, if it is about the same inputs."""
    try:
        memo = StateMemo(**json.loads(read_checked(path) or b""))
    except (ValueError, TypeError):
        return None
    return memo if memo.inputs == inputs else None


def digest_of_inputs(state: GitState, excludes: bytes) -> str:
    index = state.index.content if state.index else b""
    return digest(f"{state.head_commit} {state.index is None}".encode(), index, excludes)


def digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.hexdigest()
