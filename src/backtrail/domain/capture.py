"""Which files of a sandbox a checkpoint captures beyond what the ignore rules say."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MAX_FILE_SIZE = 100 * 1024**2

DEFAULT = "default"
"""The word in `include_ignored` that stands for the small ignored files that people miss."""
SMALL_FILES = (
    ".env", ".env.*", ".envrc", "*.local", "*.local.*", "*.tfvars", "secrets.*", ".npmrc",
    ".pypirc", "local.properties", ".claude/settings.local.json", "CLAUDE.local.md",
)  # fmt: skip
SMALL = 1024**2
SMALL_TOGETHER = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class IncludeRules:
    """What includes ignored files; two states that were captured under the same one compare."""

    patterns: tuple[str, ...] = ()
    """Patterns of the user's, as in .gitignore."""
    small: tuple[str, ...] = ()
    """Names, and paths from the root, of files that are captured if they are small."""
    listed: tuple[str, ...] = ()
    """Lines of a .gitignore that name more of them: what a new sandbox gets is captured in it."""


@dataclass(frozen=True, slots=True)
class CaptureRules:
    """The `[capture]` section of `plan.toml`."""

    include_ignored: tuple[str, ...] = (DEFAULT,)
    """Patterns, as in .gitignore, of ignored files that are captured all the same."""
    max_file_size: int = DEFAULT_MAX_FILE_SIZE
    """Untracked files that are larger are not captured."""

    @property
    def with_small_files(self) -> bool:
        return DEFAULT in self.include_ignored

    def include_rules(self, listed: tuple[str, ...] = ()) -> IncludeRules:
        """What includes ignored files, given the lines that name what a new sandbox gets."""
        patterns = tuple(pattern for pattern in self.include_ignored if pattern != DEFAULT)
        if not self.with_small_files:
            return IncludeRules(patterns)
        return IncludeRules(patterns, SMALL_FILES, listed)
