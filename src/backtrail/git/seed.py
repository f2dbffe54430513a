"""Seeding a private index from a worktree that we have just checked out (no file is hashed).

A seed may be used only where it cannot lie: nothing changed bytes on checkout, and no entry
carries a flag that makes git look away.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.git.private_index import safe_date
from backtrail.git.runner import nul_joined
from backtrail.git.trees import list_tree, read_blobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.ids import CommitId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.ignore import UserSettings
    from backtrail.git.store import PrivateStore

# Any of these in an attributes file may make the bytes on disk differ from the stored ones.
_CONVERTING = (b"eol=crlf", b"ident", b"filter", b"working-tree-encoding", b"crlf")
_PLAIN = b"H"
_GITLINK = b"160000"


def seed_index(store: PrivateStore, sandbox: Sandbox, *, checkout_began_ns: int) -> None:
    """Copy the worktree's fresh index, dated before the checkout began.

    A plain copy, dated now, would miss a same-size edit made right after the checkout.
    """
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    seed = kept.with_name(kept.name + ".seed")
    shutil.copyfile(sandbox.git_dir / "index", seed)
    git = store.git(sandbox.path, seed)
    entries = [record.split(b" ", 2) for record in git.call("ls-files", "-s", "-v", "-z").records()]
    if any(tag != _PLAIN for tag, _, _ in entries):
        seed.unlink()
        return
    gitlinks = [rest.split(b"\t", 1)[1] for _, mode, rest in entries if mode == _GITLINK]
    if gitlinks:
        git.call("update-index", "-z", "--force-remove", "--stdin", stdin=nul_joined(gitlinks))
    date = safe_date(checkout_began_ns)
    os.utime(seed, ns=(date, date))
    seed.replace(kept)


def attributes_convert(
    store: PrivateStore, base: CommitId, user: UserSettings, attributes_file: str | None
) -> bool:
    """Whether any attributes in force could change bytes on checkout; errs on the safe side."""
    entries = [e for e in list_tree(store, base) if e.path.rsplit(b"/")[-1] == b".gitattributes"]
    texts = read_blobs(store, [e.object_id for e in entries])
    texts += [_contents(path) for path in _attribute_files(store, user, attributes_file)]
    return any(word in text for text in texts for word in _CONVERTING)


def _attribute_files(
    store: PrivateStore, user: UserSettings, attributes_file: str | None
) -> Sequence[Path]:
    files = [Path("/etc/gitattributes"), store.common_dir / "info" / "attributes"]
    if attributes_file:
        files.append(Path(attributes_file))
    if user.xdg_config_home:
        files.append(Path(user.xdg_config_home) / "git" / "attributes")
    elif user.home:
        files.append(Path(user.home) / ".config" / "git" / "attributes")
    return files


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        # Git goes on without it as well.
        return b""
