"""What `plan demo` shows: its steps, the damage that was done, and what an outside look found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class StepName(StrEnum):
    """The steps of the story, in their order."""

    REPOSITORY = "repository"
    CREATE = "create"
    SAVE = "save"
    WRECK = "wreck"
    ROLLBACK = "rollback"
    UNDO = "undo"
    REDO = "redo"
    CHECKOUT = "checkout"


@dataclass(frozen=True, slots=True)
class Damage:
    """One way in which the agent wrecks the sandbox, and what a rollback makes of it."""

    kind: str
    command: str
    became: str


@dataclass(frozen=True, slots=True)
class DemoFile:
    """A path of the throw-away repository and what happened to it."""

    file: str
    action: str


@dataclass(frozen=True, slots=True)
class Check:
    """A look at disk and git that did not ask Backtrail, and found exactly what was expected."""

    expected: str
    paths: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One step: what a user would type, and what came of it."""

    name: StepName
    title: str
    command: str
    outcome: tuple[str, ...]
    duration_ms: int
    files: tuple[DemoFile, ...] = ()
    damage: tuple[Damage, ...] = ()
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The whole story; it exists only if every look found what was expected."""

    steps: tuple[DemoStep, ...]
    duration_ms: int
    place: Path
    sandbox: Path
    kept: bool
