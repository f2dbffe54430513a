"""What belongs to the user alone: how their repository looks, and their hooks and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.world.picture import LOOK_ONLY
from support.world.world import write_files

if TYPE_CHECKING:
    from pathlib import Path

    from support.world.world import World

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
    "post-commit", "post-index-change", "post-merge", "post-rewrite", "pre-applypatch",
    "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase",
    "prepare-commit-msg", "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip


def busy_user(world: World) -> None:
    """Give the user a stash, a tag, staged work and work that is not staged."""
    write_files(world.repo, {"src/app.py": "stashed\n"})
    world.git("stash", "push", "--quiet")
    world.git("tag", "-m", "a tag", "v1")
    write_files(world.repo, {"README.md": "staged\n", "new.txt": "staged\n"})
    world.git("add", "README.md", "new.txt")
    write_files(world.repo, {"README.md": "not staged\n", "untracked.txt": "untracked\n"})


def repository_facts(world: World) -> dict[str, str | bytes]:
    """All that the user sees with git, and the bytes of every index and HEAD."""
    facts: dict[str, str | bytes] = {}
    for place in (world.repo, *sorted(world.repo.parent.glob(f"{world.repo.name}.plans/*"))):
        facts[f"status of {place.name}"] = world.run(
            "git", "status", "--porcelain=v2", "--branch", "--ignored", cwd=place, env=LOOK_ONLY
        ).out
    for name in ("for-each-ref", "stash list", "worktree list", "config --list --local"):
        facts[name] = world.git(*name.split())
    git_dir = world.repo / ".git"
    for file in (*git_dir.glob("index"), *git_dir.glob("worktrees/*/index"), git_dir / "HEAD"):
        facts[str(file.relative_to(git_dir))] = file.read_bytes()
    for folder in ("hooks", "info", "logs"):
        for file in sorted((git_dir / folder).rglob("*")):
            if file.is_file():
                facts[str(file.relative_to(git_dir))] = file.read_bytes()
    return facts


def differences(before: dict[str, str | bytes], now: dict[str, str | bytes]) -> dict[str, str]:
    return {
        name: f"{before.get(name)!r} is now {now.get(name)!r}"
        for name in {*before, *now}
        if before.get(name) != now.get(name)
    }


def shouted(world: World) -> str:
    """What hooks and signing programs have shouted so far."""
    noise = _noise(world)
    return noise.read_text() if noise.exists() else ""


def silence(world: World) -> None:
    _noise(world).unlink(missing_ok=True)


def _noise(world: World) -> Path:
    return world.root / "noise"


def shouting_program(world: World, path: Path, end: str = "exit 0") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "{path.name} $*" >> "{_noise(world)}"\n{end}\n')
    path.chmod(0o755)


def shouting_hooks(world: World, folder: Path) -> None:
    for name in HOOKS:
        shouting_program(world, folder / name)


def shouting_signer(world: World) -> None:
    """A signing program as git understands one: says that it signed, and gives a signature."""
    program = world.root / "signer"
    signs = "cat > /dev/null; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2; echo signature"
    shouting_program(world, program, signs)
    for name, value in (("gpg.program", str(program)), ("commit.gpgSign", "true")):
        world.git("config", name, value)


def ignore_in_the_sandbox(world: World, sandbox: Path, pattern: str, where: str) -> None:
    """Let the user's git ignore a pattern in a sandbox, in one of the ways that it has."""
    rules = {"rules": f"{pattern}\n"}
    if where == "by a rule in capitals":
        write_files(sandbox, {".gitignore": f"{pattern.upper()}\n"})
        world.git("config", "core.ignorecase", "true")
    elif where == "by a file with a mark at its beginning":
        write_files(world.repo / ".git" / "info", {"exclude": f"\ufeff{pattern}\n"})
    elif where == "by settings of this sandbox alone":
        write_files(world.home, rules)
        world.git("config", "extensions.worktreeConfig", "true")
        named = str(world.home / "rules")
        world.git("config", "--worktree", "core.excludesFile", named, cwd=sandbox)
    else:
        assert where == "by a file that is named from the root", where
        write_files(sandbox, rules)
        world.git("config", "core.excludesFile", "rules")
