"""Which files of a sandbox a checkpoint captures beyond what the ignore rules say."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MAX_FILE_SIZE = 100 * 1024**2


@dataclass(frozen=True, slots=True)
class CaptureRules:
    """The `[capture]` section of `plan.toml`."""

    include_ignored: tuple[str, ...] = ()
    """Patterns, as in .gitignore, of ignored files that are captured all the same."""
    max_file_size: int = DEFAULT_MAX_FILE_SIZE
    """Untracked files that are larger are not captured."""
