"""A plan beside a model of it, both driven at random by hypothesis.

The model is written from the words of the design and shares nothing with the program: files are
a mapping from path to kind, executable bit and bytes; the timeline is a plain list of
checkpoints; undo and redo are two lists.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from backtrail.domain.checkpoint import CheckpointRequest
from support.world.disk import walk
from support.world.examples import search
from support.world.world import World

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from backtrail.bootstrap import Services
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.rollback import RollbackResult

Files = dict[str, tuple[str, bool, bytes]]

FEW = "*.log\nbuild/\n"
MORE = "*.log\nbuild/\n*.tmp\n"
PATHS = [
    "a.txt",
    "d",
    "d/c.txt",
    "d/e.log",
    "d/f/g.tmp",
    "x.log",
    "y.tmp",
    "y.tmp",
    "build/out",
    "new\nline",
    "README.md",
]
CONTENTS = [b"", b"1\n", b"2\n", b"3\r\n", b"\0\xff\n", b"longer text\n"]
UNDO_DEPTH = 10

paths = st.sampled_from(PATHS)
contents = st.sampled_from(CONTENTS)


def look(root: Path) -> Files:
    return {
        os.fsdecode(path): (kind, bool(mode & 0o100), content)
        for path, (kind, mode, content) in walk(root).items()
    }


def parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def ignored(path: str, rules: bytes) -> bool:
    """Whether the .gitignore text ignores a path or a folder that it lies in."""
    patterns = rules.decode().split()
    names = [p for p in patterns if not p.endswith("/")]
    folders = [p.rstrip("/") for p in patterns if p.endswith("/")]
    above = [part.rsplit("/", 1)[-1] for part in parents(path)]
    base = path.rsplit("/", 1)[-1]
    return any(fnmatchcase(n, p) for p in names for n in (base, *above)) or any(
        folder in above for folder in folders
    )


def in_the_way(path: str, wanted: Files) -> bool:
    """Whether something at the path cannot be there together with the wanted files."""
    below = any(w.startswith(f"{path}/") for w in wanted)
    return path in wanted or below or any(parent in wanted for parent in parents(path))


@dataclass
class Saved:
    """What the model knows of a checkpoint."""

    files: Files
    tracked: set[str]
    index: str
    commit: str
    rules: bytes
    timeline: list[str]
    """The checkpoints that were live when it was made, itself last."""


@dataclass
class Entry:
    """Something on the undo or redo stack: its safety checkpoint, and the phase before it."""

    safety: str
    before: tuple[str, str]


@dataclass
class Model:
    saved: dict[str, Saved] = field(default_factory=dict[str, Saved])
    timeline: list[str] = field(default_factory=list[str])
    undo: list[Entry] = field(default_factory=list[Entry])
    redo: list[Entry] = field(default_factory=list[Entry])
    labels: dict[str, str] = field(default_factory=dict[str, str])
    standing: tuple[str, str] = ("strategize", "queued")

    def captured(self, disk: Files, tracked: set[str]) -> Files:
        rules = _rules(disk)
        return {p: e for p, e in disk.items() if p in tracked or not ignored(p, rules)}

    def after_restore(self, disk: Files, tracked: set[str], target: Saved) -> Files:
        """The files of the target, and whatever may be neither removed nor replaced."""
        held = self.captured(disk, tracked)
        stays = {
            path: entry
            for path, entry in disk.items()
            if not in_the_way(path, target.files)
            and (path not in held or self._was_ignored(path, target))
        }
        return {**stays, **target.files}

    def _was_ignored(self, path: str, target: Saved) -> bool:
        return ignored(path, target.rules) and path not in target.tracked


def _rules(disk: Files) -> bytes:
    entry = disk.get(".gitignore")
    return entry[2] if entry and entry[0] == "file" else b""


class PlanMachine(RuleBasedStateMachine):
    """Random work, checkpoints, rollbacks, undos and redos on one plan."""

    rules_change = True

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.make_repository()
        self.opened: AbstractContextManager[Services] = self.world.services()
        self.services = self.opened.__enter__()
        made = self.services.plans.create("p")
        self.plan = made.plan.plan_id
        self.root = self.world.sandbox("p")
        self.model = Model()
        self._record(made.checkpoint, self.captured(), [])
        self.model.timeline = [made.checkpoint.checkpoint_id]

    def teardown(self) -> None:
        self.opened.__exit__(None, None, None)
        self.world.remove()

    # What the harness sees by itself.

    def git(self, *arguments: str) -> str:
        return self.world.git(*arguments, cwd=self.root)

    def tracked(self) -> set[str]:
        return set(self.git("ls-files", "-z").split("\0")[:-1])

    def index(self) -> str:
        return self.git("ls-files", "--stage", "-z")

    def captured(self) -> Files:
        return self.model.captured(look(self.root), self.tracked())

    def _record(self, checkpoint: Checkpoint, files: Files, before: list[str]) -> str:
        name = checkpoint.checkpoint_id
        self.model.saved[name] = Saved(
            files=files,
            tracked=self.tracked(),
            index=self.index(),
            commit=self.git("rev-parse", "HEAD"),
            rules=_rules(look(self.root)),
            timeline=[*before, name],
        )
        return name

    # Work in the sandbox.

    def _clear(self, path: str) -> Path:
        """Make room for something at the path."""
        for place in (self.root / parent for parent in parents(path)):
            if place.is_symlink() or place.is_file():
                place.unlink()
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif os.path.lexists(place):
            place.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    @rule(path=paths, content=contents, executable=st.booleans())
    def write(self, path: str, content: bytes, *, executable: bool) -> None:
        place = self.root / path
        if place.is_file() and not place.is_symlink() and not executable:
            place.write_bytes(content)  # in place, as an editor does it
            return
        self._clear(path).write_bytes(content)
        place.chmod(0o755 if executable else 0o644)

    @rule(path=paths, pointing=st.sampled_from(["a.txt", "d", "nowhere", "/etc/hostname"]))
    def link(self, path: str, pointing: str) -> None:
        self._clear(path).symlink_to(pointing)

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self._clear(path)

    @rule(path=paths)
    def flip_executable(self, path: str) -> None:
        place = self.root / path
        if place.is_file() and not place.is_symlink():
            place.chmod(0o644 if place.stat().st_mode & 0o100 else 0o755)

    @rule(path=paths, to=paths)
    def rename(self, path: str, to: str) -> None:
        if os.path.lexists(self.root / path) and not (path in parents(to) or to in parents(path)):
            aside = self.world.root / "aside"
            (self.root / path).rename(aside)
            aside.rename(self._clear(to))

    @rule(path=paths)
    def stage(self, path: str) -> None:
        if os.path.lexists(self.root / path):
            self.world.run(
                "git", "--literal-pathspecs", "add", "-f", "-A", "--", path, cwd=self.root
            )

    @rule()
    def stage_everything(self) -> None:
        self.git("add", "-A")

    @rule()
    def commit(self) -> None:
        self.git("commit", "--quiet", "--allow-empty", "-m", "work")

    @precondition(lambda self: self.rules_change)
    @rule(more=st.booleans())
    def change_rules(self, *, more: bool) -> None:
        (self.root / ".gitignore").write_text(MORE if more else FEW)

    # What Backtrail does.

    @rule()
    def save(self) -> None:
        files = self.captured()
        made = self.services.checkpoints.create_checkpoint(self.plan, CheckpointRequest())
        self._record(made, files, self.model.timeline)
        self.model.timeline = [*self.model.timeline, made.checkpoint_id]

    @rule(number=st.integers(min_value=0))
    def roll_back(self, number: int) -> None:
        names = list(self.model.saved)
        target = names[number % len(names)]
        before = self.model.standing
        self._go(
            target,
            lambda: self.services.checkpoints.rollback_to_checkpoint(self.plan, target),
        )
        self.model.undo = [*self.model.undo, Entry(self._safety, before)][-UNDO_DEPTH:]
        self.model.redo = []
        self.model.standing = ("execute", "queued")

    @precondition(lambda self: self.model.undo)
    @rule()
    def undo(self) -> None:
        entry = self.model.undo.pop()
        before = self.model.standing
        self._go(entry.safety, lambda: self.services.checkpoints.undo(self.plan))
        self.model.redo.append(Entry(self._safety, before))
        self.model.standing = entry.before

    @precondition(lambda self: self.model.redo)
    @rule()
    def redo(self) -> None:
        entry = self.model.redo.pop()
        before = self.model.standing
        self._go(entry.safety, lambda: self.services.checkpoints.redo(self.plan))
        self.model.undo = [*self.model.undo, Entry(self._safety, before)][-UNDO_DEPTH:]
        self.model.standing = entry.before

    @rule(number=st.integers(min_value=0), label=st.sampled_from(["red", "green", "blue"]))
    def give_label(self, number: int, label: str) -> None:
        names = list(self.model.saved)
        name = names[number % len(names)]
        if self.model.labels.get(label, name) == name:
            self.services.checkpoints.set_label(self.plan, name, label)
            kept = {k: v for k, v in self.model.labels.items() if v != name}
            self.model.labels = {**kept, label: name}

    def _go(self, target: str, how: Any) -> None:
        """Restore a checkpoint and compare all of the sandbox with what the model expects."""
        goal = self.model.saved[target]
        disk, tracked = look(self.root), self.tracked()
        expected = self.model.after_restore(disk, tracked, goal)
        held = self.model.captured(disk, tracked)
        replaced = {p: e for p, e in disk.items() if in_the_way(p, goal.files)}
        before = self._state_of_git()
        result: RollbackResult = how()
        safety, restored = result.safety_checkpoint, result.restored_checkpoint
        assert safety is not None
        assert restored is not None
        self._safety = safety.checkpoint_id
        self.model.saved[self._safety] = Saved(
            files={**held, **replaced},
            tracked=tracked,
            index=before[0],
            commit=before[1],
            rules=_rules(disk),
            timeline=[*self.model.timeline, self._safety],
        )
        assert look(self.root) == expected
        assert self._state_of_git() == (goal.index, goal.commit)
        self._record(restored, goal.files, goal.timeline)
        self.model.timeline = [*goal.timeline, restored.checkpoint_id]

    def _state_of_git(self) -> tuple[str, str]:
        return self.index(), self.git("rev-parse", "HEAD")

    # What must hold after every step.

    @invariant()
    def timeline_is_that_of_the_model(self) -> None:
        live = self.services.checkpoints.list_checkpoints(self.plan)
        assert [c.checkpoint_id for c in live] == self.model.timeline
        latest = self.services.checkpoints.get_checkpoint(self.plan, "latest")
        assert latest.checkpoint_id == self.model.timeline[-1]

    @invariant()
    def nothing_is_forgotten(self) -> None:
        every = self.services.checkpoints.list_checkpoints(self.plan, include_all=True)
        assert {c.checkpoint_id for c in every} == set(self.model.saved)
        assert sorted(c.seq for c in every) == list(range(1, len(every) + 1))
        assert {c.label: c.checkpoint_id for c in every if c.label} == self.model.labels

    @invariant()
    def plan_stands_where_the_model_says(self) -> None:
        plan = self.services.plans.resolve("p")
        assert (plan.phase, plan.state) == self.model.standing


def check(machine: type[PlanMachine], *, examples: int, steps: int) -> None:
    """Run the machine; a failure prints how to reproduce it."""
    run_state_machine_as_test(machine, settings=search(examples, steps=steps))
