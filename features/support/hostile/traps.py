"""Traps in configuration, hooks and attributes: programs that tell on whoever runs them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from support.world.world import World

HOOKS = (
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "pre-auto-gc",
)


def trap(world: World, name: str) -> str:
    """A program that leaves its name behind when it is run, and passes its input on."""
    place = world.root / "traps"
    place.mkdir(exist_ok=True)
    script = place / name
    script.write_text(f"#!/bin/sh\ntouch '{_sprung(world)}/{name}'\ncat 2>/dev/null\nexit 0\n")
    script.chmod(0o755)
    return str(script)


def _sprung(world: World) -> Path:
    place = world.root / "sprung"
    place.mkdir(exist_ok=True)
    return place


def sprung(world: World) -> set[str]:
    return {path.name for path in _sprung(world).iterdir()}


def forget_sprung(world: World) -> None:
    shutil.rmtree(_sprung(world))


def hooks_directory(world: World) -> Path:
    place = world.root / "hooks"
    place.mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(trap(world, name), place / name)
    return place


def hostile_settings(world: World) -> dict[str, str]:
    """Every setting known to make git run something."""
    settings = {
        "core.fsmonitor": "fsmonitor",
        "diff.external": "diff-external",
        "diff.evil.textconv": "textconv",
        "diff.evil.command": "diff-command",
        "filter.evil.clean": "clean",
        "filter.evil.smudge": "smudge",
        "filter.evil.process": "process",
        "merge.evil.driver": "merge-driver",
        "core.sshCommand": "ssh",
        "core.pager": "pager",
        "core.editor": "editor",
        "core.askPass": "askpass",
        "core.alternateRefsCommand": "alternate-refs",
        "credential.helper": "credential",
        "gpg.program": "gpg",
        "remote.evil.uploadpack": "uploadpack",
    }
    plain = {
        "core.hooksPath": str(hooks_directory(world)),
        "commit.gpgSign": "true",
        "core.untrackedCache": "true",
        "remote.evil.url": str(world.repo),
        "remote.evil.promisor": "true",
        "remote.evil.partialCloneFilter": "blob:none",
    }
    return {key: trap(world, name) for key, name in settings.items()} | plain


def config_text(settings: dict[str, str]) -> str:
    """The settings in the form of a configuration file."""
    lines: list[str] = []
    for key, value in settings.items():
        section, _, name = key.rpartition(".")
        head, _, sub = section.partition(".")
        lines += [f'[{head} "{sub}"]' if sub else f"[{head}]", f'\t{name} = "{value}"']
    return "\n".join(lines) + "\n"
