"""Sandboxes of special kinds: of somebody without privileges, sparse, cloned, with submodules."""

from __future__ import annotations

import ctypes
import os
import socket
from typing import TYPE_CHECKING

from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from support.world.disk import Walk
    from support.world.world import World

_SET_SECUREBITS, _NO_ROOT = 28, 0b11
_CAPABILITY_VERSION = 0x20080522


def set_modes(root: Path, modes: Mapping[str, int]) -> None:
    """Give modes; what lies deepest first, so that a closed directory does not shut others in."""
    for path, mode in sorted(modes.items(), reverse=True):
        (root / path).chmod(mode)


def parse_modes(listed: str) -> dict[str, int]:
    pairs = (item.strip().rsplit(" ", 1) for item in listed.split(","))
    return {path: int(mode, 8) for path, mode in pairs}


def make_thing(place: Path, what: str) -> None:
    """Make a thing of the kind that scenarios name."""
    match what:
        case "a file":
            place.write_text("a file\n")
        case "an ignored file":
            place.write_text("an ignored file\n")
            write_files(place.parent, {".gitignore": f"*.log\nbuild/\n{place.name}\n"})
        case "a link":
            place.symlink_to("README.md")
        case "a dangling link":
            place.symlink_to("nowhere")
        case "an absolute link":
            place.symlink_to("/etc/hostname")
        case "a folder":
            write_files(place, {"one.txt": "one\n", "deep/two.txt": "two\n"})
        case _:
            assert what == "an empty folder", what
            place.mkdir()


def make_socket(place: Path) -> None:
    # The path of a socket may not be long, and the world's is.
    here = os.open(place.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"/proc/self/fd/{here}/{place.name}")
    finally:
        os.close(here)


def without_privileges() -> None:
    """Give up root's power to read and write everything, for this process and its children.

    The user stays the same, so that the interpreter and its modules can still be found.
    """
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    for code in (libc.prctl(_SET_SECUREBITS, _NO_ROOT), libc.capset(header, nothing)):
        assert code == 0, os.strerror(ctypes.get_errno())


def add_submodules(world: World, sandbox: Path, ready: str, bare: str) -> None:
    """Two submodules of which only the first is initialised."""
    origin = world.root / "library"
    origin.mkdir()
    world.git("init", "--quiet", cwd=origin)
    write_files(origin, {"lib.txt": "lib\n"})
    world.git("add", ".", cwd=origin)
    world.git("commit", "--quiet", "-m", "library", cwd=origin)
    allow = ("-c", "protocol.file.allow=always")
    for name in (ready, bare):
        world.git(*allow, "submodule", "--quiet", "add", str(origin), name, cwd=sandbox)
    world.git("commit", "--quiet", "-m", "submodules", cwd=sandbox)
    world.git("submodule", "--quiet", "deinit", "--force", bare, cwd=sandbox)


def clone(world: World, kind: str) -> None:
    """Put a clone of the repository in its place."""
    origin = world.root / "origin"
    world.repo.rename(origin)
    world.git("config", "uploadpack.allowFilter", "true", cwd=origin)
    flags = {
        "shallow": ["--depth=1"],
        "partial": ["--filter=blob:none", "--no-checkout"],
        "partial and sparse": ["--filter=blob:none", "--sparse"],
    }[kind]
    world.git("clone", "--quiet", *flags, f"file://{origin}", str(world.repo), cwd=world.root)


def dates_and_inodes(root: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(root)): (path.lstat().st_mtime_ns, path.lstat().st_ino)
        for path in root.rglob("*")
        if path.is_file() and path.name != ".git"
    }


def restless_git(world: World, place: Path) -> dict[str, str]:
    """Environment in which a file changes each time git has stored it."""
    here = world.root / "restless git"
    here.mkdir()
    script = here / "git"
    script.write_text(
        "#!/bin/sh\n"
        f"PATH='{os.environ['PATH']}'\n"
        'case " $* " in\n'
        '*" --add --remove "*)\n'
        '  git "$@"; code=$?\n'
        f"  echo x >> '{place}'; exit $code;;\n"
        "esac\n"
        'exec git "$@"\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{here}:{os.environ['PATH']}"}


def at_around(files: Walk, path: str) -> Walk:
    """What a walk found at and below a path, and its directories above."""
    wanted = os.fsencode(path)
    return {
        found: entry
        for found, entry in files.items()
        if found == wanted or found.startswith(wanted + b"/") or wanted.startswith(found + b"/")
    }
