"""What a tree of files cannot hold of a sandbox: permission bits, empty directories, repositories.

Modes are kept as what is usual for a kind of entry, and the exceptions from that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

_EXECUTABLE = 0o100


class Usual(NamedTuple):
    """The modes that most files, executable files and directories have."""

    file: int = 0o644
    executable: int = 0o755
    directory: int = 0o755

    def of_file(self, mode: int) -> int:
        """What is usual for a file that is, or is not, executable like one of this mode."""
        return self.executable if mode & _EXECUTABLE else self.file


@dataclass(frozen=True, slots=True)
class Extras:
    """Everything about the captured paths that is not content; paths are as git has them."""

    usual: Usual = field(default_factory=Usual)
    file_modes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Only those that are not usual."""
    directory_modes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Only those that are not usual, and that of the root, which has an empty name."""
    empty_directories: tuple[str, ...] = ()
    repositories: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nested repositories with what their HEAD was."""
    standing: Mapping[str, int] = field(default_factory=dict[str, int])
    """Directories that are not empty and hold nothing captured, with modes: those with something
    that cannot be captured, and those that a restore was about to change."""
    absent: tuple[str, ...] = ()
    """Directories that a restore was about to make, and that were not there."""

    @property
    def knows_root(self) -> bool:
        """Whether the mode of the root was captured; a checkpoint may be older than that."""
        return "" in self.directory_modes

    @property
    def bare_directories(self) -> tuple[str, ...]:
        """All that are known to be there although no captured file is in them."""
        return (*self.empty_directories, *self.standing)

    def file_mode(self, path: str, git_mode: int) -> int:
        """The full mode of a file that has this mode in the tree."""
        return self.file_modes.get(path, self.usual.of_file(git_mode))

    def directory_mode(self, path: str) -> int:
        noted = self.standing.get(path)
        return self.directory_modes.get(path, self.usual.directory) if noted is None else noted

    def as_document(self) -> dict[str, Any]:
        return {
            "usual": list(self.usual),
            "files": dict(sorted(self.file_modes.items())),
            "directories": dict(sorted(self.directory_modes.items())),
            "empty": sorted(self.empty_directories),
            "repositories": dict(sorted(self.repositories.items())),
            "standing": dict(sorted(self.standing.items())),
            "absent": sorted(self.absent),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Extras:
        return cls(
            usual=Usual(*document["usual"]),
            file_modes=document["files"],
            directory_modes=document["directories"],
            empty_directories=tuple(document["empty"]),
            repositories=document["repositories"],
            standing=document.get("standing", {}),
            absent=tuple(document.get("absent", ())),
        )


def usual_modes(files: Iterable[int], directories: Iterable[int]) -> Usual:
    """What most of them have, so that the exceptions are few whatever the umask is."""
    modes = list(files)
    standard = Usual()
    return Usual(
        file=_most_common((m for m in modes if not m & _EXECUTABLE), standard.file),
        executable=_most_common((m for m in modes if m & _EXECUTABLE), standard.executable),
        directory=_most_common(directories, standard.directory),
    )


def _most_common(modes: Iterable[int], otherwise: int) -> int:
    counted = Counter(modes).most_common(1)
    return counted[0][0] if counted else otherwise


def exceptions(modes: Mapping[str, int], usual: Callable[[int], int]) -> dict[str, int]:
    """Those modes that are not what is usual for an entry of that kind."""
    return {path: mode for path, mode in modes.items() if mode != usual(mode)}


@dataclass(frozen=True, slots=True)
class Selection:
    """What a checkpoint has under some paths, with every mode written out."""

    selects: Callable[[str], bool]
    files: Mapping[str, int]
    directories: Mapping[str, int]
    empty: tuple[str, ...]
    standing: Mapping[str, int]
    absent: tuple[str, ...]


def with_selection(present: Extras, selection: Selection) -> Extras:
    """The present, with what lies under the selected paths as it was."""
    selects = selection.selects
    return replace(
        present,
        standing=_merged(present.standing, selection.standing, selects),
        absent=selection.absent,
        file_modes=_merged(present.file_modes, selection.files, selects),
        directory_modes=_merged(present.directory_modes, selection.directories, selects),
        empty_directories=tuple(
            sorted({*(p for p in present.empty_directories if not selects(p)), *selection.empty})
        ),
    )


def _merged(
    present: Mapping[str, int], wanted: Mapping[str, int], selects: Callable[[str], bool]
) -> dict[str, int]:
    return {path: mode for path, mode in present.items() if not selects(path)} | dict(wanted)
