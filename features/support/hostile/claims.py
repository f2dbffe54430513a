"""Sandboxes that claim to be something else, and directories that are exchanged meanwhile."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.world import audit

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.world.world import World


@dataclass(frozen=True, slots=True)
class Liar:
    """Who works in the sandbox of plan `auth`, and can write wherever git lets them."""

    world: World

    @property
    def sandbox(self) -> Path:
        return self.world.sandbox("auth")

    @property
    def users(self) -> Path:
        return self.world.repo / ".git"

    @property
    def registration(self) -> Path:
        return audit.git_dir(self.world, "auth")

    @property
    def mark(self) -> str:
        [mark] = self.registration.glob("backtrail-0*")
        return mark.name

    def claim(self, place: Path | str) -> None:
        (self.sandbox / ".git").write_text(f"gitdir: {place}\n")

    def other_worktree(self) -> Path:
        self.world.git("worktree", "add", "--quiet", str(self.world.root / "other"))
        return self.users / "worktrees" / "other"


def claim(world: World, what: str) -> None:
    """Let the sandbox have what it has not."""
    _CLAIMS[what](Liar(world))


def _users_own(liar: Liar) -> None:
    liar.claim(liar.users)


def _unregistered(liar: Liar) -> None:
    shutil.rmtree(liar.registration)
    liar.claim(liar.users)


def _marked(liar: Liar) -> None:
    (liar.users / liar.mark).touch()
    _unregistered(liar)


def _relative(liar: Liar) -> None:
    liar.claim(os.path.relpath(liar.users, liar.sandbox) + "  ")


def _link(liar: Liar) -> None:
    (liar.sandbox / ".git").unlink()
    (liar.sandbox / ".git").symlink_to(liar.users)


def _registered_link(liar: Liar) -> None:
    (liar.users / liar.mark).touch()
    place = liar.registration
    shutil.rmtree(place)
    place.symlink_to(liar.users)


def _forged(liar: Liar) -> Path:
    other = liar.other_worktree()
    (other / liar.mark).touch()
    (other / "gitdir").write_text(f"{liar.sandbox / '.git'}\n")
    return other


def _forged_link(liar: Liar) -> None:
    other, place = _forged(liar), liar.registration
    shutil.rmtree(place)
    place.symlink_to(other)


def _forged_other(liar: Liar) -> None:
    liar.claim(_forged(liar))


_CLAIMS: dict[str, Callable[[Liar], None]] = {
    "a .git that leads to the user's own": _users_own,
    "a .git that leads to the user's own, and no registration any more": _unregistered,
    "a .git that leads to the user's own, which bears its mark": _marked,
    "a .git with a relative path to the user's own, and blanks after it": _relative,
    "a .git that is a link to the user's own": _link,
    "a registration that is a link to the user's .git": _registered_link,
    "a registration that is a link to another worktree, forged to agree": _forged_link,
    "another worktree's git directory, forged to agree": _forged_other,
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """A directory that somebody puts a link in the place of, and what it leads to."""

    place: Path
    leads_to: Path

    @classmethod
    def of(cls, world: World, what: str) -> Exchange:
        if what == "the sandbox":
            precious = world.root / "precious"
            precious.mkdir()
            (precious / "file").write_text("precious\n")
            return cls(world.sandbox("auth"), precious)
        assert what == "the git directory of the sandbox", what
        return cls(audit.git_dir(world, "auth"), world.repo / ".git")

    @property
    def _away(self) -> Path:
        return self.place.parents[2] / "put away"

    def carry_out(self) -> None:
        self.place.rename(self._away)
        self.place.symlink_to(self.leads_to)

    def is_there(self) -> bool:
        return self._away.is_dir() and self.place.is_symlink() and self.leads_to.is_dir()

    def put_back(self) -> None:
        self.place.unlink()
        self._away.rename(self.place)
