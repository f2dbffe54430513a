"""The agent that goes wrong: a small script that wrecks a sandbox in ten ways."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.demo.values import Damage
from backtrail.demo.witness import BRANCH, HEAD, STAGED
from backtrail.domain.errors import FailedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backtrail.demo.witness import Picture


SCRIPT = "agent.sh"


@dataclass(frozen=True, slots=True)
class Way:
    """A damage, and where a look at the sandbox must show it."""

    damage: Damage
    shows_in: tuple[str, ...]


WAYS = (
    Way(Damage("edit", "echo 'price = 0' >src/cart.py", "restored"), ("src/cart.py",)),
    Way(
        Damage("delete", "rm -r docs src/mail.py", "back again"),
        ("docs", "docs/user guide.md", "src/mail.py"),
    ),
    Way(
        Damage("rename", "mv src/login.py src/signin.py", "has its old name"),
        ("src/login.py", "src/signin.py"),
    ),
    Way(Damage("new files", "cp -R src src.bak", "gone"), ("src.bak", "src.bak/cart.py")),
    Way(Damage(".gitignore", ": >.gitignore", "rules are back"), (".gitignore",)),
    Way(Damage("chmod", "chmod -x deploy.sh", "executable again"), ("deploy.sh",)),
    Way(
        Damage("symlink", "rm -r assets; ln -s ../.. assets", "a directory again"),
        ("assets", "assets/logo.bin"),
    ),
    Way(Damage("commit", "git add -A; git commit -qm 'All fixed'", "off the branch"), (HEAD,)),
    Way(
        Damage("staging", "echo oops >>README.md; git add .", "staged as it was"),
        (STAGED,),
    ),
    Way(
        Damage("branch", "git switch -qd; git branch -D {branch}", "recreated"),
        (BRANCH,),
    ),
)


def damages(branch: str) -> tuple[Damage, ...]:
    return tuple(
        Damage(way.damage.kind, way.damage.command.format(branch=branch), way.damage.became)
        for way in WAYS
    )


def write_script(path: Path, sandbox: Path, branch: str) -> None:
    """The agent as a script that works in this sandbox alone, wherever it is started."""
    relative = sandbox.relative_to(path.parent)
    lines = [
        "# What an agent that went wrong may do to a sandbox, in ten ways.",
        "set -eu",
        f'cd "$(dirname "$0")/{relative}"',
        "unset $(git rev-parse --local-env-vars)",
        "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1",
        "export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@localhost",
        "export GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@localhost",
    ]
    for damage in damages(branch):
        lines += ["", f"# {damage.kind}", damage.command]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_script(path: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", str(path)],
        cwd=path.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
        raise FailedError(
            f"the script that wrecks the sandbox failed: {said[-1] if said else done.returncode}",
            hint="it needs sh, git, cp, mv, rm, ln and chmod on PATH",
        )


def refuse_invisible(good: Picture, wreck: Picture) -> None:
    """A damage that cannot be seen would make every later look worthless."""
    seen = set(good.differing(wreck))
    for way in WAYS:
        unseen = set(way.shows_in) - seen
        if unseen:
            raise FailedError(
                f"this file system does not show the damage {way.damage.kind!r} "
                f"in {', '.join(sorted(unseen))}, so nothing can be proved on it",
                hint="set TMPDIR to a directory on another file system",
            )
