"""Settings under which git stores other bytes than are on disk, and files that they concern."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from support.hostile import traps
from support.plans import applying
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from support.world.world import World

_PROCESS = '''#!/usr/bin/env python3
"""A filter as git's protocol for long-running ones wants it: it turns letters over."""
import sys

def packet():
    size = int(sys.stdin.buffer.read(4) or b"0000", 16)
    return sys.stdin.buffer.read(size - 4) if size else None

def section():
    return list(iter(packet, None))

def say(*lines):
    for line in lines:
        sys.stdout.buffer.write(b"%04x" % (len(line) + 4) + line)
    sys.stdout.buffer.write(b"0000")
    sys.stdout.buffer.flush()

section(), say(b"git-filter-server\\n", b"version=2\\n")
section(), say(b"capability=clean\\n", b"capability=smudge\\n")
while section():
    content = b"".join(section())
    say(b"status=success\\n")
    say(*([content.swapcase()] if content else []))
    say()
'''
_RULES: Mapping[str, str] = {
    "line ends by autocrlf": "",
    "line ends by attributes": "*.txt text eol=crlf\n",
    "a filter of their own": "*.txt filter=swap\n",
    "a long-running filter": "*.txt filter=long\n",
    "another encoding": "*.txt working-tree-encoding=UTF-16LE-BOM eol=lf\n",
    "keywords": "*.txt ident\n",
}
_CONTENTS: Mapping[str, bytes] = {
    "another encoding": "one\ntwo ä\n".encode("utf-16"),
    "keywords": b"$Id: what was here $\n",
}


def set_up(world: World, what: str) -> None:
    """Give the user these settings, and a file that they concern in the repository."""
    if what == "line ends by autocrlf":
        world.git("config", "core.autocrlf", "true")
    for key in ("clean", "smudge"):
        world.git("config", "--global", f"filter.swap.{key}", "tr a-zA-Z A-Za-z")
    program = world.root / "long filter"
    program.write_text(_PROCESS)
    program.chmod(0o755)
    world.git("config", "filter.long.process", f"'{program}'")
    world.git("config", "filter.long.required", "true")
    rules = _RULES[what]
    if rules:
        write_files(world.repo, {".gitattributes": rules})
    write_files(world.repo, {"old.txt": _content(what), "kept.txt": _content(what)})
    world.git("add", ".")
    world.git("commit", "--quiet", "-m", "with attributes")


def _content(what: str) -> bytes:
    return _CONTENTS.get(what, b"Some Words\r\nin lines\r\n")


def write_concerned(sandbox: Path, what: str) -> None:
    content = _content(what)
    write_files(sandbox, {"new.txt": content, "old.txt": content + content[2:]})


def is_converted(world: World, sandbox: Path, branch: str) -> bool:
    return applying.blob(world, branch, "new.txt") != (sandbox / "new.txt").read_bytes()


def another_commit(world: World, sandbox: Path, name: str) -> str:
    """Let a submodule be initialised in a sandbox, at a new commit, and full of traps."""
    allow = ("-c", "protocol.file.allow=always")
    world.git(*allow, "submodule", "--quiet", "update", "--init", name, cwd=sandbox)
    inner = sandbox / name
    write_files(inner, {"lib.txt": "newer\n"})
    world.git("commit", "--quiet", "-am", "newer", cwd=inner)
    commit = world.git("rev-parse", "HEAD", cwd=inner).strip()
    config = world.git("rev-parse", "--path-format=absolute", "--git-path", "config", cwd=inner)
    with open(config.strip(), "a", encoding="utf-8") as file:
        file.write(traps.config_text(traps.hostile_settings(world)))
    os.utime(inner / "lib.txt")
    return commit
