"""The stage of the demonstration: a throw-away directory and the small repository in it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.demo.plain_git import demo_git
from backtrail.domain.errors import BacktrailError, FailedError, VerificationFailedError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from backtrail.demo.plain_git import PlainGit


PREFIX = "backtrail-demo-"
REPOSITORY = "shop"
SECRETS = ".env"
_ROOM = 1024 * 1024
_PATIENCE = 5.0

_FILES = {
    ".gitignore": b".env\n*.log\n",
    "README.md": b"# The shop\n",
    "assets/logo.bin": bytes(range(256)),
    "deploy.sh": b"#!/bin/sh\necho deployed\n",
    "docs/user guide.md": b"Take a cart.\r\nFill it.\r\n",
    "src/cart.py": b"price = 1\n",
    "src/mail.py": b"def send(): ...\n",
}
_GOOD_WORK = {
    SECRETS: b"TOKEN=do-not-lose-me\n",
    "src/login.py": b"def login(user): ...\n",
}


@contextmanager
def hidden_user(home: Path) -> Generator[Mapping[str, str]]:
    """Hide the user's settings from libraries that read the environment of the whole process."""
    own = {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    before = dict(os.environ)
    for name in before:
        if name.startswith("GIT_") or name == "XDG_CONFIG_HOME":
            del os.environ[name]
    os.environ.update(own)
    try:
        yield own
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def throwaway(parent: Path, *, keep: bool) -> Generator[Path]:
    """A directory of its own, removed in the end unless it is to be kept."""
    place = _made(parent)
    try:
        yield place
    except VerificationFailedError as error:
        # What contradicts the demonstration is evidence.
        if keep:
            error.hint = f"please report this; everything is still in {str(place)!r} to look at"
        else:
            _remove(place)
        raise
    except BaseException as error:
        trouble = _write_trouble(place, error)
        _remove(place)
        if trouble is not None:
            raise trouble from error
        raise
    if not keep and not _remove(place):
        raise FailedError(
            f"{str(place)!r} could not be removed", hint="remove it by hand; nobody needs it"
        )


def _made(parent: Path) -> Path:
    try:
        return Path(os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=parent)))
    except OSError as error:
        raise _no_room(parent, error) from error


def _write_trouble(place: Path, error: BaseException) -> FailedError | None:
    """Whether a failure of any part is in truth the disk's; a full one fails in many ways."""
    if not isinstance(error, BacktrailError | OSError):
        return None
    try:
        (place / "room").write_bytes(b"\0" * _ROOM)
    except OSError as problem:
        return _no_room(place.parent, problem)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _no_room(place.parent, error)
    return None


def _no_room(parent: Path, error: OSError) -> FailedError:
    return FailedError(
        f"the demonstration cannot write to {str(parent)!r}: {error.strerror}",
        hint="set TMPDIR to a directory that can be written to and has a few megabytes of room",
    )


def _remove(place: Path) -> bool:
    """Remove everything; whether it is gone. A git that was interrupted may still be writing."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists() or time.monotonic() >= deadline:
                return not place.exists()
            time.sleep(0.05)
        except KeyboardInterrupt:
            # An impatient second Ctrl-C must not leave half of it behind.
            continue


def make_repository(place: Path) -> Path:
    """A small repository with one commit."""
    repository = place / REPOSITORY
    repository.mkdir()
    write_files(repository, _FILES)
    script = repository / "deploy.sh"
    script.chmod(script.stat().st_mode | 0o111)
    git = demo_git(place, repository)
    git("init", "--quiet", "--template=", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "The shop opens")
    return repository


def do_good_work(git: PlainGit) -> None:
    """What is worth saving: a new file, staged and then edited further, and secrets in .env."""
    write_files(git.checkout, _GOOD_WORK)
    git("add", "src/login.py")
    with (git.checkout / "src/login.py").open("ab") as file:
        file.write(b"def logout(): ...\n")


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
