"""Where a repository's `plan.toml` is: in a place that no sandbox can put its own in.

The main checkout is the user's; a sandbox belongs to whoever works in it, and what it says about
capture, policy or tools must not count. Only a git directory named `.git` tells where the main
checkout is from wherever one asks; for all others, bare ones too, the git directory is the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backtrail.config.file import FILE_NAME
from backtrail.domain.errors import UsageError


@dataclass(frozen=True, slots=True)
class Place:
    """The directory that `plan.toml` is in, and what paths in it mean."""

    directory: Path
    git_dir: Path
    home: str | None

    @property
    def file(self) -> Path:
        return self.directory / FILE_NAME


def place_of(root: Path, common_dir: Path, *, is_main: bool, home: str | None) -> Place:
    """The place for the repository with this common directory, seen from the worktree at `root`."""
    if common_dir.name == ".git":
        return Place(common_dir.parent, common_dir, home)
    place, unread = Place(common_dir, common_dir, home), root / FILE_NAME
    if is_main and root != common_dir and unread.exists():
        raise UsageError(
            f"{str(unread)!r} is not read: this repository's git directory is elsewhere",
            hint=f"move it to {str(place.file)!r}, where sandboxes find it, too",
            details={"file": str(unread)},
        )
    return place
