"""A newcomer's shell in a scratch directory: runs commands in a row, and tells them apart."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .pages import ROOT

SHOWN_HOME = "/home/ann"
"""What the scratch directory is called in the documentation."""
_PATIENCE_SECONDS = 1200
_CONFIGURATION = """\
[user]
    name = Ann
    email = ann@example.com
[init]
    defaultBranch = main
"""


@dataclass(frozen=True, slots=True)
class Said:
    """What one command printed, standard output and standard error together, and its code."""

    output: str
    code: int


@contextmanager
def scratch_home() -> Generator[Path]:
    home = Path(tempfile.mkdtemp(prefix="ann"))
    try:
        (home / "tmp").mkdir()
        (home / ".gitconfig").write_text(_CONFIGURATION)
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def run(home: Path, commands: Sequence[str], more: Mapping[str, str]) -> list[Said]:
    """Run commands one after the other in one shell; directory and variables stay between them."""
    mark = f"mark-{secrets.token_hex(8)}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc"],
        input="".join(_framed(command, mark) for command in commands),
        cwd=home,
        env={**_environment(home), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    parts = re.split(rf"\n{mark} (\d+)\n", done.stdout)
    outputs = [part.replace(str(home), SHOWN_HOME) for part in parts[:-1:2]]
    return [Said(out, int(code)) for out, code in zip(outputs, parts[1::2], strict=True)]


def _framed(command: str, mark: str) -> str:
    # The braces keep it in this shell; the last line hands its code on, for `echo $?`.
    return (
        f"{{\n{command}\n}} </dev/null 2>&1\n"
        f"code=$?; printf '\\n{mark} %d\\n' $code; (exit $code)\n"
    )


def _environment(home: Path) -> dict[str, str]:
    sources = os.environ.get("PYTHONPATH")
    return {
        **({"PYTHONPATH": sources} if sources else {}),
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "USER": "ann",
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "CHECKOUT": str(ROOT),
    }
