"""The story of `plan demo`: good work, a wreck, a rollback, an undo and a redo, each looked at.

Everything is done through the public API on a real repository, and every claim is checked by a
witness that does not ask them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.api import CheckpointRequest, PlanHandle, Repo
from backtrail.demo.mess import SCRIPT, damages, refuse_invisible, run_script, write_script
from backtrail.demo.plain_git import demo_environment, demo_git
from backtrail.demo.stage import (
    REPOSITORY,
    SECRETS,
    do_good_work,
    hidden_user,
    make_repository,
    throwaway,
)
from backtrail.demo.values import Check, Damage, DemoFile, DemoResult, DemoStep, StepName
from backtrail.demo.witness import Picture, look
from backtrail.domain.errors import VerificationFailedError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints

if TYPE_CHECKING:
    from backtrail.domain.rollback import RollbackResult


PLAN, LABEL, REASON, MAIN = "auth", "good", "the login works", "main"
SAVED, WRECKED, UNTOUCHED = "what was saved", "the wreck", "as before"

# What each step is called, and what a user would type for it; the plan's are typed in the sandbox.
SCRIPT_OF_THE_PLAY = {
    StepName.REPOSITORY: ("A small repository, made for this alone", f"git init {REPOSITORY}"),
    StepName.CREATE: ("A piece of work gets a sandbox of its own", f"plan create {PLAN}"),
    StepName.SAVE: ("Work goes well, and is saved", f"plan save -m '{REASON}' --label {LABEL}"),
    StepName.WRECK: (
        "Then an agent goes wrong, in ten ways at once",
        f"sh ../../{SCRIPT}; plan diff {LABEL}",
    ),
    StepName.ROLLBACK: ("Back to where all was well", f"plan rollback {LABEL} --yes"),
    StepName.UNDO: ("Second thoughts: take the rollback back", "plan undo"),
    StepName.REDO: ("Third thoughts: take that back, too", "plan redo"),
    StepName.CHECKOUT: ("And your own checkout, all the while", f"git -C {REPOSITORY} status"),
}

Opener = Callable[[Path, Mapping[str, str]], Repo]
"""Opens the repository at a path, in an environment."""


def run_demo(
    environ: Mapping[str, str],
    opener: Opener,
    *,
    keep: bool = False,
    tell: Callable[[DemoStep], None],
    failpoints: Failpoints = NO_FAILPOINTS,
) -> DemoResult:
    """Play the whole story in a throw-away repository, with nothing of the user's in force.

    Each step is told as soon as it is done.
    """
    # Python itself would rather use another place, at worst the current directory, than fail.
    parent = Path(environ.get("TMPDIR") or "/tmp")  # noqa: S108 - mkdtemp makes it safe
    began = time.monotonic()
    with throwaway(parent, keep=keep) as place:
        story = Story(place, tell, failpoints)
        sandbox = story.play(opener)
    duration = round((time.monotonic() - began) * 1000)
    return DemoResult(tuple(story.steps), duration, place, sandbox, keep)


@dataclass(slots=True)
class Story:
    """The stage, the steps so far, and who is told of them."""

    place: Path
    tell: Callable[[DemoStep], None]
    failpoints: Failpoints
    steps: list[DemoStep] = field(default_factory=list[DemoStep])
    _clock: float = field(default_factory=time.monotonic)

    def play(self, opener: Opener) -> Path:
        """All steps; gives the path of the sandbox."""
        repository = make_repository(self.place)
        before = self._look(repository, MAIN)
        files = sum(seen.kind == "file" for seen in before.paths.values())
        self._done(StepName.REPOSITORY, f"{files} files and one commit, in {repository}")
        with hidden_user(self.place) as environ, opener(repository, environ) as repo:
            plan = self._create(repo)
            good = self._save(plan)
            wreck = self._wreck(plan, good)
            self._roll_back(plan, good)
            self._undo(plan, wreck)
            self._redo(plan, good)
        self.failpoints.reach("demo.closed")
        check = _verified("in the end", before, self._look(repository, MAIN), UNTOUCHED)
        self._done(
            StepName.CHECKOUT,
            f"On branch {MAIN}, nothing to commit: not a byte was touched",
            check=check,
        )
        return plan.sandbox

    def _create(self, repo: Repo) -> PlanHandle:
        plan = repo.create(PLAN)
        self._done(
            StepName.CREATE,
            f"A git worktree on branch {plan.branch}, "
            f"and checkpoint {plan.checkpoints.get('latest').seq} of it",
        )
        return plan

    def _save(self, plan: PlanHandle) -> Picture:
        do_good_work(demo_git(self.place, plan.sandbox))
        saved = plan.checkpoints.create(CheckpointRequest(label=LABEL, reason=REASON))
        self._done(
            StepName.SAVE,
            f"Checkpoint {saved.seq} holds the files, what is staged, HEAD and the branch",
            f"{SECRETS} is ignored by git: it is kept apart from all others, and comes back, too",
        )
        return self._look_at(plan)

    def _wreck(self, plan: PlanHandle, good: Picture) -> Picture:
        script = self.place / SCRIPT
        write_script(script, plan.sandbox, _branch(plan))
        run_script(script, demo_environment(self.place))
        wreck = self._look_at(plan)
        refuse_invisible(good, wreck)
        changes = plan.checkpoints.diff(LABEL).files
        counts = Counter(change.action for change in changes)
        self._done(
            StepName.WRECK,
            ", ".join(f"{number} {action.replace('_', ' ')}" for action, number in counts.items()),
            f"HEAD is detached at a commit that holds {SECRETS}; {_branch(plan)} is deleted",
            files=tuple(DemoFile(change.file, change.action) for change in changes),
        )
        return wreck

    def _roll_back(self, plan: PlanHandle, good: Picture) -> None:
        result = plan.checkpoints.rollback(LABEL)
        self.failpoints.reach("demo.rolled_back")
        damage = damages(_branch(plan))
        self._taken_back(StepName.ROLLBACK, plan, result, good, SAVED, damage)

    def _undo(self, plan: PlanHandle, wreck: Picture) -> None:
        result = plan.checkpoints.undo()
        self.failpoints.reach("demo.undone")
        self._taken_back(StepName.UNDO, plan, result, wreck, WRECKED)

    def _redo(self, plan: PlanHandle, good: Picture) -> None:
        result = plan.checkpoints.redo()
        self.failpoints.reach("demo.redone")
        self._taken_back(StepName.REDO, plan, result, good, SAVED)

    def _taken_back(
        self,
        name: StepName,
        plan: PlanHandle,
        result: RollbackResult,
        expected: Picture,
        called: str,
        damage: tuple[Damage, ...] = (),
    ) -> None:
        """A rollback, undo or redo that is done: believe the witness, not the result."""
        check = _verified(f"after the {name}", expected, self._look_at(plan), called)
        counts = Counter(change.action for change in result.changes)
        safety = result.safety_checkpoint.seq if result.safety_checkpoint else "none"
        self._done(
            name,
            f"Checkpoint {safety} keeps what was there; "
            + ", ".join(f"{number} {action}" for action, number in counts.items()),
            *(f"{path.file} was left alone: {path.reason}" for path in result.left_alone),
            files=tuple(DemoFile(change.file, change.action) for change in result.changes),
            damage=damage,
            check=check,
        )

    def _look_at(self, plan: PlanHandle) -> Picture:
        return self._look(plan.sandbox, _branch(plan))

    def _look(self, checkout: Path, branch: str) -> Picture:
        return look(demo_git(self.place, checkout), branch)

    def _done(
        self,
        name: StepName,
        *outcome: str,
        files: tuple[DemoFile, ...] = (),
        damage: tuple[Damage, ...] = (),
        check: Check | None = None,
    ) -> None:
        title, command = SCRIPT_OF_THE_PLAY[name]
        now = time.monotonic()
        duration, self._clock = round((now - self._clock) * 1000), now
        step = DemoStep(name, title, command, outcome, duration, files, damage, check)
        self.steps.append(step)
        self.tell(step)


def _branch(plan: PlanHandle) -> str:
    return plan.branch or MAIN


def _verified(when: str, expected: Picture, found: Picture, called: str) -> Check:
    complaints = expected.complaints(found)
    if complaints:
        raise VerificationFailedError(
            f"{when} the demonstration did not find {called}; "
            f"{len(complaints)} {'thing differs' if len(complaints) == 1 else 'things differ'}",
            hint="please report this; plan demo --keep leaves everything in place to look at",
            details={"differences": complaints},
        )
    return found.check(called)
