"""What steps about applying a plan ask git, and do as the user."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from support.world.picture import LOOK_ONLY
from support.world.world import write_files

if TYPE_CHECKING:
    from support.world.world import Ran, World

MANY_LINES = "".join(f"line {number}\n" for number in range(40))
HEADS = "refs/heads/"


def commit_file(world: World, path: str, content: str = "theirs\n") -> None:
    """A commit of the user's in their own checkout."""
    write_files(world.repo, {path: content})
    world.git("add", "--", path)
    world.git("commit", "--quiet", "--no-verify", "-m", f"user: {path}", "--", path)


def head(world: World, branch: str) -> str:
    return world.run("git", "rev-parse", "--verify", "--quiet", f"{HEADS}{branch}").out.strip()


def parents(world: World, revision: str) -> list[str]:
    return world.git("rev-parse", f"{revision}^@").split()


def blob(world: World, branch: str, path: str) -> bytes | None:
    """What a branch has at a path, in the form in which git stores it."""
    done = subprocess.run(
        ["git", "cat-file", "blob", f"{HEADS}{branch}:{path}"],
        cwd=world.repo,
        env=world.environment(),
        capture_output=True,
        check=False,
    )
    return None if done.returncode else done.stdout


def files_of(world: World, branch: str) -> set[str]:
    listed = world.git("ls-tree", "-r", "-z", "--name-only", f"{HEADS}{branch}")
    return set(listed.split("\0")[:-1])


def status(world: World, place: Path | None = None) -> str:
    ran = world.run("git", "status", "--porcelain", cwd=place or world.repo, env=LOOK_ONLY)
    return ran.ok().out


def objects(world: World) -> set[str]:
    """The loose objects of the user's repository."""
    place = world.repo / ".git" / "objects"
    return {str(p.relative_to(place)) for p in place.rglob("*") if p.is_file()}


def empty_checkout(world: World, branch: str) -> None:
    world.git("checkout", "--quiet", "--orphan", branch)
    world.git("rm", "-r", "--quiet", "--force", ".")


def move_origin_on(world: World) -> None:
    """The origin gets two commits, of which a shallow clone fetches the newest alone."""
    origin = world.root / "origin"
    for name in ("first.txt", "from the origin.txt"):
        write_files(origin, {name: "theirs\n"})
        world.git("add", ".", cwd=origin)
        world.git("commit", "--quiet", "-m", name, cwd=origin)
    world.git("fetch", "--quiet", "--depth=1", "origin", "main")
    world.git("reset", "--quiet", "--hard", "FETCH_HEAD")


def as_hinted(world: World, ran: Ran) -> None:
    """Type what a hint begins with."""
    [hint] = [line for line in ran.err.splitlines() if line.startswith("hint: ")]
    command = hint.removeprefix("hint: ").split(" takes ")[0]
    world.git(*shlex.split(command)[1:], "--no-edit")


def tree_of_plain_git(world: World, sandbox: Path) -> str:
    """The tree that git itself commits of a sandbox: add and write-tree, on a copy of its index."""
    git_dir = Path(world.git("rev-parse", "--absolute-git-dir", cwd=sandbox).strip())
    copy = world.root / "index of plain git"
    copy.write_bytes((git_dir / "index").read_bytes())
    os.utime(copy, ns=(1_000_000_000, 1_000_000_000))
    env = {"GIT_INDEX_FILE": str(copy)}
    world.run("git", "add", "--all", cwd=sandbox, env=env).ok()
    return world.run("git", "write-tree", cwd=sandbox, env=env).ok().out.strip()


WORK = {"src/app.py": "print('applied')\n", "new/deep/file.txt": "new\n", "run.sh": "#!/bin/sh\n"}
GONE = "src/lib/util.py"
EDITS = {"README.md": "staged by the user\n", "mine.txt": "untracked\n", "noise.log": "ignored\n"}
EDITED = "staged by the user\nand edited since\n"


def work_of_every_kind(place: Path) -> None:
    """A change, a new file in a new folder, a program, and a file that goes."""
    write_files(place, WORK)
    (place / "run.sh").chmod(0o755)
    (place / GONE).unlink()


def edit_elsewhere(world: World) -> None:
    """Staged, unstaged, untracked and ignored work where no plan changes anything."""
    write_files(world.repo, EDITS)
    world.git("add", "README.md")
    write_files(world.repo, {"README.md": EDITED})


def edits(world: World) -> dict[str, str]:
    """What is left of the user's own edits."""
    files = {name: world.repo / name for name in EDITS}
    found = {name: path.read_text() for name, path in files.items() if path.exists()}
    return {**found, "status": status(world), "staged": world.git("diff", "--cached", "--stat")}


def landed(world: World, branch: str) -> list[str]:
    """What a branch lacks of the work."""
    missing = [p for p, text in WORK.items() if blob(world, branch, p) != text.encode()]
    return missing + sorted({GONE} & files_of(world, branch))
