"""The scrubbed surroundings in which git runs: nothing a sandbox says can change what git does."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from backtrail.domain.errors import GitFailedError

IDENTITY = {
    "GIT_AUTHOR_NAME": "Backtrail",
    "GIT_AUTHOR_EMAIL": "backtrail@localhost",
    "GIT_COMMITTER_NAME": "Backtrail",
    "GIT_COMMITTER_EMAIL": "backtrail@localhost",
}

# From this size on git reads and writes a file a piece at a time, into a pack of its own.
STREAMED_FROM = 16 * 1024**2
_STREAMED = f"core.bigFileThreshold={STREAMED_FROM}"

# Settings that hold in the private store, whatever its own or anybody's configuration says.
STORE_SETTINGS = (
    "core.bare=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.attributesFile=/dev/null",
    "core.symlinks=true",
    "core.fileMode=true",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.trustctime=true",
    "core.checkStat=default",
    # The private index may be lost: it is checked before use and built anew.
    "core.fsync=all,-index",
    "core.fsyncMethod=batch",
    "core.quotePath=false",
    # We write neither: they could say that a commit has another tree, or where an object is not.
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    _STREAMED,
    "gc.auto=0",
    "commit.gpgSign=false",
)

# Settings for the few plumbing commands that work on the user's own repository.
USER_REPOSITORY_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=all",
    _STREAMED,
    "gc.auto=0",
)

# What the user may say about their own commits; every other GIT_ variable could redirect git.
_USERS_OWN = re.compile(
    r"GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)"
    r"|ASKPASS|SSH|SSH_COMMAND|SSL_\w+)"
)


@cache
def git_executable() -> str:
    """The absolute path of git, so that a later change of PATH cannot swap it."""
    found = shutil.which("git")
    if found is None:
        raise GitFailedError("git is not installed", hint="install git 2.39 or newer")
    return os.path.realpath(found)


def scrubbed_environment() -> dict[str, str]:
    """An environment built from nothing: inherited GIT_* variables redirect everything."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_LITERAL_PATHSPECS": "1",
        **IDENTITY,
    }


def users_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's own environment, for their hooks, filters and keys, less what redirects git."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or _USERS_OWN.fullmatch(name)
    }


def store_environment(git_dir: Path, work_tree: Path, index: Path) -> dict[str, str]:
    return {
        **scrubbed_environment(),
        "GIT_DIR": str(git_dir),
        "GIT_WORK_TREE": str(work_tree),
        "GIT_INDEX_FILE": str(index),
    }


def settings_arguments(settings: tuple[str, ...]) -> list[str]:
    return [word for setting in settings for word in ("-c", setting)]


def quoted_path(path: Path) -> str:
    """The variable holds a list; quotes keep a colon in a path from splitting it."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
