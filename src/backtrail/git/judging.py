"""Which paths a set of ignore rules ignores, whatever is on disk: git itself is asked.

Exact for odd names, too: git looks at a scratch tree that holds the .gitignore files, and an empty
file or directory in the place of each candidate. A candidate that is a directory ends in a slash.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.git.hidden_rules import RULES_FILE, is_rules_file, read_rules_files
from backtrail.git.ignore import rules_in_force, scratch_directory
from backtrail.git.paths import parents_of
from backtrail.git.probes import take_for_directories
from backtrail.git.trees import TreeEntry, read_blobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backtrail.git.ignore import IgnoreRules
    from backtrail.git.store import PrivateStore

_LISTING = ("ls-files", "-o", "-z", "--exclude-standard")


def ignored_at(
    store: PrivateStore, files: Iterable[TreeEntry], rules: IgnoreRules, candidates: Sequence[bytes]
) -> set[bytes]:
    """Those of the candidates that the rules of a checkpoint with these files ignore."""
    if not candidates:
        return set()
    # Git does not follow a .gitignore that is a symbolic link.
    entries = [entry for entry in files if is_rules_file(entry.path) and entry.is_file]
    texts = read_blobs(store, [entry.object_id for entry in entries])
    hidden = {os.fsencode(path): text for path, text in rules.hidden.items()}
    captured = {e.path: text for e, text in zip(entries, texts, strict=True)}
    return _ignored_by(store, hidden | captured, rules, candidates)


def ignored_here(
    store: PrivateStore, root: Path, rules: IgnoreRules, candidates: Sequence[bytes]
) -> set[bytes]:
    """Those of the candidates that the present rules of a checkout ignore."""
    if not candidates:
        return set()
    directories = {b"", *(parent for path in candidates for parent in parents_of(path))}
    found = read_rules_files(root, [os.path.join(d, RULES_FILE) for d in directories])
    texts = {os.fsencode(path): text for path, text in found.items()}
    return _ignored_by(store, texts, rules, candidates)


def _ignored_by(
    store: PrivateStore,
    texts: Mapping[bytes, bytes],
    rules: IgnoreRules,
    candidates: Sequence[bytes],
) -> set[bytes]:
    directories = [path for path in candidates if path.endswith(b"/")]
    with scratch_directory(store) as directory, rules_in_force(store, rules) as words:
        root = directory / "tree"
        root.mkdir()
        for path, text in (*texts.items(), *((path, b"") for path in candidates)):
            _place(os.fsencode(root), path, text)
        git = store.git(root, directory / "index")
        shown = git.call(*words, *_LISTING).records()
        if directories:
            # A directory is named by itself only where the one above it has an entry.
            above = {parent + b"/" for d in directories for parent in parents_of(d.rstrip(b"/"))}
            take_for_directories(git, sorted(above))
            shown += git.call(*words, *_LISTING, "--directory").records()
    return set(candidates) - set(shown)


def _place(root: bytes, path: bytes, text: bytes) -> None:
    full = os.path.join(root, path)
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if not path.endswith(b"/"):
            with open(full, "xb") as file:
                file.write(text)
    except (FileExistsError, NotADirectoryError):
        # A candidate in the place of a directory of the checkpoint: it is in the way of what
        # comes back, so it cannot be left alone, and leaving it out here says so.
        return
