"""What git says on standard error of what it cannot read, and of what changed under its hands.

Only these exact sentences are understood: anything else there stays a failure. Git prints names as
they are, but for control characters, in the place of which it puts a question mark.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backtrail.git.process.runner import Output


_DIRECTORY = re.compile(
    rb"warning: could not open directory '(.*?)/': "
    rb"(Permission denied|File name too long|No such file or directory|Not a directory)\n",
    re.DOTALL,
)
# Git cuts its messages at 4096 bytes, which happens to paths that are too long for the system.
_CUT_DIRECTORY = re.compile(rb"warning: could not open directory '(.{4060})\n", re.DOTALL)
# A link in the place of such a file is not followed, and a socket cannot be opened.
_RULES = re.compile(
    rb"warning: unable to access '((?:.*?/)?\.git(?:ignore|attributes))': "
    rb"(Permission denied|Too many levels of symbolic links|No such device or address)\n",
    re.DOTALL,
)
_TOO_LARGE = re.compile(
    rb"warning: ignoring (?:overly large gitattributes|excessively large pattern) file:? [^\n]*\n"
)
_ENTRY = re.compile(rb"(?!warning: |error: |fatal: )(.+?): Permission denied\n", re.DOTALL)
# What a restore says, and then touches nothing: of a file that is not as the index has it, of one
# that the index does not have, and of a directory with such a file.
_CHANGED = re.compile(
    rb"error: (?:Entry '(.*?)' not uptodate\. Cannot merge\.|"
    rb"Untracked working tree file '(.*?)' would be (?:overwritten|removed) by merge\.|"
    rb"Updating '(.*?)' would lose untracked files in it)\n",
    re.DOTALL,
)
# What an index says of a path above which a directory was exchanged for a link meanwhile.
_BEYOND = re.compile(rb"error: '(.*?)' is beyond a symbolic link\n", re.DOTALL)
_FULL = re.compile(rb"No space left on device|Disk quota exceeded|File too large")
_BROKEN = re.compile(
    rb"not a git repository|bad (?:config|object|tree|signature|sha1|ref|revision)|shallow|corrupt"
    rb"|inflate|unable to (?:read|parse|unpack|find|access)|[Cc]ould not (?:read|parse)|missing"
    rb"|failed to read|pack(?:file|ed|-)|not a valid|mismatch|too-short|malformed|garbage|broken"
    rb"|truncated|premature end|hash|does not exist|cannot lock ref|is (?:empty|too small)"
    rb"|unavailable|non-monotonic"
)
_DENIED = b"Permission denied"
_CLOSED = (_DENIED, b"File name too long")
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Complaints:
    """Paths that git could not read."""

    directories: tuple[bytes, ...] = ()
    rules_files: tuple[bytes, ...] = ()
    """Files named .gitignore or .gitattributes that may not be read; links are not among them."""
    entries: tuple[bytes, ...] = ()
    """Files of the index that cannot even be looked at."""
    vanished: tuple[bytes, ...] = ()
    """Directories that were gone when they were to be opened."""

    def __add__(self, other: Complaints) -> Complaints:
        return Complaints(
            self.directories + other.directories,
            self.rules_files + other.rules_files,
            self.entries + other.entries,
            self.vanished + other.vanished,
        )


def understood(output: Output) -> tuple[Output, Complaints]:
    """The output without what is understood, and that; the rest of it counts as ever."""
    if not output.stderr:
        return output, Complaints()
    said = output.stderr
    deep = [path.partition(b"/': ")[0].rpartition(b"/")[0] for path in _CUT_DIRECTORY.findall(said)]
    said = _CUT_DIRECTORY.sub(b"", said)
    found = _DIRECTORY.findall(said)
    closed = deep + [path for path, why in found if why in _CLOSED]
    vanished = [path for path, why in found if why not in _CLOSED]
    said = _DIRECTORY.sub(b"", said)
    rules = [path for path, why in _RULES.findall(said) if why == _DENIED]
    said = without_rules(said)
    return replace(output, stderr=said), Complaints(
        directories=tuple(dict.fromkeys(closed)),
        rules_files=tuple(dict.fromkeys(rules)),
        vanished=tuple(dict.fromkeys(vanished)),
    )


def understood_of_entries(output: Output) -> tuple[Output, Complaints]:
    """The same for a comparison with the disk, which also names what it cannot look at."""
    rest, found = understood(output)
    said, entries = rest.stderr, list[bytes]()
    # One after the other: what stands before or between them is no part of a name.
    at = 0
    while match := _ENTRY.match(said, at):
        entries.append(match[1])
        at = match.end()
    return replace(rest, stderr=said[at:]), replace(found, entries=tuple(entries))


def without_rules(said: bytes) -> bytes:
    """What git said, less that it goes on without a .gitignore or .gitattributes file."""
    return _TOO_LARGE.sub(b"", _RULES.sub(b"", said))


def full_disk(said: bytes) -> str | None:
    """The words of the system, if git could not write for want of room."""
    found = _FULL.search(said)
    return found[0].decode() if found else None


def is_of_damage(said: bytes) -> bool:
    """Whether git speaks of objects, refs or files of its own that are not what they should be."""
    return bool(_BROKEN.search(said))


def changed_since(said: bytes) -> list[bytes]:
    """Paths that git refuses to touch, since they are not as they were when it read them last."""
    found = (b"".join(names) for names in _CHANGED.findall(said))
    return list(dict.fromkeys(found))


def beyond_links(said: bytes, paths: Iterable[bytes] = ()) -> list[bytes]:
    """What git found below a link, although it was listed as a path; of some paths, if given."""
    printed: list[bytes] = list(dict.fromkeys(_BEYOND.findall(said)))
    names = {_CONTROL.sub(b"?", path): path for path in paths} if printed else {}
    return [names.get(name, name) for name in printed]


def really_named(root: Path, path: bytes) -> bytes:
    """The name of which git printed this, if there is one."""
    found = b""
    for part in path.split(b"/"):
        above = os.path.join(os.fsencode(root), found)
        exact = os.path.lexists(os.path.join(above, part))
        found = os.path.join(found, part if exact else _printed_as(above, part))
    return found


def _printed_as(directory: bytes, printed: bytes) -> bytes:
    try:
        names = os.listdir(directory)
    except OSError:
        return printed
    return next((name for name in names if _CONTROL.sub(b"?", name) == printed), printed)
