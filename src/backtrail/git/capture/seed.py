"""Seeding a private index from a worktree that we have just checked out (no file is hashed).

A seed may be used only where it cannot lie: nothing changed bytes on checkout, and no entry
carries a flag that makes git look away.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from backtrail.domain.plan import Sandbox
from backtrail.git.ignore.rules import UNSET, UserSettings, configuration_reader, lines_at
from backtrail.git.osfiles.plain_files import LARGEST_INDEX, read_plain
from backtrail.git.process.runner import nul_joined
from backtrail.git.store.index import safe_date
from backtrail.git.store.objects import read_blobs
from backtrail.git.store.store import PrivateStore

# Any of these in an attributes file may make the bytes on disk differ from the stored ones.
_CONVERTING = (b"eol=crlf", b"ident", b"filter", b"working-tree-encoding", b"crlf")
_GITLINK = re.compile(rb"(?:^|\0)H 160000 [^\t]*\t([^\0]*)")
# Values of core.autocrlf under which a checkout writes what is stored.
_NOT_CONVERTING = (b"", b"false", b"no", b"off", b"0", b"input")


def seed_index(store: PrivateStore, sandbox: Sandbox, *, checkout_began_ns: int) -> bool:
    """Copy the worktree's fresh index, dated before the checkout began; False if it might lie.

    A plain copy, dated now, would miss a same-size edit made right after the checkout.
    """
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    seed = kept.with_name(kept.name + ".seed")
    seed.write_bytes(read_plain(sandbox.git_dir / "index", LARGEST_INDEX))
    git = store.git(sandbox.path, seed)
    entries = git.call("ls-files", "-s", "-v", "-z").stdout
    if not _all_plain(entries):
        seed.unlink()
        return False
    gitlinks = _GITLINK.findall(entries) if b"H 160000 " in entries else []
    if gitlinks:
        git.call("update-index", "-z", "--force-remove", "--stdin", stdin=nul_joined(gitlinks))
    date = safe_date(checkout_began_ns)
    os.utime(seed, ns=(date, date))
    seed.replace(kept)
    return True


def _all_plain(entries: bytes) -> bool:
    """Whether every record of `ls-files -v` begins with H: any other letter stands for a flag."""
    return (b"\0" + entries).count(b"\0H ") == entries.count(b"\0")


def checkout_converts(store: PrivateStore, sandbox: Sandbox, user: UserSettings) -> bool:
    """Whether settings or attributes could change bytes on checkout; errs on the safe side."""
    settings = _settings(store, user)
    if settings is None:
        return True
    if settings.get(b"core.autocrlf", b"false").lower() not in _NOT_CONVERTING:
        return True
    if settings.get(b"core.eol", b"").lower() == b"crlf":
        return True
    texts = _tracked_attributes(store, sandbox)
    configured = settings.get(b"core.attributesfile")
    texts += [lines_at(path) for path in _attribute_files(store, user, configured)]
    return any(word in text for text in texts for word in _CONVERTING)


def _settings(store: PrivateStore, user: UserSettings) -> dict[bytes, bytes] | None:
    """The settings that decide about conversion; None if they cannot be read."""
    output = configuration_reader(store.common_dir, user).run(
        "config", "-z", "--get-regexp", r"^core\.(autocrlf|eol|attributesfile)$"
    )
    if output.code not in (0, UNSET):
        return None
    pairs = (record.partition(b"\n") for record in output.records())
    # A bare name without a value means true.
    return {key: value if given else b"true" for key, given, value in pairs}


def _tracked_attributes(store: PrivateStore, sandbox: Sandbox) -> list[bytes]:
    git = store.git(sandbox.path, sandbox.git_dir / "index")
    found = git.call(
        "ls-files", "-s", "-z", "--", ":(glob)**/.gitattributes",
        extra={"GIT_LITERAL_PATHSPECS": "0"},
    )  # fmt: skip
    return read_blobs(store, [record.split(b" ")[1].decode() for record in found.records()])


def _attribute_files(
    store: PrivateStore, user: UserSettings, configured: bytes | None
) -> list[Path]:
    files = [Path("/etc/gitattributes"), store.common_dir / "info" / "attributes"]
    if configured:
        files.append(Path(os.path.expanduser(os.fsdecode(configured))))
    elif directory := user.configuration_directory():
        files.append(directory / "git" / "attributes")
    return files
